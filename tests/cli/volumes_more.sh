# UFS, ISO 9660 and HFS+, as tools write them: files have their names, and one in fragments is whole. NTFS with an
# encrypted file.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools makefs xorriso
make_tree
makefs -t ffs -s 4m -o version=1 ufs tree >/dev/null 2>&1
# makefs puts UFS 2's superblock where UFS 1 has it; blocks of this size have a copy where it belongs.
makefs -t ffs -s 8m -o version=2,bsize=65536,fsize=8192 ufs2 tree >/dev/null 2>&1
makefs -t cd9660 cd tree
xorriso -as mkisofs -quiet -R -hfsplus -o hfs tree 2>/dev/null
for kind in ufs ufs2 cd hfs; do
	try carve --quiet -t png -o $kind.out $kind
	python3 - $kind.out <<'PY'
import json, sys
rows = []
for line in open(sys.argv[1] + "/report.jsonl"):
    r = json.loads(line)
    if r["record"] == "run":
        print([volume["file_system"] for volume in r["volumes"] if volume["mapped"]])
    if r["record"] == "file": # in an order that makefs takes from the folder of another file system
        rows.append((r["fs_path"], r["length"], r["status"], r["allocated"], r["fs"]["offset"], len(r["runs"])))
for row in sorted(rows):
    print(*row)
PY
	cmp <(sha256sum $kind.out/png/* | cut -c1-64 | sort) <(sha256sum tree/*.png tree/sub/* | cut -c1-64 | sort) && echo as they were
	check_reports $kind.out $kind
done

echo --- encrypted by NTFS
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" >ntfs
python3 - <<'PY'
import re
data = bytearray(open("ntfs", "rb").read())
def utf16(name): return name.encode("utf-16-le")
# In the record of five.png: the attribute with its content, and the flags of its data.
for at in [match.start() for match in re.finditer(b"FILE", bytes(data))]:
    if at % 1024 or utf16("five.png") not in data[at:at + 1024]:
        continue
    part = at + int.from_bytes(data[at + 20:at + 22], "little")
    while data[part:part + 4] != b"\xff\xff\xff\xff":
        if data[part] == 0x80:
            data[part + 13] |= 0x40
        part += int.from_bytes(data[part + 4:part + 8], "little")
open("efs", "wb").write(data)
PY
try carve --quiet -t png -o efs.out efs
python3 - <<'PY'
import json
for line in open("efs.out/report.jsonl"):
    r = json.loads(line)
    if r["record"] == "run":
        print([volume["note"] for volume in r["volumes"]])
    if r.get("fs_path") in ("five.png", "twenty.png"):
        print(r["fs_path"], r["length"], r["status"], r["reason"], r["fs"]["flags"])
PY
check_reports efs.out efs
