# Files in pieces: around ext2's pointer blocks, and in two pieces near each other; one record each, with any number of threads, after
# a resumed run and by extract. What has no second piece, or one with a cluster missing, stays as it was.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
);
RULES
make_pieces 5 <<'PY'
noise(2)
more = chunk(b"xxYy", b"Title\0No table leads here")
a, b, c, d = (png(noisy(side), more=more) for side in (160, 150, 155, 145))
# A pointer block after 12 blocks of 1024 bytes, with the numbers of those that follow.
at = len(image)
first = (at + 13 * 1024) // 1024
pointers = b"".join(struct.pack("<I", first + i) for i in range(-(-(len(a) - 12288) // 1024)))
put(a[:12288] + pointers + bytes(-len(pointers) % 1024) + a[12288:]); noise(3)
put(b[:32768]); noise(5); put(b[32768:]); noise(3)
put(c[:28672]); noise(2); put(c[32768:]); noise(3)  # a cluster is missing
put(d[:20480]); noise(3)                            # nothing follows
expect(a)
expect(b)
PY
show() # OUT
{
	check_reports "$1" image
	show_files "$1"
	ls -A "$1" "$1/png"
}
echo --- known
carve_image known --fragments=known
show known
echo --- near, the default
carve_image near
show near
"$BURIN" verify near | tail -1
echo "exit $?"
same() # OUT
{
	same_results near "$1" && echo "$1: the same"
}
for threads in 1 3; do
	carve_image out-$threads --fragments=near --threads $threads --chunk-size 16K
	same out-$threads
done
echo --- complete files only
carve_image strict --fragments=near --strict
show strict
echo --- searched
carve_image search-1 --fragments=search --fragment-budget=1 --threads 1
carve_image search-3 --fragments=search --fragment-budget=1 --threads 3
same_results search-1 search-3 && echo with any number of threads the same
echo --- stopped and resumed
(ulimit -f 60 && "$BURIN" carve --quiet -c rules.conf -o resumed --fragments=near --checkpoint-interval 0.001 image 2>/dev/null)
echo "stopped with exit $?"
try carve --quiet --resume resumed
same resumed
echo --- extracted
try extract --quiet -o extracted near/report.jsonl image
diff -r near/png extracted/png && echo the same files
echo --- off
carve_image off --fragments=off
grep -c assembly off/report.jsonl
