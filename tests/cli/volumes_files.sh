# What file systems know about files (tests/volumes): whose bytes a carved file has, in a file, its slack or its record, free or not.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz
for kind in ntfs fat16 exfat ext2 ext4; do
	xz -dc "$SRCDIR/tests/volumes/$kind.img.xz" >$kind
	try carve --quiet -t png -o $kind.all $kind
	show_owners $kind.all
	check_reports $kind.all $kind
	echo --- $kind, unallocated
	try carve --quiet -t png --unallocated -o $kind.free $kind
	show_owners $kind.free
	check_reports $kind.free $kind
done
echo --- without slack
try carve --quiet -t png --unallocated --no-slack -o no_slack ntfs
show_owners no_slack
echo --- a range
try carve --quiet -t png --unallocated --offset 1738004 --length 40K -o range ntfs
show_owners range
try carve --quiet -t png --unallocated --offset 1738005 --length 40K -o range2 ntfs
show_owners range2
echo --- any engine and chunk size, the same
for options in "--engine reference --chunk-size 4K" "--threads 1 --chunk-size 64K"; do
	"$BURIN" carve --quiet -t png -o same --unallocated $options ntfs
	diff <(grep '"record":"file"' same/report.jsonl) <(grep '"record":"file"' ntfs.free/report.jsonl)
	cmp same/map.bin ntfs.free/map.bin
	rm -r same
done
echo --- extracted from the report
"$BURIN" extract --quiet -o again ntfs.free/report.jsonl ntfs
diff <(grep '"record":"file"' again/report.jsonl) <(grep '"record":"file"' ntfs.free/report.jsonl)
echo --- byte for byte
for kind in ntfs fat16 exfat ext2 ext4; do
	python3 - "$kind.all" "$SRCDIR/tests/volumes/$kind.json" <<'PY'
import json, sys
found = {}
for line in open(sys.argv[1] + "/report.jsonl"):
    r = json.loads(line)
    if r["record"] == "file":
        found[r["hashes"]["sha256"]] = r["status"]
for name, file in json.load(open(sys.argv[2])).items():
    print(sys.argv[1], name, found.get(file["sha256"], "missing"), file.get("lost", ""))
PY
done
echo --- only files in pieces by file system
try carve --quiet -t png --fragments=off -o off ntfs
show_owners off | grep -c truncated
try verify ntfs.all
