# Files in pieces: around ext2's pointer blocks, and in two pieces near each other; one record each, with any number of threads, after
# a resumed run and by extract. What has no second piece, or one with a cluster missing, stays as it was.
. "$SRCDIR/tests/cli/helpers"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
);
RULES
python3 - <<'PY'
import hashlib, random, struct, zlib
rng = random.Random(5)
def png(side):
    rows = b"".join(b"\0" + rng.randbytes(side * 3) for _ in range(side))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"xxYy", b"Title\0No table leads here") + chunk(b"IEND", b""))
def pad(data, size=4096):
    return data + bytes(-len(data) % size)
image = bytearray(rng.randbytes(8192))
def plant(*parts):
    at = len(image)
    for part in parts:
        image.extend(part)
        image.extend(rng.randbytes(-len(image) % 4096))
    image.extend(rng.randbytes(4096 * 3))
    return at
expected = []
a, b, c, d = (png(side) for side in (160, 150, 155, 145))
# A pointer block after 12 blocks of 1024 bytes, with the numbers of those that follow.
at = len(image)
first = (at + 13 * 1024) // 1024
pointers = b"".join(struct.pack("<I", first + i) for i in range(-(-(len(a) - 12288) // 1024)))
plant(a[:12288] + pad(pointers, 1024) + a[12288:])
plant(b[:32768], rng.randbytes(4096 * 5), b[32768:])
plant(c[:28672], rng.randbytes(4096 * 2), c[32768:])  # a cluster is missing
plant(d[:20480])                                      # nothing follows
with open("image", "wb") as file:
    file.write(image)
with open("sums", "w") as file:
    for data in (a, b):
        print(hashlib.sha256(data).hexdigest(), file=file)
PY
show() # OUT
{
	check_reports "$1" image
	grep '"record":"file"' "$1/report.jsonl" | grep -o '"path":"[^"]*"\|"status":"[^"]*"\|"runs":.*\]\]\|"assembly":{[^}]*}'
	grep -o '"sha256":"[^"]*"' "$1/report.jsonl" | grep -c -F -f sums
	ls -A "$1" "$1/png"
}
echo --- known
carve_image known
show known
echo --- near
carve_image near --fragments=near
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
