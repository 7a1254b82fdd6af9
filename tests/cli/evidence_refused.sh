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
# formats that are known by name, and images that were compressed as a whole
printf 'ADSEGMENTEDFILE\0%600s' >case.ad1
python3 - <<'PY'
import zipfile
def pack(path, name):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, "x" * 600)
pack("disk.aff4", "container.description")
pack("packed.zip", "Evidence/disk.dd")
pack("other.zip", "letter.txt")
PY
printf 'REC[%600s]CER' | tee disk.raw | gzip >disk.raw.gz
bzip2 <disk.raw >disk.dd.bz2
xz <disk.raw >DISK.IMG.xz
for image in case.ad1 disk.aff4 packed.zip disk.raw.gz disk.dd.bz2 DISK.IMG.xz; do
	carve "$image"
done
# the same with links in between
ln -s missing dangling
ln -s pipe link
carve dangling
carve link
expect_nothing_at out
echo --- carved all the same
cp disk.raw.gz letter.gz
for image in other.zip letter.gz; do
	try carve --quiet -c rec.conf -o "of $image" $image
done
for magic in EMiL hibr PAGEDU64; do
	printf "$magic%600sREC[%600s]CER" >$magic
	try carve --quiet -c rec.conf -o "of $magic" $magic
	grep -c '"record":"file"' "of $magic/report.jsonl"
	grep -o '"problems":\[[^]]*\]' "of $magic/report.jsonl"
done
