# Files with bytes that can't be read: as long as they are, never complete, and the reason says where.
. "$SRCDIR/tests/cli/helpers"
"$SRCDIR/tests/cli/unreadable_image" >/dev/null
cat >two.conf <<'C'
types = (
	{ name = "png"; header = "89 'PNG' 0D 0A 1A 0A"; max_size = "1M"; carver = "png"; },
	{ name = "tar"; header = "'ustar'"; header_offset = 257; max_size = "1M"; carver = "tar"; }
);
C
try carve --quiet -c two.conf --map image.map -o out image
check_reports out
python3 - <<'PY'
import json
for line in open("out/report.jsonl"):
    record = json.loads(line)
    if record["record"] == "file":
        print(*(record[key] for key in ("type", "offset", "length", "status", "unreadable", "reason")), sep=", ")
    elif record["record"] == "summary":
        print(record["skipped"], record["unreadable"])
PY
lines_of()
{
	grep '"record":"file"' "$1/report.jsonl" | sed 's/"hashes":{[^}]*}//; s/"written":[a-z]*//'
}
for way in "--threads 1" "--threads 4 --chunk-size 16K" --dry-run; do
	try carve --quiet --quiet -c two.conf --map image.map $way -o "out${way// /}" image 2>/dev/null
	diff <(lines_of out) <(lines_of "out${way// /}") && echo same
done
