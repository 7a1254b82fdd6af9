# FileVault 2: heads of CoreStorage that describe no volume are errors, with and without a password, and nothing is written. No volume is
# made here, so none is opened, and no wrong password is tried on a whole one.
. "$SRCDIR/tests/cli/helpers"
made() # NAME LENGTH: a head of CoreStorage, and nothing that it would describe
{
	truncate -s "$2" "$1"
	printf '\x01\x00\x10\x00' | dd of="$1" bs=1 seek=8 conv=notrunc status=none
	printf CS | dd of="$1" bs=1 seek=88 conv=notrunc status=none
}
made bare 3M
made short 512
made filled 3M
seq 600000 | head -c 2M | dd of=filled bs=512 seek=1 conv=notrunc status=none
made version 3M
printf '\x02' | dd of=version bs=1 seek=8 conv=notrunc status=none
echo wrong >password
need_library bare::filevault@0
for image in bare short filled version; do
	try carve --quiet -t png --password-file password -o out $image::filevault@0
done
try carve --quiet -t png --password-file password -o out bare::filevault@512
try carve --quiet -t png -o out bare::filevault@0
expect_nothing_at out
