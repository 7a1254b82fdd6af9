# Pieces anywhere. Text after the break of a gzip file decodes for long: the break is found where the content changes. Frames of MPEG
# audio go on before the first ones, for less than a cluster. Samples are put together, though nothing verifies them. A font's outlines show
# where three pieces meet in one table; a film's description, at its end, where its samples do.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "mp3"; header = "ff fb"; max_size = "16M"; carver = "mp3"; },
  { name = "wav"; header = "'RIFF' ?? ?? ?? ?? 'WAVE'"; max_size = "16M"; carver = "riff"; },
  { name = "ttf"; header = "00 01 00 00 00"; max_size = "16M"; carver = "sfnt"; },
  { name = "mp4"; header = "00 00 00 ?? 'ftyp'"; max_size = "16M"; carver = "mp4"; },
);
RULES
make_pieces 28 <<'PY'
def text(size):
    return " ".join(rng.choice(["noon", "disk", "nothing", "found"]) for _ in range(size // 4)).encode()[:size]
noise(8)
digits = "".join("%d" % rng.randrange(10) for _ in range(60000)).encode()
packed = b"\x1f\x8b\x08\0" + bytes(6) + zlib.compress(digits, 9)[2:-4] + struct.pack("<II", zlib.crc32(digits), len(digits))
image.extend(packed[:3 * C] + text(24 * C))
put(packed[3 * C:], 4)
expect(packed)
frame = lambda: b"\xff\xfb\x90\x64" + bytes(32) + bytes(b & 0x7f for b in rng.randbytes(381))
audio = b"".join(frame() for _ in range(25))
plant(audio, [2], [1, 0])
PY
carve_image out --fragments=search
check_reports out image
show_files out
make_pieces 29 <<'PY'
noise(8)
samples = b"".join(struct.pack("<h", int(9000 * math.sin(i / 40) + rng.randrange(99))) for i in range(10000))
plant(b"RIFF" + struct.pack("<I4s4sI2H2I2H", len(samples) + 36, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16) +
    b"data" + struct.pack("<I", len(samples)) + samples, [2], [0, 1])
PY
carve_image samples --fragments=search
check_reports samples image
show_files samples
make_pieces 30 <<'PY'
noise(8)
glyph = lambda: struct.pack(">9h", 1, 0, -100, 500, 700, 2, 0, 0x101, 0x100) + rng.randbytes(11) + bytes(3)
places = struct.pack(">1601I", *range(0, 32 * 1601, 32))
tables = [(b"cmap", rng.randbytes(600)), (b"glyf", b"".join(glyph() for _ in range(1600))), (b"head", rng.randbytes(8) + bytes(4) + b"\x5f\x0f\x3c\xf5" + rng.randbytes(34) + b"\0\1"),
    (b"hhea", bytes(35) + b"\1"), (b"hmtx", b"\x01\xf4" + bytes(2 + 2 * 1600)), (b"loca", places), (b"post", rng.randbytes(4000))]
at, directory, body = 12 + 16 * len(tables), b"\0\1\0\0" + struct.pack(">H6x", len(tables)), b""
for tag, table in tables:
    directory += tag + struct.pack(">3I", sum(struct.unpack(">%dI" % (len(table) // 4), table)) & 0xffffffff, at + len(body), len(table))
    body += table
plant(directory + body, [3, 8], [2, 0, 1])
PY
carve_image font --fragments=search
check_reports font image
show_files font
make_pieces 31 <<'PY'
def box(kind, *parts):
    data = b"".join(parts)
    return struct.pack(">I4s", len(data) + 8, kind) + data
def full(kind, *numbers):
    return box(kind, bytes(4), *(struct.pack(">I", number) for number in numbers))
noise(8)
samples = [struct.pack(">IB", size, 0x41) + rng.randbytes(size - 1) for size in (rng.randint(300, 900) for _ in range(120))]
coding = box(b"avc1", bytes(6), b"\0\1", bytes(16), struct.pack(">2H", 64, 64), bytes(50), box(b"avcC", b"\1\x42\0\x1e\xff\xe0\0"))
table = box(b"stbl", box(b"stsd", bytes(7), b"\1", coding), full(b"stts", 1, len(samples), 40), full(b"stsc", 1, 1, len(samples), 1),
    full(b"stsz", 0, len(samples), *map(len, samples)), full(b"stco", 1, 40))
track = box(b"trak", full(b"tkhd", 0, 0, 1, *[0] * 17), box(b"mdia", full(b"mdhd", 0, 0, 1000, 4800, 0), box(b"hdlr", bytes(8), b"vide", bytes(13)),
    box(b"minf", full(b"vmhd", 0, 0), box(b"dinf", box(b"dref", bytes(7), b"\1", full(b"url "))), table)))
film = box(b"ftyp", b"isom", bytes(4), b"isomavc1mp41mp42") + box(b"mdat", b"".join(samples)) + box(b"moov", full(b"mvhd", 0, 0, 1000, 4800, *[0] * 20), track)
plant(film, [4, 9, 12], [2, 0, 3, 1])
noise(20)
PY
carve_image film --fragments=search
check_reports film image
show_files film
