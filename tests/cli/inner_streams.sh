# Compressed and sparse files of file systems, and shadow copies of NTFS: images of their own, whose files have their names.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz mke2fs debugfs
owners()
{
	python3 - "$1" <<'PY'
import json, sys
for line in open(sys.argv[1] + "/report.jsonl"):
    r = json.loads(line)
    if r["record"] == "file":
        print(r["offset"], r["length"], r["status"], r.get("allocated"), r.get("fs_path"), r.get("fs", {}).get("offset"))
PY
}
hash_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["sha256"])' "$@"; }
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" >ntfs
try carve --quiet -t png --open -o out ntfs
ls out
owners out/ntfs-streams@0
[[ $(sha256sum <out/ntfs-streams@0/png/0000000000.png) == "$(hash_of "$SRCDIR/tests/volumes/ntfs.json" packed/packed.png)"* ]] && echo as it was
check_reports out/ntfs-streams@0
try carve --quiet -t png --rename path --engine reference --chunk-size 4K -o path ntfs::streams@0
ls path/png
try extract --quiet -o again out/ntfs-streams@0/report.jsonl
diff -r again/png out/ntfs-streams@0/png
echo --- holes
python3 - <<'PY'
import struct
head = b"BM" + struct.pack("<IHHI", 54 + 256 * 256 * 3, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 256, 256, 1, 24, 0, 256 * 256 * 3, 2835, 2835, 0, 0)
with open("holes.bmp", "wb") as file:
    file.write(head + b"x" * 3000)
    file.seek(100000)
    file.write(b"abc" * 3000)
    file.truncate(54 + 256 * 256 * 3)
with open("long", "wb") as file:
    file.write(b"x" * 1024)
    file.truncate(1 << 30)
PY
cp "$(ls out/ntfs/png/*.png | head -1)" whole.png
mke2fs -q -t ext4 -b 1024 -O ^metadata_csum,^has_journal ext4 4M >/dev/null
for file in whole.png long holes.bmp; do debugfs -w -R "write $file $file" ext4 >/dev/null 2>&1; done
{ head -c 1M /dev/zero; cat ext4; } >disk
echo 2048,,83 | sfdisk -q disk 2>/dev/null
try carve --quiet -t png,bmp --open -o holes disk
owners holes/disk-streams@1048576
cmp holes.bmp holes/disk-streams@1048576/bmp/* && echo as it was
grep -o '"note":"[^"]*"' holes/disk-streams@1048576/report.jsonl
try carve --quiet -t png -o never disk::streams@0
mke2fs -q -t ext4 -O ^has_journal plain 1M >/dev/null
try carve --quiet -t png --open -o plain.out plain
echo --- shadow copies
python3 - <<'PY'
data = open("ntfs", "rb").read()
two, five, twenty, end_of_whole = 0x12b000, 0x130000, 0x13a000, 0x1ac000
for name, gone in (("middle", [two]), ("new", [two, twenty, end_of_whole])):
    changed = bytearray(data)
    for place in gone:
        changed[place:place + 4096] = bytes(4096)
    open(name, "wb").write(changed)
PY
"$SRCDIR/tests/volumes/make_shadow" shadowed new middle ntfs
need_library shadowed::shadow@1048576/1
# The oldest is `middle`; in the one after it two.png is back. Only blocks of 16 KiB that differ from the volume
# are searched, and the rest of whole.png, which ends in one.
lines() { grep '"record":"file"' "$1/report.jsonl"; }
names() { lines "$1" | grep -o '"fs_path":"[^"]*"'; }
try carve --quiet -t png --shadow all -o copies shadowed
ls copies
names copies/shadowed-shadow@1048576-1
names copies/shadowed-shadow@1048576-2
"$BURIN" carve --quiet -t png -o whole ntfs
hashes() { lines "$1" | grep -o '"sha256":"[^"]*"' | sort; }
comm -13 <(hashes whole) <(hashes copies/shadowed-shadow@1048576-2)
check_reports copies/shadowed-shadow@1048576-2
try carve --quiet -t png --shadow 2 --engine reference --chunk-size 4K -o again shadowed
cmp <(lines copies/shadowed-shadow@1048576-2) <(lines again/shadowed-shadow@1048576-2)
try carve --quiet -t png --unallocated -o free shadowed::shadow@1048576/2
names free
try carve --quiet -t png --allocated -o used shadowed::shadow@1048576/2
names used
try carve --quiet -t png --file-systems off --offset 0x13a000 --length 64K -o bare shadowed::shadow@1048576/2
lines bare | grep -o '"offset":[0-9]*'
"$SRCDIR/tests/volumes/make_shadow" same ntfs ntfs
try carve --quiet -t png -o none same::shadow@1048576/1
grep -o '"opened":"[^"]*"' copies/*/report.jsonl
try carve --quiet -t png --shadow 2 -o second shadowed
ls second
try carve --quiet -t png --shadow 3 -o third shadowed
try carve --quiet -t png -o never shadowed::shadow@1048576/3
head -c 7100K shadowed >cut
try carve --quiet -t png -o cut.out cut::shadow@1048576/1
