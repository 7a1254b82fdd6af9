# An archive of which there is only the head, with a long stored member, seems to go on over the pieces of another one, as all of it is
# text. The other one is put together all the same. So is, by a search, a picture whose head alone is none, as its directory is at
# its end; near ones are only looked for if a file broke off, and taken if there is no doubt.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
  { name = "tiff"; header = "'II' 2a 00"; max_size = "16M"; carver = "tiff"; },
);
RULES
make_pieces 31 <<'PY'
def text(size):
    return " ".join("%06d" % rng.randrange(10**6) for _ in range(size // 7 + 1)).encode()[:size]
def archive(sizes):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for number, size in enumerate(sizes):
            out.writestr(zipfile.ZipInfo("part%d" % number, (2020, 1, 1, 0, 0, 0)), text(size))
    return file.getvalue()
whole = archive([rng.randint(3000, 6000) for _ in range(6)])
image.extend(text(2 * C))
for piece in (archive([80000])[:C], whole[:2 * C], whole[2 * C:]):
    image.extend(piece)
    image.extend(text(-len(image) % C + C))
def picture(side):
    """An uncompressed TIFF whose only directory is at its end."""
    pixels = bytes((x * y // 40 + rng.randrange(3)) & 255 for y in range(side) for x in range(side))
    tags = [(256, 3, 1, side), (257, 3, 1, side), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1), (278, 3, 1, side), (279, 4, 1, len(pixels))]
    pixels += bytes(len(pixels) % 2)
    return (b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + struct.pack("<H", len(tags)) +
        b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4))
copied = picture(150)
put(copied[:3 * C], 2)
put(copied[3 * C:], 2)
expect(whole)
expect(copied)
PY
for level in near search; do
	echo --- $level
	carve_image $level --fragments=$level
	check_reports $level image
	show_files $level
done
