# Pictures of one size, coded with the same tables: the head of one goes on with the tail of the other as well as with its own, which is
# not in the image. A third one's tail, with too few blocks, is accepted for long, too, so that length proves nothing.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
echo 'types = ( { name = "jpg"; header = "ff d8 ff"; max_size = "16M"; carver = "jpeg"; } );' >rules.conf
make_pieces 31 <<'PY'
def segment(marker, data):
    return bytes([255, marker]) + struct.pack(">H", len(data) + 2) + data
def block(value):
    """64 bits: a change of DC by 8 to 15 towards zero, 19 coefficients, and the end."""
    change = rng.randrange(8, 16) * (-1 if value > 0 else 1)
    bits = "0" + format(change if change > 0 else change + 15, "04b") + "".join("0" + format(rng.randrange(4), "02b") for _ in range(19)) + "10"
    return value + change, int(bits, 2).to_bytes(8, "big")
def picture(side):
    data = (b"\xff\xd8" + segment(0xdb, b"\0" + b"\1" * 64) + segment(0xc0, struct.pack(">BHHB3B", 8, side * 8, side * 8, 1, 1, 0x11, 0)) +
        segment(0xc4, bytes([0, 1, 1] + [0] * 14) + b"\4\0") + segment(0xc4, bytes([16, 1, 1] + [0] * 14) + b"\2\0") + segment(0xda, b"\1\1\0\0\x3f\0"))
    value = 0
    for _ in range(side * side):
        value, coded = block(value)
        data += coded
    return data + b"\xff\xd9"
one, other, third = picture(64), picture(64), picture(64)
noise(8)
put(other[:3 * C], 20)
put(third[4 * C:], 20)
put(one[3 * C:], 8)
expect(one)
PY
carve_image out --fragments=search
check_reports out image
show_files out
