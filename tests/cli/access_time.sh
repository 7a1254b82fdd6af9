# Reading evidence does not change its time of access, where burin may ask for that (as its owner).
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 30 1000
long_ago() # FILE...
{
	touch -a -d 2000-01-01T00:00:00Z "$@"
}
access_times() # FILE...
{
	stat -c '%n %X' "$@"
}
long_ago image
cat image >/dev/null
[[ $(access_times image) == "image 946684800" ]] && { echo "this file system does not record times of access"; exit 77; }
for way in auto uring threads direct buffered; do
	long_ago image
	"$BURIN" carve --quiet -c rec.conf --io $way --verify=sha256 -o "out-$way" image || echo "--io $way: exit $?"
	access_times image
done
echo "--- other commands"
long_ago image
"$BURIN" extract --quiet -o extracted out-auto/report.jsonl image || echo "extract: exit $?"
"$BURIN" why -c rec.conf image 0 >/dev/null || echo "why: exit $?"
"$BURIN" conf check rec.conf --image image >/dev/null || echo "conf check: exit $?"
access_times image
echo "--- in parts"
split -b 20000 -d -a 3 image part.
long_ago part.*
"$BURIN" carve --quiet -c rec.conf -o parts part.000 || echo "exit $?"
access_times part.*
echo "--- E01, with its file systems"
cp "$SRCDIR/images/sample.E01" .
long_ago sample.E01
"$BURIN" carve --quiet -c "$SRCDIR/conf/burin.conf" --dry-run -o sample sample.E01 || echo "exit $?"
access_times sample.E01
