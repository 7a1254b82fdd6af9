# Files in pieces, and what must not be taken for them: heads in noise, files with a cluster overwritten, older versions of a document,
# and a file's own bytes twice, in every order. A complete file has the bytes of a planted one; nothing else is complete.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
  { name = "bmp"; header = "'BM'"; max_size = "16M"; carver = "bmp"; },
  { name = "xml"; header = "'<?xml'"; max_size = "16M"; carver = "xml"; },
);
RULES
make_pieces 11 <<'PY'
import gzip, json
def zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for i, part in enumerate(parts):
            file.writestr(zipfile.ZipInfo("part%d" % i), part)
    return out.getvalue()
def bmp(side):
    return struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + side * side * 3, 0, 54, 40, side, side, 1, 24, 0, side * side * 3, 0, 0, 0, 0) + bytes(
        (x * y // 7 + rng.randrange(3)) & 255 for y in range(side) for x in range(side * 3))
def xml():
    return b'<?xml version="1.0"?>\n<list>\n' + b"".join(b"<item>%d</item>\n" % rng.randrange(10 ** 9) for _ in range(900)) + b"</list>\n"
rows = [rng.randbytes(300) for _ in range(90)]
files = {
    "png": [png(rows, 7000), png([rng.randbytes(330) for _ in range(80)], 7000)],
    "gz": [gzip.compress(rng.randbytes(30000), mtime=1)],
    "zip": [zipped([rng.randbytes(9000) for _ in range(3)])],
    "bmp": [bmp(100)],
    "xml": [xml()],
}
# Older versions: the same but for some bytes in the middle.
changed = list(rows)
changed[50] = rng.randbytes(300)
older = {"png": png(changed, 7000), "gz": files["gz"][0][:16384] + rng.randbytes(4096) + files["gz"][0][20480:]}
noise(2)
for _ in range(8):  # heads, and nothing after them
    for data in (f[0] for f in files.values()):
        put(data[:rng.choice((200, C, 2 * C))])
        noise(rng.randint(0, 2))
for kind, several in files.items():
    for data in several:
        cut = 3 * C
        put(data[:cut]); noise(2); put(data[cut + C:]); noise(2)  # a cluster is missing
        put(data[:cut]); put(data[C:2 * C]); put(data[cut:cut + C]); noise(1)  # own bytes twice, and no end
        if kind in older:  # the old version's end between the new one's pieces, which lack a cluster
            put(data[:cut]); put(older[kind][cut:]); put(data[cut + C:]); noise(3)
for several in files.values():
    for data in several:
        expect(data)
json.dump([hashlib.sha256(data).hexdigest() for data in older.values()], open("older", "w"))
PY
for level in known near search; do
	carve_image $level --fragments=$level --fragment-budget=5
	check_reports $level image
	python3 - $level <<'PY'
import json, sys
planted = open("sums").read().split() + json.load(open("older"))  # both begin alike, so an old end makes the old version
files = [json.loads(line) for line in open(sys.argv[1] + "/report.jsonl")]
false = [f for f in files if f["record"] == "file" and f["status"] == "complete" and f.get("assembly") and f["hashes"]["sha256"] not in planted]
for f in false:
    print("falsely complete:", f["path"], f["runs"], f["assembly"])
print("falsely complete:", len(false))
PY
done
