# The output folder may not be on the device that is the evidence, nor on a device built on it.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 1000
need_root command -v losetup mkfs.ext4
truncate -s 8M disk
mkfs.ext4 -q disk 2>/dev/null
loop=$(losetup --find --show disk 2>/dev/null) || { echo "no loop device"; exit 77; }
trap 'umount -l mount 2>/dev/null; losetup -d "$loop"' EXIT
mkdir mount
mount "$loop" mount || { echo "can't mount a loop device"; exit 77; }
cp image mount/
sync
carve() { try carve -c rec.conf "$@" 2>&1 | sed "s,$loop,LOOP,"; }
carve -o mount/out "$loop"
carve -o mount/lost+found "$loop"
mkdir mount/deep
ln -s mount/deep link
carve -o link/er "$loop"
ls mount
# the loop device's file is the evidence as well
carve -o mount/out disk
# Elsewhere, the device itself is carved, and not written to. A mounted ext4 would write when it likes, also where another
# program's mount namespace has it still mounted after this: not once it is read-only.
mount -o remount,ro mount
umount mount
sha256sum <"$loop" >before
carve --quiet --no-content-map -o out "$loop"
sha256sum <"$loop" | cmp - before
check_reports out disk
head -1 out/report.jsonl | grep -o '"format":"[a-z]*"' | head -1
