# SIGINT and SIGTERM in the middle: exit code 128 + signal, complete files, a correct report.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
truncate -s 256G image
has_files() { [[ $(find "$1" -mindepth 2 -type f 2>/dev/null | wc -l) == 20 ]]; }
interrupt() # SIGNAL OUT OPTION...
{
	local signal=$1 out=$2 pid

	shift 2
	"$BURIN" carve -c rec.conf --chunk-size 64K "$@" -o "$out" image 2>messages &
	pid=$!
	wait_until has_files "$out"
	kill -"$signal" $pid
	wait $pid
	echo "exit $?"
	sed 's/[0-9]* bytes/SOME bytes/' messages
	check_reports "$out" image | sed 's/[0-9]* bytes/SOME bytes/'
	"$BURIN" verify --json "$out" | grep -o '"clean": *[a-z]*\|"run_was_complete": *[a-z]*'
	tail -1 "$out/report.jsonl" | grep -o '"signal":[0-9]*,"exit":[0-9]*'
}
interrupt INT int --threads 1
interrupt TERM term --threads 1
interrupt HUP hup --threads 3 --io threads
# both at once: it ends on the spot, without a summary
"$BURIN" carve -c rec.conf --chunk-size 64K --threads 1 -o twice image 2>/dev/null &
pid=$!
wait_until has_files twice
kill -STOP $pid
kill -INT $pid
kill -TERM $pid
kill -CONT $pid
wait $pid
code=$?
((code == 130 || code == 143)) || echo "exit $code"
grep -c '"record":"summary"' twice/report.jsonl || true
