# A signal ends a batch, and says which images were not begun.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
cp image second
cp image third
truncate -s 256G second
has_files() { (($(ls "$1/rec" 2>/dev/null | wc -l) >= 19)); }
"$BURIN" carve -c rec.conf --chunk-size 64K -o out image second third missing 2>messages &
pid=$!
wait_until 20 has_files out/second
kill -TERM $pid
wait $pid
echo "exit $?"
sed 's/[0-9]* bytes/SOME bytes/; s/second: [0-9]* files, .* [KM]iB/second: SOME files/' messages
ls out
check_reports out/image image
check_reports out/second second | sed 's/[0-9]* bytes/SOME bytes/; s/[0-9]* files/SOME files/'
