# A quota is reached: exit code 1, and the remaining files are counted.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
left_out() { tail -1 "$1/report.jsonl" | grep -o '"skipped":{[^}]*}'; }
for option in --max-files=5 --max-bytes=3500 --max-files-per-type=7 --max-bytes-per-type=1000 --max-files=20; do
	try carve -c rec.conf $option -o "out$option" image
	check_reports "out$option" image
	left_out "out$option"
done
