# Documents that were edited are groups of the page; their bytes differ.
set -e
"$BURIN" report -h | grep -q -- --alike
python3 - <<'END'
import random
words = random.Random(1)
def text(count):
    return " ".join("".join(chr(97 + words.randrange(26)) for _ in range(1 + words.randrange(9))) for _ in range(count))
def page(body):
    return ("<!DOCTYPE html>\n<html><head><title>Letter</title></head><body><p>" + body + "</p></body></html>\n").encode()
first, other, short = text(4000), text(4000), text(400)
files = [page(first), page(other), page(first[:9000] + " was changed here " + first[9100:]), page(first), page(short), page(other + " and more")]
with open("disk", "wb") as disk:
    for file in files:
        disk.write(file + bytes(-len(file) % 4096) + bytes(4096))
END
"$BURIN" carve --quiet -t html --html -o out disk
[ "$(ls out/html | wc -l)" = 6 ]
if ! ldd "$BURIN" | grep -q libfuzzy; then
	echo "burin was built without libfuzzy"
	exit 77
fi
grep -o 'burin.alikeFiles(.*' out/report.html
"$BURIN" report --quiet --alike 0 out
grep -o 'burin.alikeFiles(.*' out/report.html
"$BURIN" report --quiet --alike 2 out # the first two have nothing in common
grep -o 'burin.alikeFiles(.*' out/report.html
