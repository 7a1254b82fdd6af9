# Real read errors, from a FUSE file that fails: at the start, in the middle, at the end, across slots, and slowly.
. "$SRCDIR/tests/cli/helpers"
{ cc -O1 -o failing_file "$SRCDIR/tests/cli/failing_file.c" $(pkg-config --cflags --libs fuse3); } >/dev/null 2>&1 ||
	{ echo "there is no libfuse3 to build with"; exit 77; }
mkdir mnt
make_rules
make_records image 300 4000 96 # 1,228,800 bytes, a record at every 4,096
mount_failing() # DELAY_MS RANGE...
{
	./failing_file mnt image "$@" >fuse.log 2>&1 &
	fuse=$!
	while kill -0 $fuse 2>/dev/null; do
		[[ -e mnt/disk ]] && return
		sleep 0.01
	done
	echo "FUSE is not to be had here: $(head -1 fuse.log)"
	exit 77
}
unmount_failing()
{
	fusermount3 -u mnt || umount mnt
	wait $fuse
}
trap 'fusermount3 -uz mnt 2>/dev/null' EXIT
# The unreadable ranges in the report, and how many bytes of files they are; each file's bytes are the image's or zeros.
judge() # OUT
{
	python3 - "$1" <<'PY'
import json, sys
image = open("image", "rb").read()
records = [json.loads(line) for line in open(sys.argv[1] + "/report.jsonl")]
summary = records[-1]
print("unreadable", summary["unreadable"], summary["damage"][0]["why"])
expected = bytearray(image)
for offset, length in summary["unreadable"]:
    expected[offset:offset + length] = bytes(length)
lost = 0
for file in records[1:-1]:
    data = open(f'{sys.argv[1]}/{file["path"]}', "rb").read()
    if data != expected[file["offset"]:file["offset"] + file["length"]]:
        print("wrong bytes in", file["path"])
    if file["unreadable"] != sum(max(0, min(o + n, file["offset"] + file["length"]) - max(o, file["offset"]))
                                 for o, n in summary["unreadable"]):
        print("wrong count in", file["path"], file["unreadable"])
    lost += file["unreadable"]
print(len(records) - 2, "files,", lost, "bytes of them lost")
PY
}
for way in "--io auto" "--io uring" "--io threads" "--io direct" "--threads 1"; do
	mount_failing 0 0:1 524000:1000 700000:40000 1228799:1
	echo "--- $way"
	out=out${way// /}
	try carve --quiet -c rec.conf --chunk-size 256K $way -o "$out" mnt/disk
	judge "$out"
	unmount_failing
done
echo --- slowly
mount_failing 20 600000:4096
try carve --quiet -c rec.conf -o slow mnt/disk
judge slow
unmount_failing
echo --- all of it
mount_failing 0 0:1228800
try carve --quiet -c rec.conf -o all mnt/disk
unmount_failing
