# A file that becomes shorter while it is read: what is gone counts as zeros, is reported, and the exit code is 1.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
make_records end 5 1000
for size in 256 4096 65536 1048576; do
	truncate -s $((size << 20)) image
	cat end >>image
	"$BURIN" carve -c rec.conf --threads 1 --chunk-size 16K -o out image 2>messages &
	pid=$!
	wait_until test -e out/report.jsonl
	truncate -s 1M image
	wait $pid
	code=$?
	((code == 0)) || break
	rm -r out # too quick: it was through before
done
echo "exit $code"
sed 's/[0-9][0-9]* bytes/SOME bytes/g; s/offset [0-9]*/offset SOME/' messages
check_reports out image | sed 's/[0-9]* bytes/SOME bytes/'
tail -1 out/report.jsonl | grep -c '"unreadable":\[\[[0-9]*,[0-9]*\]\]'
