# AVI in pieces, put together by the index at its end: in any order. Not complete where a joint lies inside a frame, as nothing
# shows what is in it; and not where a cluster is missing.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = ( { name = "avi"; header = "'RIFF' ?? ?? ?? ?? 'AVI '"; max_size = "16M"; carver = "riff"; } );
RULES
make_pieces 33 <<'PY'
noise(2)
def box(kind, data):
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
def film(lengths):
    """A film whose frames have these lengths, and an index."""
    head = box(b"avih", struct.pack("<14I", 40000, 0, 0, 0x10, len(lengths), 0, 1, 0, 64, 48, 0, 0, 0, 0))
    head += box(b"LIST", b"strl" + box(b"strh", b"vidsMJPG" + bytes(48)) + box(b"strf", struct.pack("<IiiHH4s5I", 40, 64, 48, 1, 24, b"MJPG", 0, 0, 0, 0, 0)))
    movi, index = b"movi", b""
    for number, length in enumerate(lengths):
        kind = b"01wb" if number % 3 == 2 else b"00dc"
        index += kind + struct.pack("<III", 16, len(movi), length)
        movi += box(kind, rng.randbytes(length))
    data = b"AVI " + box(b"LIST", b"hdrl" + head) + box(b"LIST", movi) + box(b"idx1", index)
    return b"RIFF" + struct.pack("<I", len(data)) + data
small = lambda: film([rng.randint(100, 900) for _ in range(80)])
a, b, c, d = (small() for _ in range(4))
plant(a, [3, 6, 8], [0, 1, 2, 3])
plant(b, [2, 5], [1, 2, 0])
plant(c, [4, 6], [2, 0, 1])
# The pieces meet inside a long frame.
plant(film([300] * 9 + [30000] + [400] * 20), [4], [1, 0])
# A cluster of the second piece is missing.
plant(d[:4 * C] + d[5 * C:], [2], [0, 1], False)
PY
carve_image out
check_reports out image
show_files out
for threads in 1 3; do
	carve_image out-$threads --threads $threads --chunk-size 16K
	same_results out out-$threads && echo "$threads: the same"
done
