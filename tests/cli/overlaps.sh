# Files in an unverified part of a complete file (the comment of a ZIP): complete ones are written, and the report names the ZIP.
. "$SRCDIR/tests/cli/helpers"
cat >rules.conf <<'RULES'
types = (
  { name = "zip"; header = "'PK' 03 04"; max_size = "1M"; carver = "zip"; },
  { name = "html"; header = "'<html>'"; max_size = "64K"; carver = "html"; },
  { name = "rec"; header = "'REC['"; footer = "']CER'"; max_size = 1000; }
);
RULES
python3 - <<'PY'
import io, zipfile
page = b"<html><head><title>%s</title></head><body><p>%s</p></body></html>\n"
def archive(name, comment):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo(name), page % (b"a member", b"text"))
        file.comment = comment
    return out.getvalue()
first = archive("a.html", b"Remarks: " + page % (b"one", b"in the first") + page % (b"two", b"in the first") + b"<html> the end of a page is lost")
second = archive("b.html", b"REC[ not complete ]CER" + page % (b"three", b"in the second"))
with open("image", "wb") as image:
    image.write(bytes(512) + first + bytes(-len(first) % 512) + second + bytes(700) + page % (b"four", b"outside"))
    for number in range(500):
        image.write(archive("c%d" % number, page % (b"%d" % number, b"in one of many") + b" " * (number % 50)))
PY
carve_image out
check_reports out image
grep '"record":"file"' out/report.jsonl | head -6 | grep -o '"path":"[^"]*"\|"offset":[0-9]*\|"length":[0-9]*\|"overlaps":[0-9]*\|"status":"[^"]*"'
tail -1 out/report.jsonl | grep -o '"rejected":.*"hits"'
"$BURIN" report out 2>/dev/null
echo "page: exit $?"
same() # OUT
{
	same_results out "$1" && echo "$1: the same"
}
for threads in 1 3 8; do
	carve_image out-$threads --threads $threads --chunk-size 16K
	same out-$threads
done
echo --- stopped and resumed
(ulimit -f 250 && "$BURIN" carve --quiet -c rules.conf -o resumed --checkpoint-interval 0.001 image 2>/dev/null)
echo "stopped with exit $?"
try carve --quiet --resume resumed
same resumed
echo --- nested
carve_image nested --nested
check_reports nested image
grep -c '"overlaps"' nested/report.jsonl
