# Files that are not evidence, or not in a format that burin reads: exit code 3, and no output folder is created.
. "$SRCDIR/tests/cli/helpers"
make_rules
carve() { try carve -c rec.conf -o out "$@"; }
mkdir folder
: >empty
mkfifo pipe
printf 'AFF1%600s' >aff
printf 'KDMV%600s' >vmdk
printf '# Disk DescriptorFile\nversion=1\n' >descriptor.vmdk
printf 'conectix%600s' >vhd
printf 'vhdxfile%600s' >vhdx
printf 'QFI\xfb%600s' >qcow2
for image in missing folder folder/ empty empty/ pipe /dev/null aff vmdk descriptor.vmdk vhd vhdx qcow2 ""; do
	carve "$image"
done
# the same with links in between
ln -s missing dangling
ln -s pipe link
carve dangling
carve link
expect_nothing_at out
