# A candidate that takes over the process that checks it gains nothing, and costs itself: burin-carver is one whose carver of GIF
# does what the file says (tests/hijacked_carver.c), and burin one that does not wait long for it.
programs=$(dirname "$BURIN")/tests/hijacked
[[ -x $programs/burin-carver && -x $programs/burin ]] || { echo "$programs/burin-carver is not built"; exit 77; }
readelf -Ws "$BURIN" | grep -qE "__(a|t)san_init" && { echo "a sanitizer has memory limits of its own"; exit 77; }
"$BURIN" list sandbox | grep -q 'not ' && { echo "this machine can't confine a process wholly"; exit 77; }
. "$SRCDIR/tests/cli/helpers"
cp "$programs/burin" "$programs/burin-carver" .
cat >rules.conf <<'CONF'
types = (
	{ name = "gif"; header = "'GIF89a'"; max_size = "1M"; carver = "gif"; },
	{ name = "len"; header = "'LEN['"; max_size = "1M"; length = { at = 4; type = "u32le"; }; } );
CONF

room=1024
image() # LINE...: a GIF with each, and before and after it a file of another type
{
	python3 - $room "$@" >image <<'PY'
import struct, sys
room = int(sys.argv[1])
out = b""
for line in sys.argv[2:]:
    out += (b"LEN[" + struct.pack("<I", 600)).ljust(room, b".")
    out += (b"GIF89a" + line.encode() + b"\n").ljust(2 * room, b"-")
out += (b"LEN[" + struct.pack("<I", 700)).ljust(65536, b".")
sys.stdout.buffer.write(out)
PY
}
carve() # OUT OPTION...
{
	./burin carve --file-systems off --quiet -c rules.conf -o "$@" image; echo "exit $?"
}
tell() # OUT: what was found, and what the checks of the others did
{
	python3 - "$1" <<'PY'
import json, sys
records = [json.loads(line) for line in open(f"{sys.argv[1]}/report.jsonl")]
for record in records[1:-1]:
    print(record["type"], record["offset"], record["length"], record["status"], record["title"])
for name, count in records[-1]["skipped"].items():
    print(f"{count} x {name}")
PY
}
echo evidence >disk
stat -c '%a %s %Y %Z' disk >before
image "try $PWD/disk"
carve out
tell out
stat -c '%a %s %Y %Z' disk | cmp before - && ls disk*
"$SRCDIR/tests/cli/check_reports" out image
# On a kernel without Landlock, too.
without_landlock ./burin carve --file-systems off --quiet -c rules.conf -o without image; echo "exit $?"
tell without
stat -c '%a %s %Y %Z' disk | cmp before - && ls disk*
# Asked about it alone, too.
image crash
./burin why -c rules.conf image 1024; echo "exit $?"
./burin conf check --image image rules.conf | tail -4; echo "exit ${PIPESTATUS[0]}"
# Each costs itself, whatever is checked with it, and the result is the same for all numbers of threads.
image crash abort leave eat lie babble fine sleep hang
carve one --sandbox=require --threads 1
tell one
"$SRCDIR/tests/cli/check_reports" one image
carve four --sandbox=require --threads 4 2>/dev/null
same_results one four && echo same
# None makes burin ask for ever, or end for want of memory.
image "put off" hum beg
carve ever --sandbox=require --threads 1 2>/dev/null
tell ever
# When files in pieces are put together, too: each costs itself. A lie may have been another file's.
room=4096
image "in pieces crash" fine "in pieces abort" "in pieces leave" "in pieces eat" "in pieces hang"
for threads in 1 4; do
	# With more threads it depends on time which crashes first, and so what is told at once.
	carve "pieces$threads" --sandbox=require --fragments=search --threads $threads 2>&1 |
		if [[ $threads = 1 ]]; then cat; else grep -v "it is begun again"; fi
done
tell pieces1
same_results pieces1 pieces4 && echo same
# A crash is named, with its signal, while several threads run.
image "in pieces crash" fine "in pieces abort"
./burin carve --file-systems off -c rules.conf -o named --fragments=search --threads 4 image 2>&1 | grep "puts* files in pieces\|putting" | sort -u
image fine "in pieces forge" "in pieces crash"
carve forged --sandbox=require --fragments=search --threads 1 2>&1
tell forged
