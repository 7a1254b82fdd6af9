# Images of a byte, shorter than the longest pattern, just as long; rules with long patterns and many at one start.
. "$SRCDIR/tests/cli/helpers"
python3 - <<'PY'
long = "".join("%02X" % (i % 251) for i in range(5000))
open("long.conf", "w").write('types = (\n\t{ name = "long"; header = "%s"; max_size = "8K"; },\n' % long +
                             "\t{ name = \"x\"; header = \"'x'\"; max_size = \"1\"; }\n);\n")
data = bytes(i % 251 for i in range(5000))
open("one", "wb").write(b"x")
open("short", "wb").write(data[:4999])
open("just", "wb").write(data)
open("more", "wb").write(b"\0" + data + b"end")
open("many.conf", "w").write("types = (\n" + ",\n".join(
    "\t{ name = \"t%d\"; header = \"'HEAD'\"; max_size = \"1K\"; must = ( { at = 4; bytes = \"'X'\"; } ); }" % i
    for i in range(300)) + "\n);\n")
open("heads", "wb").write((b"\0" * 100 + b"HEADX" + b"1" * 500) * 3)
PY
for image in one short just more; do
	for chunk in 1 32M; do
		try carve --quiet -c long.conf --chunk-size $chunk -o "$image-$chunk" $image
		check_reports $image-$chunk $image
	done
done
for threads in 1 2 9; do
	try carve --quiet -c many.conf --threads $threads -o many-$threads heads
	check_reports many-$threads heads
done
cmp <(sed '1d;$d' many-1/report.jsonl) <(sed '1d;$d' many-9/report.jsonl)
