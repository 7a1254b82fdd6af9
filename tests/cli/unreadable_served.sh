# A file that another program serves: places that it can't read are the same whatever way burin reads, and nothing else is in them.
. "$SRCDIR/tests/cli/helpers"
{ cc -O1 -o failing_file "$SRCDIR/tests/cli/failing_file.c" $(pkg-config --cflags --libs fuse3); } >/dev/null 2>&1 ||
	{ echo "there is no libfuse3 to build with"; exit 77; }
mkdir mnt
trap 'fusermount3 -uz mnt 2>/dev/null' EXIT
python3 - <<'PY'
import random
open("image", "wb").write(random.Random(1).randbytes(24 << 20))
PY
DIRECT=1 ./failing_file mnt image 0 1500000:512 11000000:70000 19999999:1 >fuse.log 2>&1 &
fuse=$!
until [[ -e mnt/disk ]]; do
	kill -0 $fuse 2>/dev/null || { echo "FUSE is not to be had here: $(head -1 fuse.log)"; exit 77; }
	sleep 0.01
done
for io in auto uring threads direct buffered; do
	echo "--- $io"
	try carve --quiet --io $io --dry-run -c "$SRCDIR/conf/burin.conf" -o $io mnt/disk 2>/dev/null
	python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readlines()[-1])["unreadable"])' $io/report.jsonl
done
fusermount3 -u mnt || umount mnt
wait $fuse
