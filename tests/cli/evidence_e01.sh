# Incomplete E01 sets are carved as far as possible, with exit code 1; segments of other sets are refused.
. "$SRCDIR/tests/cli/helpers"
conf=$SRCDIR/conf/burin.conf
cp "$SRCDIR"/images/sample-split.E0* "$SRCDIR"/images/sample.E01 .
chmod u+w ./*.E0*
try carve -q 1 -c "$conf" -o whole sample-split.E01
check_reports whole
echo --- a later segment
try carve -c "$conf" -o out sample-split.E02
echo --- without the second
mv sample-split.E02 away
try carve -c "$conf" -o hole sample-split.E01
check_reports hole
echo --- without the last
mv away sample-split.E02
mv sample-split.E03 away
try carve -c "$conf" -o end sample-split.E01
check_reports end
echo --- a foreign one in its place
cp sample-split.E02 sample-split.E03
try carve -c "$conf" -o out sample-split.E01
cp sample.E01 sample-split.E03
try carve -c "$conf" -o out sample-split.E01
echo nothing >sample-split.E03
try carve -c "$conf" -o out sample-split.E01
expect_nothing_at out
echo --- cut off
mv away sample-split.E03
size=$(stat -c %s sample-split.E03)
truncate -s $((size / 2)) sample-split.E03
try carve -c "$conf" -o cut sample-split.E01
check_reports cut
tail -1 cut/report.jsonl | grep -o '"unreadable":\[\[[0-9]*'
truncate -s 600000 sample.E01
try carve -c "$conf" -o cut2 sample.E01
check_reports cut2
truncate -s 100 sample.E01
try carve -c "$conf" -o out sample.E01
