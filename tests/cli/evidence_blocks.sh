# E01, QCOW2, VDI, VMDK, VHD, VHDX, AFF, and raw images in segments or compressed in parts, give what the raw image gives, byte for byte. Damaged ones, and those that lack
# the image that they have the changes to, get an error, or what is left of them is carved.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz qemu-img qemu-io bgzip zstd affconvert ewfacquire
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" | head -c 3000K >raw
lines() { grep '"record":"file"' "$1/report.jsonl"; }
digest() { grep -o '"evidence":{[^}]*' "$1/report.jsonl" | grep -o '"sha256":"[^"]*'; }
carve() { "$BURIN" carve --quiet -t png --verify=sha256 -o "$1" "$2" || echo "exit $?"; }
same() # FILE RAW
{
	carve "of $1" "$1"
	[[ -e "of $2" ]] || carve "of $2" "$2"
	cmp <(lines "of $1") <(lines "of $2") && [[ $(digest "of $1") == $(digest "of $2") ]] && [[ -n $(lines "of $1") ]] &&
		echo "$1: $(lines "of $1" | wc -l) files, as in $2, $(grep -o '"format":"[^"]*' "of $1/report.jsonl" | head -1)"
}
convert() { qemu-img convert -O "$1" "${@:3}" raw "$2"; }
convert qcow2 plain.qcow2
convert qcow2 old.qcow2 -o compat=0.10
convert qcow2 packed.qcow2 -c
convert qcow2 zstd.qcow2 -c -o compression_type=zstd
convert qcow2 parts.qcow2 -o extended_l2=on,cluster_size=32K
convert qcow2 small.qcow2 -o cluster_size=512
convert qcow2 large.qcow2 -c -o cluster_size=2M
convert vdi dynamic.vdi
convert vdi fixed.vdi -o static=on
convert vmdk sparse.vmdk
convert vmdk packed.vmdk -o subformat=streamOptimized
convert vmdk parts.vmdk -o subformat=twoGbMaxExtentSparse
convert vpc dynamic.vhd -o force_size=on
convert vhdx disk.vhdx
cp raw disk.raw
affconvert -q -o disk.aff disk.raw
bgzip -c raw >disk.raw.gz
ewfacquire -q -u -t packed -f encase6 -c deflate:best disk.raw >acquired 2>&1
ewfacquire -q -u -t three -f ftk -c deflate:none -S 1048576 disk.raw >acquired 2>&1
split -d -a 3 --numeric-suffixes=1 -b 1000000 raw split.
python3 - <<'PY'
import struct, subprocess
data, out, table, count = open("raw", "rb").read(), b"", b"", 0
for at in range(0, len(data), 100000):
    frame = subprocess.run(["zstd", "-q", "-c"], input=data[at:at + 100000], stdout=subprocess.PIPE, check=True).stdout
    out, table, count = out + frame, table + struct.pack("<II", len(frame), len(data[at:at + 100000])), count + 1
open("disk.dd.zst", "wb").write(out + struct.pack("<II", 0x184d2a5e, len(table) + 9) + table + struct.pack("<IBI", count, 0, 0x8f92eab1))
PY
for image in packed.E01 three.E01 split.001 *.qcow2 *.vdi sparse.vmdk packed.vmdk parts.vmdk dynamic.vhd disk.vhdx disk.aff disk.raw.gz disk.dd.zst; do same $image raw; done
echo --- changes to another image
head -c 2M raw >base.raw
qemu-img create -q -f qcow2 -b base.raw -F raw first.qcow2 2500K
qemu-img create -q -f qcow2 -b "$PWD/first.qcow2" -F qcow2 -o extended_l2=on second.qcow2 2600K
qemu-io -f qcow2 -c 'write -z 64K 128K' -c 'write -P 7 200000 1000' -c 'write -P 9 2400K 70000' -c 'discard 2400K 64K' second.qcow2 >/dev/null
qemu-img convert -O raw second.qcow2 second.raw
same second.qcow2 second.raw
grep -o '"paths":[^]]*]' "of second.qcow2/report.jsonl"
mkdir away
mv base.raw away
try carve --quiet -o out second.qcow2
qemu-img rebase -u -f qcow2 -b ../away/base.raw -F raw first.qcow2
try carve --quiet -o out first.qcow2
qemu-img rebase -u -f qcow2 -b first.qcow2 -F qcow2 first.qcow2
try carve --quiet -o out first.qcow2
python3 - <<'PY'
import os, struct
data = bytearray(open("dynamic.vdi", "rb").read())
table_at, data_at = struct.unpack_from("<II", data, 340)
size, = struct.unpack_from("<Q", data, 368)
content = bytearray(open("raw", "rb").read().ljust(size, b"\0"))
changed = bytes(reversed(content[:1 << 20]))
child = data[:data_at]
struct.pack_into("<I", child, 76, 4)
child[392:408], child[424:440] = b"c" * 16, child[392:408]
child[table_at:table_at + 12] = struct.pack("<III", 0xffffffff, 0, 0xfffffffe)
os.mkdir("Snapshots")
open("Snapshots/child.vdi", "wb").write(child + changed)
content[1 << 20:2 << 20], content[2 << 20:3 << 20] = changed, bytes(1 << 20)
open("child.raw", "wb").write(content[:size])
lost = bytearray(child + changed)
lost[424:440] = b"l" * 16
open("lost.vdi", "wb").write(lost)
lost[424:440] = lost[392:408] = b"o" * 16
open("loop.vdi", "wb").write(lost)
PY
cp Snapshots/child.vdi Snapshots.child.vdi
same Snapshots.child.vdi child.raw
carve inner Snapshots/child.vdi
grep -o '"paths":[^]]*]' inner/report.jsonl
try carve --quiet -o out lost.vdi
try carve --quiet -o out loop.vdi
echo --- damaged
head -c 900000 plain.qcow2 >cut.qcow2
head -c 200000 packed.qcow2 >cut.packed.qcow2
head -c 40 plain.qcow2 >head.qcow2
head -c 1500000 dynamic.vdi >cut.vdi
head -c 70 dynamic.vdi >head.vdi
head -c 20000 disk.raw.gz >cut.raw.gz
head -c 20000 disk.dd.zst >cut.dd.zst
for image in cut* head*; do
	echo "$image"
	try carve --quiet -t png -o "of $image" "$image"
done
set_bytes() { cp "$1" "$2"; printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none; }
set_bytes plain.qcow2 bits.qcow2 23 '\077'
set_bytes plain.qcow2 size.qcow2 24 '\377'
set_bytes plain.qcow2 table.qcow2 40 '\177'
set_bytes plain.qcow2 secret.qcow2 35 '\1'
set_bytes plain.qcow2 feature.qcow2 78 '\1'
set_bytes plain.qcow2 new.qcow2 7 '\11'
set_bytes dynamic.vdi size.vdi 375 '\177'
set_bytes dynamic.vdi block.vdi 376 '\1'
for image in bits size table secret feature new; do try carve --quiet -o out $image.qcow2; done
for image in size block; do try carve --quiet -o out $image.vdi; done
expect_nothing_at out
