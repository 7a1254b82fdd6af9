# Evidence that grows, is written to or replaced while it is read: the report says so, and the exit code is 1.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records records 20 1000
# change_while_read COMMAND...
change_while_read()
{
	local code=0 size pid
	for size in 256 4096 65536 1048576; do
		rm -rf out image
		cp records image
		truncate -s $((size << 20)) image
		"$BURIN" carve --quiet -c rec.conf --threads 1 --chunk-size 16K -o out image 2>messages &
		pid=$!
		wait_until test -e out/report.jsonl
		kill -STOP $pid 2>/dev/null && "$@" && kill -CONT $pid
		wait $pid
		code=$?
		((code == 0)) || break # else too quick: it was through before
	done
	echo "exit $code"
	tail -1 out/report.jsonl | grep -o '"problems":\[[^]]*\]'
}
grow() { truncate -s +1M image; }
write() { printf x | dd of=image bs=1 seek=100 conv=notrunc status=none; }
replace() { cp --sparse=always image other && mv other image; }
for change in grow write replace; do
	echo "--- $change"
	change_while_read $change
done
