# The same bad places by a ddrescue map, by read errors and by damage in an E01 give the same files and reports.
. "$SRCDIR/tests/cli/helpers"
{ cc -O1 -o failing_file "$SRCDIR/tests/cli/failing_file.c" $(pkg-config --cflags --libs fuse3); } >/dev/null 2>&1 ||
	{ echo "there is no libfuse3 to build with"; exit 77; }
command -v ewfacquirestream >/dev/null || { echo "there is no ewfacquirestream"; exit 77; }
mkdir mnt
trap 'fusermount3 -uz mnt 2>/dev/null' EXIT
conf=$SRCDIR/conf/burin.conf
compare() # OUT OUT
{
	diff <(grep '"record":"file"' "$1/report.jsonl") <(grep '"record":"file"' "$2/report.jsonl") && echo same
	grep -c "unreadable at image offset" "$1/report.jsonl"
}
ranges=$("$SRCDIR/tests/cli/unreadable_image")
try carve --quiet -c "$conf" --map image.map -o map image 2>/dev/null
./failing_file mnt image 0 $ranges >fuse.log 2>&1 &
fuse=$!
until [[ -e mnt/disk ]]; do
	kill -0 $fuse 2>/dev/null || { echo "FUSE is not to be had here: $(head -1 fuse.log)"; exit 77; }
	sleep 0.01
done
try carve --quiet -c "$conf" -o errors mnt/disk 2>/dev/null
"$BURIN" why -c "$conf" -t tar mnt/disk 155648
fusermount3 -u mnt || umount mnt
wait $fuse
compare map errors
echo --- a chunk of an E01
"$SRCDIR/tests/cli/unreadable_image" 163840:32768 >/dev/null
try carve --quiet -c "$conf" --map image.map -o chunk image 2>/dev/null
ewfacquirestream -q -b 64 -t disk <image >/dev/null 2>&1
python3 - <<'PY'
image, disk = open("image", "rb").read(), bytearray(open("disk.E01", "rb").read())
place = disk.find(image[170000:170100])
disk[place] ^= 1
open("disk.E01", "wb").write(disk)
PY
try carve --quiet -c "$conf" --verify=none -o e01 disk.E01 2>/dev/null
compare chunk e01
