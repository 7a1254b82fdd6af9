# Samples and pixels, which no carver verifies, in turns: each cluster shows which one follows it, and in a recording all places
# between clusters together prove it. A recording and a picture of which a cluster was overwritten are not put together. A TIFF
# has its directory at its end.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "wav"; header = "'RIFF' ???????? 'WAVE'"; max_size = "16M"; carver = "riff"; },
  { name = "au"; header = "'.snd'"; max_size = "16M"; carver = "au"; },
  { name = "pnm"; header = "'P6' 0a"; max_size = "16M"; carver = "pnm"; },
  { name = "bmp"; header = "'BM' ???????? 00 00 00 00 ???? 00 00"; max_size = "16M"; carver = "bmp"; },
  { name = "tiff"; header = "'II' 2a 00"; max_size = "16M"; carver = "tiff"; },
);
RULES
make_pieces 47 <<'PY'
def wav(count):
    tones = [(rng.uniform(0.02, 0.3), rng.uniform(0, 6)) for _ in range(6)]
    data = b"".join(struct.pack("<h", int(sum(2500 * math.sin(f * i + p) for f, p in tones)) + rng.randrange(16)) for i in range(count))
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 22050, 44100, 2, 16) + b"data" + struct.pack("<I", len(data)) + data
def bmp(width, height):
    waves = [(rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2), rng.uniform(0, 6)) for _ in range(6)]
    data = b"".join(bytes(int(128 + sum(18 * math.sin(a * x + b * y + c * p) for a, b, p in waves)) + rng.randrange(6) for x in range(width) for c in range(3)) for y in range(height))
    return b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(data), 2835, 2835, 0, 0) + data
def tiff(width, height):
    data = bmp(width, height)[54:]
    tags = [(254, 4, 1, 0), (256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8), (277, 3, 1, 3), (278, 3, 1, height), (279, 4, 1, len(data))]
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4)
def in_turns(one, other, cuts):
    """Pieces of both, cut at these clusters, one after the other."""
    for a, b in zip([0] + cuts, cuts + [64]):
        for data in one, other:
            if data[a * C:b * C]:
                put(data[a * C:b * C])
    noise(3)
first, second, third, fourth = wav(30000), bmp(140, 140), wav(20000), bmp(120, 120)
fifth = wav(24000)[44:]
fifth = b".snd" + struct.pack(">5I", 24, len(fifth), 3, 22050, 1) + struct.pack(">24000h", *struct.unpack("<24000h", fifth))
sixth = b"P6\n140 130\n255\n" + bmp(140, 130)[54:]
noise(2)
in_turns(fifth, sixth, [3, 7])
expect(fifth)
expect(sixth)
in_turns(first, second, [3, 4, 9])
expect(first)
expect(second)
seventh, eighth = tiff(140, 120), wav(16000)
in_turns(seventh, eighth, [3, 5, 8])
expect(seventh)
expect(eighth)
in_turns(third, fourth, [2, 6])
for data in third, fourth:
    at = image.index(data[3 * C:4 * C])
    image[at:at + C] = rng.randbytes(C)
PY
carve_image out --fragments=search
check_reports out image
show_files out '"assembly"'
