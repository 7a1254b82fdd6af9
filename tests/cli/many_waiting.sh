# More files wait for one long check at the start of the image than are kept in memory at a time: once it has ended, they are
# decided on and reported in turns.
. "$SRCDIR/tests/cli/helpers"
python3 - <<'PY'
import bz2
slow = bz2.compress(bytes(40000000))[:-8]
with open("image", "wb") as image:
    image.write(slow.ljust(512, b"\0") + b"{\\rtf1\\ansi hello world of text}".ljust(64, b"\n") * 70000)
PY
for threads in 1 3; do
	try carve --quiet --dry-run --threads $threads --file-systems off -t rtf,bz2 -c "$SRCDIR/conf/burin.conf" -o out$threads image
	grep -c '"record":"file"' out$threads/report.jsonl
done
cmp <(grep '"record":"file"' out1/report.jsonl) <(grep '"record":"file"' out3/report.jsonl)
