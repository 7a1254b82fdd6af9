# Reports that cannot be written on. They are written many records at a time, so that the error comes some records later: exit code 3
# all the same, no summary that claims more than there is, and resumed with room it becomes what it would have been.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 800 100 10
"$BURIN" carve --quiet -c rec.conf -o whole image
# carve_with_at_most BYTES OPTION...: no file may be larger than that; none that is carved is nearly as large
carve_with_at_most()
{
	local code=0 limit=$1

	shift
	rm -rf out
	python3 -c 'import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execvp(sys.argv[2], sys.argv[2:])' "$limit" "$BURIN" carve --quiet -c rec.conf -o out "$@" image 2>messages || code=$?
	echo "--- at most $limit bytes: exit $code"
	sed "s/'.*out.[a-z]*[.][a-z]*'/REPORT/" messages
}
for limit in 20480 100001 270000; do
	carve_with_at_most $limit --threads $((limit % 2 ? 1 : 4))
	grep -c '"record":"summary"' out/report.jsonl
	try carve --quiet --resume out
	same_results out whole
done
check_reports out image
