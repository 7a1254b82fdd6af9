# A second run cannot use the folder of a first one, even before that has written anything.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
truncate -s 8T image
"$BURIN" carve -c rec.conf --threads 1 --chunk-size 64K -o out image 2>/dev/null &
first=$!
wait_until test -e out/report.jsonl
kill -STOP $first
try carve -c rec.conf -o out image
kill -TERM $first
kill -CONT $first
wait $first
echo "first: exit $?"
try carve -c rec.conf -o out image
