# A disk that becomes full: exit code 3, all written files are reported and complete, no incomplete file stays.
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir mount
need_root mount -t tmpfs -o size=6m none mount
trap 'umount -l mount' EXIT
check()
{
	check_reports "$@" | sed 's/^[0-9]* files/SOME files/'
	"$BURIN" verify mount/out | sed 's/[0-9.]* [KM]iB\|[0-9]* bytes/SIZE/; s/[0-9]* \(files\|ok\)/SOME \1/g'
	"$BURIN" verify --json mount/out | grep -o '"run_was_complete": *[a-z]*'
	rm -r mount/out
}
echo --- few large files
make_records image 10 900000
try carve -c rec.conf -o mount/out image
check mount/out image
echo --- many small ones, which leave no room when the last is taken back
make_records image 20000 100 10
try carve -c rec.conf -o mount/out image
check mount/out image
echo --- many threads
try carve -c rec.conf --threads 16 -o mount/out image
check mount/out image
echo --- extract
"$BURIN" carve --quiet -p -c rec.conf -o plan image
try extract -o mount/out plan/report.jsonl image
check mount/out image
echo --- no room for headers that wait for a footer
head -c 8M /dev/zero | tr '\0' A >flood
echo "types = ( { name = \"a\"; header = \"'A'\"; footer = \"'ZZ'\"; max_size = \"1G\"; } );" >flood.conf
try carve -c flood.conf -o mount/out flood
tail -1 mount/out/report.jsonl | grep -c '"not decided when the run ended":[0-9]'
check mount/out flood
echo --- no room for the reports
head -c 9000000 /dev/zero >mount/filler 2>/dev/null
try carve -c rec.conf -o mount/out image
ls -A mount/out
