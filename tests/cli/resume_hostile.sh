# A checkpoint that somebody has changed, its checksum made right: nothing that it says is done before it is found to
# belong to the run.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records large 1 200000
make_records image 30 1000
cat large >>image
(ulimit -f 100 && "$BURIN" carve --quiet -c rec.conf --hash md5 -o out image 2>/dev/null) # ends before the large file
[[ -e out/.burin-checkpoint ]] || echo "the run was not cut off"
echo d41d8cd98f00b204e9800998ecf8427e >list
cat >change.py <<'PY'
import sys
import zlib
def number(bytes, at):
    value = shift = 0
    while True:
        value |= (bytes[at] & 127) << shift
        shift += 7
        at += 1
        if bytes[at - 1] < 128:
            return value, at
def text(bytes, at):
    length, at = number(bytes, at)
    return bytes[at:at + length], at + length
def put(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
path, *words = sys.argv[1:]
old = open(path, "rb").read()
magic = b"burin state\n"
at = len(magic)
_, at = number(old, at)  # format
_, at = number(old, at)  # batch
_, at = text(old, at)    # directory
_, at = text(old, at)    # image
count_at = at
count, at = number(old, at)
first = at
for _ in range(count - 1):
    _, at = text(old, at)
more = b"".join(put(len(word)) + word.encode() for word in words)
new = old[:count_at] + put(count + len(words)) + old[first:at] + more + old[at:-4]
open(path, "wb").write(new + zlib.crc32(new).to_bytes(4, "little"))
PY
cp out/.burin-checkpoint saved
echo "--- a list of hashes that the run had not"
python3 change.py out/.burin-checkpoint --known ./list
try carve --resume out 2>&1 | sed "s|$PWD|HERE|g"
ls list*
echo "--- the bytes after the traits"
python3 - <<'PY'
import zlib
old = open("saved", "rb").read()
for number in range(2, 40):
    new = old[:-4 - number] + b"\xff" * (number // 2) + old[-4 - number + number // 2:-4]
    open(f"changed{number}", "wb").write(new + zlib.crc32(new).to_bytes(4, "little"))
PY
cp -a out before
for number in {2..39}; do
	cp "changed$number" out/.burin-checkpoint
	"$BURIN" carve --quiet --resume out 2>messages
	code=$?
	if ((code == 3)); then
		grep -q 'is damaged; carve again' messages || cat messages
		# nothing was removed or written, and the reports are as they were
		diff -r --exclude .burin-checkpoint before out || break
		cmp "changed$number" out/.burin-checkpoint || break
	else
		echo "change $number: exit $code"
	fi
done
echo "--- the reports of a run that was killed after it had replaced them"
for report in report.jsonl report.xml audit.txt; do
	cp "out/$report" "out/.burin-$report.old"
	echo newer >"out/$report"
done
cp changed20 out/.burin-checkpoint
rm -r before
cp -a out before
"$BURIN" carve --quiet --resume out 2>/dev/null
diff -r before out
echo "--- the right checkpoint"
cp saved out/.burin-checkpoint
try carve --quiet --resume out
ls -A out
"$BURIN" carve --quiet -c rec.conf --hash md5 -o whole image
diff -r out/rec whole/rec
diff <(sed '1d;$d' out/report.jsonl) <(sed '1d;$d' whole/report.jsonl)
