# Options out of range, and ranges past the end: exit code 2, and no output folder is created.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
carve() { try carve -c rec.conf -o out "$@" image; }
carve --offset 22000
carve --offset 99G
carve --offset -1
carve --offset 99999999999999999999
carve --length x
carve --threads 1025
carve --threads -1
carve --threads 1.5
carve --chunk-size 2G
carve --chunk-size ""
carve --max-files 5M
carve --io wibble
carve --hash crc32
carve --hash sha256,none
carve --rules-format wibble
carve --compat photorec
carve --io direct,threads
carve --no-such-option
carve -t wibble
carve -t rec,-rec
expect_nothing_at out
# at the edges
edge() { rm -rf out; try carve --quiet -c rec.conf -o out "$@" image; check_reports out image; }
edge --offset 21999
edge --offset 20900
edge --offset 0 --length 1
edge --length 1100
edge --length 99G
edge --chunk-size 1
edge --chunk-size 1 --threads 7
edge --threads 1024
