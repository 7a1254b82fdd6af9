# A ddrescue map: areas that it does not mark as finished are unreadable, whatever their bytes are.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 5 1000
printf '# made by hand\n0x0 + 1\n0 1500 +\n1500 200 -\n1700 100000 +\n' >image.map
for io in auto uring threads; do
	try carve -c rec.conf --io $io --map image.map -o out.$io image
	check_reports out.$io
done
diff <(grep '"record":"file"' out.uring/report.jsonl) <(grep '"record":"file"' out.threads/report.jsonl) && echo same
grep -o '"path":"[^"]*"\|"unreadable":[0-9]*' out.auto/report.jsonl | tail -n +2
tail -1 out.auto/report.jsonl | grep -o '"unreadable":\[.*\]\],"damage":\[[^]]*\]'
sed -n '/Unreadable/,/Problems/p' out.auto/audit.txt
# zeros where the map says so
tr -d '\0' <out.auto/rec/0000001100.rec | wc -c
try carve -c rec.conf --map none -o out image
try carve -c rec.conf --map rec.conf -o out image
try carve -c rec.conf --map image.map -o out image other
expect_nothing_at out
