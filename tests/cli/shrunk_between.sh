# The evidence has become shorter since the report was written: extract says so; a file of the same size with other bytes is detected too.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 5 1000
"$BURIN" carve --quiet -c rec.conf -o out image
echo --- another size
head -c 3000 image >short
try extract -o out2 out/report.jsonl short
echo --- other bytes
tr . , <image >other
try extract -o out3 out/report.jsonl other
check_reports out3 other
grep -c '"reason":"the hash differs from that in the earlier report"' out3/report.jsonl
echo --- the right one, named by the report
try extract --quiet -o out4 out/report.jsonl
check_reports out4 image
echo --- a filtered report
sed '3d' out/report.jsonl >filtered
try extract --quiet -o out5 filtered image
check_reports out5 image
echo --- no image, no report, no report of burin
mv image away
try extract -o out6 out/report.jsonl
try extract -o out6 missing.jsonl away
try extract -o out6 away away
: >empty
try extract -o out6 empty away
tail -n +2 out/report.jsonl >headless
try extract -o out6 headless away
try extract -o out6 out/report.jsonl
expect_nothing_at out6
echo --- hostile reports
evil() # what sed makes of the first file record
{
	rm -rf out7
	sed "2s|$1|$2|" out/report.jsonl >evil.jsonl
	try extract -o out7 evil.jsonl away
	find out7 -type f 2>/dev/null | wc -l
}
evil '"path":"[^"]*"' '"path":"../../escaped"'
evil '"path":"[^"]*"' '"path":"/tmp/escaped"'
evil '"path":"[^"]*"' '"path":"report.jsonl"'
evil '"runs":\[\[0,' '"runs":[[9999999,'
evil '"length":1000' '"length":999999999999'
evil '^{' '{{'
expect_nothing_at ../escaped
