# Files in pieces, put together by the tables inside them, with the default options: pieces in any order, joints inside a
# table too. Nothing is complete where a cluster is missing, or where the table lies.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
  { name = "pdf"; header = "'%PDF-'"; max_size = "16M"; carver = "pdf"; },
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "tiff"; header = "'II' 2a 00"; max_size = "16M"; carver = "tiff"; },
  { name = "ttf"; header = "00 01 00 00 00"; max_size = "16M"; carver = "sfnt"; },
  { name = "regf"; header = "'regf'"; max_size = "16M"; carver = "regf"; },
);
RULES
make_pieces 21 <<'PY'
noise(2)
def archive(sizes):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for number, size in enumerate(sizes):
            name = zipfile.ZipInfo("part%d" % number, (2020, 1, 1 + rng.randrange(28), 0, 0, 0))
            out.writestr(name, rng.randbytes(size // 2).hex(), zipfile.ZIP_DEFLATED)
    return file.getvalue()
a, b, c, d = (archive([rng.randint(2000, 14000) for _ in range(8)]) for _ in range(4))
plant(a, [3, 6, 9], [2, 0, 3, 1])
# The directory is in two pieces: it has an entry on both sides of the cut.
few = archive([9000] + [0] * 150)
end = len(few) - 22
assert few[-6:-2] != b"\xff" * 4 and (len(few) - 3000) // C * C > len(few) - 22 - 151 * 50
plant(few, [(len(few) - 3000) // C], [1, 0])
def document(lines, picture=b""):
    """A PDF whose cross-references are a table of lines, or a stream; it may have a picture."""
    data, places = bytearray(b"%PDF-1.5\n"), []
    def add(body):
        places.append(len(data))
        data.extend(b"%d 0 obj\n%s\nendobj\n" % (len(places), body))
    def stream(head, content):
        return b"<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream" % (head, len(content), content)
    add(b"<</Type/Catalog>>")
    for _ in range(9):
        add(stream(b"", zlib.compress(rng.randbytes(rng.randint(1000, 6000)).hex().encode())))
    if picture:
        add(b"<</Filter/DCTDecode/Length %d>>\nstream\n%s\nendstream" % (len(picture), picture))
        add(stream(b"", zlib.compress(rng.randbytes(3000))))
    at = len(data)
    if lines:
        data.extend(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
        data.extend(b"".join(b"%010d 00000 n \n" % place for place in places))
        data.extend(b"trailer\n<</Size %d/Root 1 0 R>>\n" % (len(places) + 1))
    else:
        rows = b"\0\0\0\0\xff" + b"".join(b"\1" + place.to_bytes(3, "big") + b"\0" for place in places + [at])
        filtered, before = b"", bytes(5)
        for row in (rows[i:i + 5] for i in range(0, len(rows), 5)):
            filtered += b"\2" + bytes((a - b) % 256 for a, b in zip(row, before))
            before = row
        add(stream(b"/Type/XRef/Root 1 0 R/Size %d/W[1 3 1]/DecodeParms<</Columns 5/Predictor 12>>" % (len(places) + 2), zlib.compress(filtered)))
    data.extend(b"startxref\n%d\n%%%%EOF\n" % at)
    return bytes(data)
plant(document(True), [2, 5], [1, 2, 0])
plant(document(False), [3, 5], [2, 0, 1])
# Nothing verifies a picture's data, but in foreign bytes are other markers.
coded = b"\xff\xd8\xff\xda\0\2" + rng.randbytes(30000).replace(b"\xff", b"\0") + b"\xff\xd9"
plant(document(True, coded), [9], [1, 0])
plant(png(noisy(100), 4000), [2, 5], [2, 0, 1])  # of many chunks
def hive(bins):
    """A registry hive with 20 keys in each bin, all of them under the root. Others have bins with the same offsets."""
    root, key_len, keys = 32, 88, []
    cells = [b"" for _ in range(bins)]
    def add(number, data):
        at = number * C + 32 + len(cells[number])
        cells[number] += struct.pack("<i", -len(data) - 4) + data
        return at
    def key(flags, parent, count, names):
        return struct.pack("<2sHQ10I", b"nk", flags, 0, 0, parent, count, 0, names, 2**32 - 1, 0, 2**32 - 1, 2**32 - 1, 2**32 - 1).ljust(72, b"\0") + struct.pack("<HH", 8, 0) + rng.randbytes(8)
    add(0, key(4, 0, 20 * bins, root + key_len))
    add(0, bytes(4 + 8 * 20 * bins))
    for number in range(bins):
        keys += [add(number, key(0, root, 0, 2**32 - 1)) for _ in range(20)]
    listed = struct.pack("<2sH", b"lf", len(keys)) + b"".join(struct.pack("<I4s", at, b"name") for at in keys)
    cells[0] = cells[0][:key_len + 4] + listed + cells[0][key_len + 4 + len(listed):]
    body = b""
    for number in range(bins):
        rest = C - 32 - len(cells[number])
        body += struct.pack("<4sII", b"hbin", number * C, C).ljust(32, b"\0") + cells[number] + struct.pack("<i", rest).ljust(rest, b"\0")
    head = bytearray(struct.pack("<4sIIQIIIIII", b"regf", 1, 1, 132000000000000000, 1, 5, 0, 1, root, len(body)).ljust(508, b"\0"))
    total = 0
    for word in struct.unpack("<127I", head):
        total ^= word
    return bytes(head + struct.pack("<I", total)).ljust(C, b"\0") + body
def strips(count):
    """A TIFF whose directory is at its end."""
    data, places = bytearray(b"II*\0\0\0\0\0"), []
    for _ in range(count):
        strip = zlib.compress(rng.randbytes(6000))
        places.append((len(data), len(strip)))
        data.extend(strip + bytes(len(strip) % 2))
    lists = len(data)
    data.extend(b"".join(struct.pack("<I", at) for at, _ in places) + b"".join(struct.pack("<I", len) for _, len in places))
    rows = [(256, 4, 1, 100), (257, 4, 1, 60 * count), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (273, 4, count, lists), (278, 4, 1, 60), (279, 4, count, lists + 4 * count)]
    data[4:8] = struct.pack("<I", len(data))
    return bytes(data) + struct.pack("<H", len(rows)) + b"".join(struct.pack("<HHII", *row) for row in rows) + bytes(4)
def font(sizes):
    """A font whose table 'head' comes late."""
    tables = [(b"cmap", rng.randbytes(sizes[0])), (b"glyf", rng.randbytes(sizes[1])),
        (b"head", b"\0\1\0\0" + rng.randbytes(4) + bytes(4) + b"\x5f\x0f\x3c\xf5" + rng.randbytes(40)), (b"post", rng.randbytes(sizes[2]))]
    at, directory, body = 12 + 16 * len(tables), b"\0\1\0\0" + struct.pack(">H6x", len(tables)), b""
    for tag, table in tables:
        total = sum(struct.unpack(">%dI" % (len(table) // 4), table)) & 0xffffffff
        directory += tag + struct.pack(">III", total, at + len(body), len(table))
        body += table
    return directory + body
plant(strips(4), [3], [1, 0])
plant(font((6000, 8000, 4000)), [3], [1, 0])
one, other = hive(5), hive(6)
plant(one, [2, 4], [2, 0, 1])
plant(other, [3, 5], [1, 2, 0])
# A cluster of the second piece is missing.
plant(b[:4 * C] + b[5 * C:], [2], [0, 1], False)
# Nothing verifies the block of signatures in which the pieces meet.
signed = archive([6000] * 4)
block = 4 * C
at = signed.index(b"PK\1\2")
signed = bytearray(signed[:at] + struct.pack("<Q", block - 8) + rng.randbytes(block - 32) + struct.pack("<Q", block - 8) + b"APK Sig Block 42" + signed[at:])
signed[-6:-2] = struct.pack("<I", at + block)
plant(bytes(signed), [at // C + 2], [1, 0])
# Offsets outside the image, and an end record without a directory.
lies = bytearray(c)
at = lies.rindex(b"PK\1\2")
lies[at + 42:at + 46] = b"\xf0\xff\xff\xff"
plant(bytes(lies), [3], [1, 0], False)
image.extend(b"PK\5\6" + bytes(4) + b"\xff" * 14)
image.extend(bytes(-len(image) % C))
PY
carve_image out
check_reports out image
show_files out
for threads in 1 3; do
	carve_image out-$threads --threads $threads --chunk-size 16K
	same_results out out-$threads && echo "$threads: the same"
done
echo; echo "a piece far behind is found by a search, which looks through all of the image, and not without one"
make_pieces 22 <<'PY'
noise(2)
file = io.BytesIO()
with zipfile.ZipFile(file, "w") as out:
    for number in range(4):
        out.writestr(zipfile.ZipInfo("part%d" % number), rng.randbytes(9000).hex(), zipfile.ZIP_DEFLATED)
whole = file.getvalue()
put(whole[:4 * C], 1)
image.extend(bytes(90 << 20))
put(whole[4 * C:], 1)
expect(whole)
PY
carve_image far
carve_image far-searched --fragments=search --fragment-budget 1
show_files far
show_files far-searched
