# AFF, VMDK and VHD that are damaged, or differencing images: a message and exit code 3, or the readable part is carved.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools affconvert
make_rules
make_records disk.raw 20 9000
truncate -s 256K disk.raw
affconvert -q -o good.aff disk.raw
head -c 300 good.aff >cut.aff
make_flat_vmdk disk.raw lost.vmdk
sed -i s/disk.raw/gone.raw/ lost.vmdk
make_flat_vmdk disk.raw child.vmdk
sed -i 's/parentCID=ffffffff/parentCID=fffffffe/' child.vmdk
make_fixed_vhd disk.raw child.vhd 4
make_fixed_vhd disk.raw broken.vhd
printf XXXX | dd status=none conv=notrunc bs=1 seek=$((262144 + 60)) of=broken.vhd
for image in cut.aff lost.vmdk child.vmdk child.vhd broken.vhd; do
	try carve --quiet -c rec.conf -o out $image
done 2>&1 | sed 's/\(says: \).*/\1.../'
expect_nothing_at out
echo --- damage in the middle
python3 - good.aff <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"page0") + 40
data[at:at + 200] = bytes(200)
open("bad.aff", "wb").write(data)
PY
"$BURIN" carve --quiet -c rec.conf -o bad bad.aff 2>/dev/null
code=$?
((code == 1 || code == 3)) || echo "exit $code"
echo --- all files of a set are in the report
make_flat_vmdk disk.raw disk.vmdk
try carve --quiet -c rec.conf -o fine disk.vmdk
python3 -c 'import json; print(json.loads(open("fine/report.jsonl").readline())["image"]["paths"])'
