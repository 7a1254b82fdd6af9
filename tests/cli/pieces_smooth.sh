# A picture that nothing verifies, whose pixels at 12 KiB rise like ext2's pointers, but go on: it is in one piece.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "pnm"; header = "'P5' 0a 3?"; max_size = "16M"; carver = "pnm"; },
);
RULES
make_pieces 3 <<'PY'
noise(2)
pixels = bytearray(121 + (x // 40 + y) % 6 for y in range(150) for x in range(200))
pixels[12288 - 15:12288 - 7] = b"yzzzzzzz"  # 7a7a7a79h and the next number, little-endian
picture = b"P5\n200 150\n255\n" + pixels
assert picture[12288:12296] == b"yzzzzzzz"
put(picture + bytes(2 * C))
noise(3)
expect(picture)
PY
carve_image out --fragments=known
check_reports out image
show_files out
