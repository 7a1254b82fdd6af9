# A signal ends a batch; the images that were not started are listed.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
cp image second
cp image third
truncate -s 256G second
has_files() { [[ $(find "$1" -mindepth 2 -type f 2>/dev/null | wc -l) == 20 ]]; }
"$BURIN" carve -c rec.conf --chunk-size 64K -o out image second third missing 2>messages &
pid=$!
wait_until has_files out/second
kill -TERM $pid
wait $pid
echo "exit $?"
sed 's/[0-9]* bytes/SOME bytes/' messages
ls out
check_reports out/image image
check_reports out/second second | sed 's/[0-9]* bytes/SOME bytes/'
