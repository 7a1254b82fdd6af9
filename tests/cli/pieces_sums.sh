# Files in pieces, put together by CRCs of bytes as they are in the file, or a font's sums: the pieces meet inside the bytes of one CRC, two
# and three of them, in any order. Nothing is complete where a cluster is missing.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "ogg"; header = "'OggS' 00 02"; max_size = "16M"; carver = "ogg"; },
  { name = "ttf"; header = "00 01 00 00 00"; max_size = "16M"; carver = "sfnt"; },
  { name = "evtx"; header = "'ElfFile' 00"; max_size = "16M"; carver = "evtx"; },
  { name = "mkv"; header = "1a 45 df a3"; max_size = "16M"; carver = "mkv"; },
  { name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
);
RULES
make_pieces 27 <<'PY'
noise(2)
def reverse(value, bits):
    return int(format(value, "0%db" % bits)[::-1], 2)
backwards = bytes(reverse(byte, 8) for byte in range(256))
def ogg_crc(data):
    """Its register begins with 0, and its bytes with their highest bits."""
    return reverse(zlib.crc32(data.translate(backwards), 0xffffffff) ^ 0xffffffff, 32)
def stream(sizes):
    out, serial = b"", rng.randbytes(4)
    for number, size in enumerate(sizes):
        flags = 2 * (number == 0) | 4 * (number == len(sizes) - 1)
        page = bytearray(b"OggS\0" + bytes([flags]) + bytes(8) + serial + struct.pack("<I", number) + bytes(4) + bytes([size // 255 + 1]) + b"\xff" * (size // 255) + bytes([size % 255]))
        page += rng.randbytes(size)
        page[22:26] = struct.pack("<I", ogg_crc(page))
        out += bytes(page)
    return out
def log(chunks):
    """An event log whose chunks are full of records."""
    number, out = 1, b""
    for _ in range(chunks):
        first, records = number, b""
        while len(records) < 64000:
            size = rng.randint(100, 900)
            records += struct.pack("<IIQQ", 0x2a2a, size, number, 132000000000000000 + number) + rng.randbytes(size - 28) + struct.pack("<I", size)
            number += 1
        head = bytearray(512)
        struct.pack_into("<8sQQQQIIII", head, 0, b"ElfChnk\0", first, number - 1, first, number - 1, 128, 512 + len(records) - size, 512 + len(records), zlib.crc32(records))
        struct.pack_into("<I", head, 124, zlib.crc32(head[:120] + head[128:]))
        out += bytes(head) + records + bytes(65536 - 512 - len(records))
    head = bytearray(4096)
    struct.pack_into("<8sQQQIHHHH", head, 0, b"ElfFile\0", 0, chunks - 1, number, 128, 1, 3, 4096, chunks)
    struct.pack_into("<I", head, 124, zlib.crc32(head[:120]))
    return bytes(head) + out
def font(count, size):
    """A font with that many glyphs. Its table 'head' is before them."""
    glyphs = b"".join(struct.pack(">5h", 1, 0, -100, 500, 700) + rng.randbytes(size - 10) for _ in range(count))
    places = struct.pack(">%dI" % (count + 1), *(size * n for n in range(count + 1)))
    tables = [(b"head", b"\0\1\0\0" + rng.randbytes(4) + bytes(4) + b"\x5f\x0f\x3c\xf5" + rng.randbytes(34) + b"\0\1" + bytes(4)), (b"glyf", glyphs), (b"loca", places), (b"post", rng.randbytes(4000))]
    at, directory, body = 12 + 16 * len(tables), b"\0\1\0\0" + struct.pack(">H6x", len(tables)), b""
    for tag, table in tables:
        table += bytes(-len(table) % 4)
        directory += tag + struct.pack(">III", sum(struct.unpack(">%dI" % (len(table) // 4), table)) & 0xffffffff, at + len(body), len(table))
        body += table
    return directory + body
def element(id, data):
    return bytes.fromhex(id) + struct.pack(">Q", 1 << 56 | len(data)) + data
def film(clusters, blocks, sums=True):
    """Matroska: clusters of frames that are noise, each with a CRC, and the cues."""
    def with_sum(data):
        return (element("bf", struct.pack("<I", zlib.crc32(data))) if sums else b"") + data
    body = element("1549a966", with_sum(element("2ad7b1", b"\x0f\x42\x40"))) + element("1654ae6b", with_sum(element("ae", element("d7", b"\1") + element("83", b"\1"))))
    for number in range(clusters):
        frames = b"".join(element("a3", b"\x81\0\0\x80" + rng.randbytes(rng.randint(2000, 9000))) for _ in range(blocks))
        body += element("1f43b675", with_sum(element("e7", bytes([number])) + frames))
    body += element("1c53bb6b", with_sum(element("bb", element("b3", b"\1") + element("b7", element("f7", b"\1") + element("f1", b"\x40")))))
    return element("1a45dfa3", element("4282", b"matroska")) + element("18538067", body)
a, b, c = (png(noisy(side)) for side in (130, 150, 120))
plant(a, [9], [1, 0])
plant(b, [7, 11], [1, 2, 0])
plant(stream([100, 30000, 50000, 20000, 400]), [3, 12, 17], [2, 0, 3, 1])
plant(log(2), [5, 21], [0, 2, 1])
plant(font(900, 80), [7], [1, 0])
plant(font(700, 64), [4], [0, 1])
broken = font(800, 72)
plant(broken[:6 * C] + broken[7 * C:8 * C] + broken[6 * C:7 * C] + broken[8 * C:], [4], [1, 0], False)  # its sum is right
plant(c[:10 * C] + c[11 * C:], [6], [0, 1], False)  # a cluster is missing
plant(film(1, 14), [5, 12], [1, 0, 2])
plant(film(3, 6), [4, 11], [2, 0, 1])
d = film(1, 14)
plant(d[:7 * C] + d[8 * C:], [11], [0, 1], False)  # the same
PY
carve_image out
check_reports out image
show_files out '"assembly":{'
for threads in 1 3; do
	carve_image out-$threads --threads $threads --chunk-size 16K
	same_results out out-$threads && echo "$threads threads: the same"
done
echo; echo "sums are made around a file that is further in the image than all of them would reach: no search is needed"
make_pieces 33 <<'PY'
noise(1)
image.extend(bytes(100 << 20))
plant(png(noisy(150)), [7, 11], [1, 2, 0])
PY
carve_image far --fragments=search --fragment-budget 1
show_files far
echo; echo "around each of a hundred files that have lost their end, too, though all such parts of the image are more than is looked through"
make_pieces 34 <<'PY'
noise(1)
for _ in range(100):
    put(png(noisy(60))[:2 * C])
    image.extend(bytes(1300 << 10))
plant(png(noisy(150)), [7, 11], [1, 2, 0])
PY
carve_image many --fragment-budget 1
show_files many '"assembly":{'
echo; echo "what goes on like a copy of the file after a sum's end may be the copy's: it is not proved"
make_pieces 35 <<'PY'
noise(1)
def element(id, data):
    return bytes.fromhex(id) + struct.pack(">Q", 1 << 56 | len(data)) + data
def with_sum(data):
    return element("bf", struct.pack("<I", zlib.crc32(data))) + data
def cluster(number):
    frames = b"".join(element("a3", b"\x81\0\0\x80" + rng.randbytes(3000 + 100 * n)) for n in range(8))
    return element("1f43b675", with_sum(element("e7", bytes([number])) + frames))
shared = cluster(0)
def film():
    tracks = element("1654ae6b", with_sum(element("ae", element("d7", b"\1") + element("83", b"\1"))))
    cues = element("1c53bb6b", with_sum(element("bb", element("b3", b"\1") + element("b7", element("f7", b"\1") + element("f1", b"\x40")))))
    return element("1a45dfa3", element("4282", b"matroska")) + element("18538067", tracks + shared + cluster(1) + cues)
def halves(data):
    expect(data)
    return data[:3 * C], data[3 * C:]
(a, b), (c, d) = halves(film()), halves(film())
for part in (a, c, d, b):
    put(part, 1)
PY
carve_image copies
show_files copies '"assembly":{'
echo; echo "two joints in a table with nothing before its end that is found by bytes: the last piece is where the next table has its sum"
make_pieces 36 <<'PY'
noise(20)
count = 1500
glyph = lambda: struct.pack(">9h", 1, 0, -100, 500, 700, 2, 0, 0x101, 0x100) + rng.randbytes(11) + bytes(3)
tables = [(b"head", b"\0\1\0\0" + rng.randbytes(4) + bytes(4) + b"\x5f\x0f\x3c\xf5" + rng.randbytes(34) + b"\0\1" + bytes(4)), (b"hhea", bytes(35) + b"\1"), (b"hmtx", b"\1\xf4" + bytes(2 + 2 * count)), (b"glyf", b"".join(glyph() for _ in range(count))),
    (b"loca", struct.pack(">%dI" % (count + 1), *range(0, 32 * count + 1, 32))), (b"post", rng.randbytes(400))]
at, directory, body = 12 + 16 * len(tables), b"\0\1\0\0" + struct.pack(">H6x", len(tables)), b""
for tag, table in tables:
    table += bytes(-len(table) % 4)
    directory += tag + struct.pack(">3I", sum(struct.unpack(">%dI" % (len(table) // 4), table)) & 0xffffffff, at + len(body), len(table))
    body += table
plant(directory + body, [4, 9], [2, 0, 1])
PY
carve_image later
show_files later '"assembly":{'
echo; echo "an archive whose directory is in one piece: its pieces meet in stored members, and one has no member's header"
make_pieces 37 <<'PY'
noise(1)
def archive(sizes):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as members:
        for number, size in enumerate(sizes):
            members.writestr(zipfile.ZipInfo("member%d" % number), rng.randbytes(size))
    return out.getvalue()
plant(archive([3000, 60000, 2000, 4000]), [6], [1, 0])
noise(1)
plant(archive([2000, 50000, 40000, 3000]), [5, 9, 14], [1, 0, 2, 3])
noise(1)
a = archive([2000, 50000, 3000])
plant(a[:5 * C] + a[6 * C:], [9], [0, 1], False)  # a cluster is missing
PY
carve_image members --fragments=known
show_files members '"assembly":{'
