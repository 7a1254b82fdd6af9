# Files in pieces, and what must not be taken for them: heads in noise, files with a cluster overwritten, older versions of a document,
# and a file's own bytes twice, in every order. A complete file has the bytes of a planted one; nothing else is complete.
. "$SRCDIR/tests/cli/helpers"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
  { name = "bmp"; header = "'BM'"; max_size = "16M"; carver = "bmp"; },
  { name = "xml"; header = "'<?xml'"; max_size = "16M"; carver = "xml"; },
);
RULES
python3 - <<'PY'
import gzip, hashlib, io, json, random, struct, zipfile, zlib
rng = random.Random(11)
CLUSTER = 4096
def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)) +
        b"".join(chunk(b"IDAT", data[i:i + 7000]) for i in range(0, len(data), 7000)) + chunk(b"IEND", b""))
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
    "png": [png(rows), png([rng.randbytes(330) for _ in range(80)])],
    "gz": [gzip.compress(rng.randbytes(30000), mtime=1)],
    "zip": [zipped([rng.randbytes(9000) for _ in range(3)])],
    "bmp": [bmp(100)],
    "xml": [xml()],
}
# Older versions: the same but for some bytes in the middle.
changed = list(rows)
changed[50] = rng.randbytes(300)
older = {"png": png(changed), "gz": files["gz"][0][:16384] + rng.randbytes(4096) + files["gz"][0][20480:]}
image = bytearray(rng.randbytes(2 * CLUSTER))
def put(data):
    image.extend(data)
    image.extend(rng.randbytes(-len(image) % CLUSTER))
def noise(clusters):
    put(rng.randbytes(clusters * CLUSTER))
for _ in range(8):  # heads, and nothing after them
    for data in (f[0] for f in files.values()):
        put(data[:rng.choice((200, CLUSTER, 2 * CLUSTER))])
        noise(rng.randint(0, 2))
for kind, several in files.items():
    for data in several:
        cut = 3 * CLUSTER
        put(data[:cut]); noise(2); put(data[cut + CLUSTER:]); noise(2)  # a cluster is missing
        put(data[:cut]); put(data[CLUSTER:2 * CLUSTER]); put(data[cut:cut + CLUSTER]); noise(1)  # own bytes twice, and no end
        if kind in older:  # the old version's end between the new one's pieces, which lack a cluster
            put(data[:cut]); put(older[kind][cut:]); put(data[cut + CLUSTER:]); noise(3)
open("image", "wb").write(image)
json.dump([hashlib.sha256(data).hexdigest() for several in files.values() for data in several], open("planted", "w"))
json.dump([hashlib.sha256(data).hexdigest() for data in older.values()], open("older", "w"))
PY
for level in known near search; do
	carve_image $level --fragments=$level --fragment-budget=5
	check_reports $level image
	python3 - $level <<'PY'
import json, sys
planted = json.load(open("planted")) + json.load(open("older"))  # both begin alike, so an old end makes the old version
files = [json.loads(line) for line in open(sys.argv[1] + "/report.jsonl")]
false = [f for f in files if f["record"] == "file" and f["status"] == "complete" and f.get("assembly") and f["hashes"]["sha256"] not in planted]
for f in false:
    print("falsely complete:", f["path"], f["runs"], f["assembly"])
print("falsely complete:", len(false))
PY
done
