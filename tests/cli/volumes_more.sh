# UFS, ISO 9660 and HFS+, as tools write them: files have their names, and one in fragments is whole.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools makefs xorriso
mkdir -p tree/sub
python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(seed, height):
    rows = b"".join(b"\0" + bytes((seed * 37 + y * 5 + y // 20 + x) & 255 for x in range(200)) for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 200, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
for name, seed, height in (("a.png", 1, 99), ("c.png", 3, 1), ("sub/b.png", 2, 1500)):
    open("tree/" + name, "wb").write(png(seed, height))
PY
makefs -t ffs -s 4m -o version=1 ufs tree >/dev/null 2>&1
makefs -t cd9660 cd tree
xorriso -as mkisofs -quiet -R -hfsplus -o hfs tree 2>/dev/null
for kind in ufs cd hfs; do
	try carve --quiet -t png -o $kind.out $kind
	python3 - $kind.out <<'PY'
import json, sys
for line in open(sys.argv[1] + "/report.jsonl"):
    r = json.loads(line)
    if r["record"] == "run":
        print([volume["file_system"] for volume in r["volumes"] if volume["mapped"]])
    if r["record"] == "file":
        print(r["fs_path"], r["length"], r["status"], r["allocated"], r["fs"]["offset"], len(r["runs"]))
PY
	cmp <(sha256sum $kind.out/png/* | cut -c1-64 | sort) <(sha256sum tree/*.png tree/sub/* | cut -c1-64 | sort) && echo as they were
	check_reports $kind.out $kind
done
