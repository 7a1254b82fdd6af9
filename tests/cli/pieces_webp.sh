# A lossy WebP in pieces: any bytes decode, but only its own go on as it began, which proves that its pieces belong together. One that lacks
# a piece is not put together.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "webp"; header = "'RIFF' ???????? 'WEBPVP8'"; max_size = "16M"; carver = "webp"; },
);
RULES
cp "$SRCDIR/tests/golden/webp/long.webp" long.webp
make_pieces 92 <<'PY'
noise(8)
plant(open("long.webp", "rb").read(), [2, 3], [2, 0, 1])
noise(40)
PY
carve_image out --fragments=search
check_reports out image
show_files out
make_pieces 93 <<'PY'
data = open("long.webp", "rb").read()
noise(8)
put(data[:2 * C] + rng.randbytes(C) + data[3 * C:])
noise(40)
PY
carve_image lacking --fragments=search
show_files lacking
