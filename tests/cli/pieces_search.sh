# Pieces anywhere. Text after the break of a gzip file decodes for long: the break is found where the content changes. Frames of MPEG
# audio go on before the first ones, for less than a cluster. Samples are put together, though nothing verifies them.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "gz"; header = "1f 8b 08"; max_size = "16M"; carver = "gz"; },
  { name = "mp3"; header = "ff fb"; max_size = "16M"; carver = "mp3"; },
  { name = "wav"; header = "'RIFF' ?? ?? ?? ?? 'WAVE'"; max_size = "16M"; carver = "riff"; },
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
