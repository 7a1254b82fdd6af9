# BitLocker: a password opens a volume, which gives what its image gives; a wrong one and none are errors. Each try takes the
# million digests that BitLocker asks for, so what else there is to test is in inner_bitlocker_more.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" >raw
lines() { grep '"record":"file"' "$1/report.jsonl"; }
"$SRCDIR/tests/volumes/make_bitlocker" volume raw aes-xts-128 'pässwörd' 011000-022000-033000-044000-055000-066000-077000-088000
need_library volume::bitlocker@0
"$BURIN" carve --quiet -t png -o raw.out raw
echo pässwörd >password
try carve --quiet -t png --password-file password -o out volume::bitlocker@0
cmp <(lines out) <(lines raw.out) && lines raw.out | wc -l
grep -o '"opened":"[^"]*"' out/report.jsonl
echo --- errors
echo wrong >wrong
try carve --quiet -t png --password-file wrong -o refused volume::bitlocker@0
try carve --quiet -t png -o refused volume::bitlocker@0
expect_nothing_at refused
