# Killed while files in pieces are put together, a run is resumed from the scan's end: a checkpoint is written before, whatever
# the interval. The second burin-carver, which puts them together, is a script that kills the run once the checkpoint is in its place.
"$BURIN" list sandbox | grep -q 'not ' && { echo "this machine can't confine a process wholly"; exit 77; }
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
);
RULES
make_pieces 7 <<'PY'
a, b = png(noisy(160)), png(noisy(150))
noise(2); put(a[:32768]); noise(5); put(a[32768:]); noise(3)
put(b); noise(2)
expect(a)
expect(b)
PY
carve() # OUT
{
	./burin carve --quiet --sandbox=require --file-systems off --checkpoint-interval 86400 --threads 1 -c rules.conf -o "$1" image
	echo "exit $?"
}
cp "$BURIN" "$(dirname "$BURIN")/burin-carver" .
carve undisturbed
mv burin-carver real-carver
cat >burin-carver <<SCRIPT
#!/bin/sh
size() { stat -c %s "$PWD/killed/.burin-checkpoint"; }
[ -e "$PWD/first" ] || { size >"$PWD/first"; exec "$PWD/real-carver" "\$@"; }
read -r first <"$PWD/first"
until [ "\$(size)" -gt "\$first" ]; do sleep 0.02; done
kill -9 \$PPID
SCRIPT
chmod +x burin-carver
carve killed 2>killed_message
tail -1 killed/report.jsonl | grep -c '"record":"summary"'
mv real-carver burin-carver
./burin carve --quiet --resume killed
echo "exit $?"
grep -o '"resumed":.*"position":[0-9]*' killed/report.jsonl | grep -o '[0-9]*$' | cmp - <(stat -c %s image) && echo "from the image's end"
same_results undisturbed killed && echo the same
show_files killed
