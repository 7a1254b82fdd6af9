# The same files and reports, to the byte, whatever the number of threads, the size of chunks and the way of reading.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 200 333 7
# many threads with a low limit on open files
make_records many 2000 50
(ulimit -Sn 30; "$BURIN" carve --quiet -c rec.conf -o many-out --threads 64 many; echo "exit $?")
check_reports many-out many
run() { "$BURIN" carve --quiet -c rec.conf -o "$@" image || echo "exit $?"; }
run first
check_reports first image
n=0
for options in "--threads 1 --chunk-size 1" "--threads 2 --chunk-size 7" "--threads 5 --chunk-size 333" \
	"--threads 3 --chunk-size 4K" "--io threads" "--io buffered --chunk-size 2000" "--io direct --chunk-size 5K" "--io uring --chunk-size 100" "--engine reference --chunk-size 5"; do
	run $((++n)) $options
	cmp <(sed '1d;$d' first/report.jsonl) <(sed '1d;$d' $n/report.jsonl)
	diff -r first/rec $n/rec
done
