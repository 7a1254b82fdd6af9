# Split raw images: whole, with a gap, by a later part, with a part that can't be one.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
split -d -a 3 --numeric-suffixes=1 -b 5000 image disk.
try carve -c rec.conf -o out disk.001
check_reports out image
try carve -c rec.conf -o out2 disk.002
mv disk.003 away
try carve -c rec.conf -o out2 disk.001
: >disk.003
try carve -c rec.conf -o out2 disk.001
rm disk.003
mkfifo disk.003
try carve -c rec.conf -o out2 disk.001
rm disk.003
mkdir disk.003
try carve -c rec.conf -o out2 disk.001
expect_nothing_at out2
