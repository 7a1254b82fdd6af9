# A limit on the size of files simulates a full disk where no file system can be mounted.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 1000
make_records large 1 200000
cat large >>image
(
	ulimit -f 100 # KiB
	try carve -c rec.conf --threads 1 -o out image
)
check_reports out image
"$BURIN" verify out | tail -1
echo --- no room for the reports
(
	ulimit -f 1
	try carve -c rec.conf -o out2 image
	try carve -p -c rec.conf -o out3 image
)
ls out2 out3
echo --- no room for all of the reports
make_records image 100 100
(
	ulimit -f 20
	try carve -c rec.conf -o out4 image
)
"$BURIN" verify out4 | head -1
