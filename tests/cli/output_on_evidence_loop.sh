# Without sysfs, as in a container, a loop device is asked for its file itself.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 1000
need_root command -v losetup mkfs.ext4 unshare
need_root unshare --mount umount -l /sys
truncate -s 8M disk
mkfs.ext4 -q disk 2>/dev/null
loop=$(losetup --find --show disk 2>/dev/null) || { echo "no loop device"; exit 77; }
trap 'umount -l mount 2>/dev/null; losetup -d "$loop"' EXIT
mkdir mount
mount "$loop" mount || { echo "can't mount a loop device"; exit 77; }
export -f try
unshare --mount bash -c 'umount -l /sys; try carve -c rec.conf -o mount/out disk; try carve --quiet -c rec.conf -o mount/out image' 2>&1
check_reports mount/out image
