# A read-only file system: exit code 3, for a new folder and for an existing one.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 100
mkdir mount
need_root mount -t tmpfs -o size=1m none mount
trap 'umount -l mount' EXIT
mkdir mount/there
mount -o remount,ro mount
try carve -c rec.conf -o mount/new image
try carve -c rec.conf -o mount/there image
