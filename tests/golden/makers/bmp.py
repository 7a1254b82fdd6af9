"""BMP. Pillow's encoder, and headers of all kinds by hand."""
import random, struct

from makers.common import encoded, picture, save


def row_len(width, bits):
    return (width * bits + 31) // 32 * 4


def pixels(width, height, bits):
    return b"".join(bytes((x * 3 + y * 7) & 255 for x in range(row_len(width, bits))) for y in range(height))


def header(length, width, height, bits, compression=0, image_len=0, used=0, planes=1):
    if length == 12:
        return struct.pack("<IHHHH", 12, width, height, planes, bits)
    out = struct.pack("<IiiHHIIIIII", length, width, height, planes, bits, compression, image_len, 2835, 2835, used, 0)
    return (out + bytes(124))[:length]


def bmp(dib, colours, data, size=None, offset=None, behind=b""):
    at = 14 + len(dib) + len(colours) if offset is None else offset
    whole = 14 + len(dib) + len(colours) + len(data) + len(behind)
    return struct.pack("<2sIII", b"BM", whole if size is None else size, 0, at) + dib + colours + data + behind


def rle8(height):
    """Rows of 20 pixels: runs, and some as they are."""
    row = bytes([9, 5, 0, 5, 1, 2, 3, 4, 5, 0, 6, 7, 0, 0])
    return row * (height - 2) + bytes([0, 2, 3, 1, 4, 4, 0, 0]) + b"\0\1"


def wiped_colours():
    """Zeros from the colours up to where another file begins among the pixels."""
    data = bmp(header(40, 40, 40, 8), bytes(range(256)) * 4, pixels(40, 40, 8))
    return data[:1024] + bytes(1024) + data[2048:]


def make():
    for mode, name in (("L", "grey"), ("RGB", "rgb"), ("1", "bilevel"), ("P", "palette")):
        data = encoded(picture(mode), format="BMP")
        save("bmp", name + ".bmp", data, unchecked=34)
    for length, width, height, bits, colours in ((12, 40, 30, 8, 768), (12, 21, 10, 24, 0), (16, 40, 10, 4, 64), (64, 40, 10, 8, 1024),
                                                 (40, 33, -12, 32, 0), (40, 20, 12, 16, 0), (40, 20, 4, 64, 0), (40, 20, 12, 2, 16),
                                                 (52, 20, 12, 32, 0), (56, 20, 12, 32, 0), (108, 20, 12, 16, 0), (124, 20, 12, 24, 0)):
        dib = header(length, width, height, bits, 3 if length in (52, 56) else 0)
        data = bmp(dib, bytes(colours), pixels(width, abs(height), bits))
        save("bmp", f"header-{length}-{bits}.bmp", data, unchecked=14 + min(length, 20))
    masks = struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    save("bmp", "bitfields.bmp", bmp(header(40, 20, 12, 16, 3), masks, pixels(20, 12, 16)), unchecked=34, unverified="54-546")
    save("bmp", "used.bmp", bmp(header(40, 20, 12, 8, used=3), bytes(12), pixels(20, 12, 8)), unchecked=34)
    os2 = bmp(header(64, 20, 12, 8), bytes(1024), pixels(20, 12, 8), size=78)
    save("bmp", "os2-size.bmp", os2, unchecked=34)
    core = bmp(header(12, 40, 30, 8), bytes(range(256)) * 3, pixels(40, 30, 8), size=794 + 700)
    save("bmp", "core-size.bmp", core, verdict="unverified", length=len(core))
    save("bmp", "no-size.bmp", bmp(header(40, 20, 12, 24), b"", pixels(20, 12, 24), size=0), unchecked=34)
    save("bmp", "extra.bmp", bmp(header(40, 20, 12, 24), b"", pixels(20, 12, 24), behind=b"\0\0"), unchecked=34)
    coded = rle8(12)
    whole = bmp(header(40, 20, 12, 8, 1, len(coded), 8), bytes(32), coded)
    save("bmp", "rle8.bmp", whole, unverified="54-86")
    rle4 = bytes([20, 0x12, 0, 0] * 11 + [0, 7, 0x12, 0x34, 0x56, 0x70, 0, 1])
    save("bmp", "rle4.bmp", bmp(header(40, 20, 12, 4, 2, len(rle4), 8), bytes(32), rle4))
    rle24 = bytes([20, 1, 2, 3, 0, 0] * 11 + [0, 3] + [9] * 9 + [0, 0, 1])
    save("bmp", "rle24.bmp", bmp(header(64, 20, 12, 24, 4, len(rle24)), b"", rle24))
    smooth = bytes(min(255, x + y) for y in range(64) for x in range(96))
    # Another file begins at a sector; bytes unlike the others elsewhere may be the picture's.
    for lost, verdict in ((566, "truncated"), (300, "unverified"), (40, "unverified")):
        data = bmp(header(40, 32, 64, 24), b"", smooth[:len(smooth) - lost] + random.Random(lost).randbytes(lost))
        expected = dict(length=len(data)) if verdict == "unverified" else dict(length_min=len(data) - lost - 32, length_max=len(data) - lost + 32)
        save("bmp", f"end-random-{lost}.bmp", data, verdict=verdict, **expected)
    # Random bytes that fill sectors between others are another file's; those that do not, or a gradient, may be the picture's.
    plain = bmp(header(40, 32, 64, 24), b"", smooth)
    other = random.Random(3).randbytes(1024)
    save("bmp", "sectors-random.bmp", plain[:2048] + other + plain[3072:], verdict="truncated", length=2048, why="bytes unlike the pixels before at 2048")
    save("bmp", "some-random.bmp", plain[:2148] + other[:700] + plain[2848:], unchecked=34)
    steep = bytes(i * 5 // 4 % 256 for i in range(1024))
    save("bmp", "sectors-gradient.bmp", plain[:2048] + steep + plain[3072:], unchecked=34)
    # From a cluster on the bytes of another file, which resemble each other as pixels do; and one that is known by how it begins.
    slope = bmp(header(40, 80, 48, 24), b"", bytes(min(255, x // 3 + y) for y in range(48) for x in range(240)))
    other = b"".join(struct.pack("<HH", 0x8000 + i * i % 7919, 0xc0de) for i in range(2000))
    save("bmp", "other-behind.bmp", slope[:4096] + other[:len(slope) - 4096], verdict="truncated", length=4096, why="bytes unlike the pixels before at 4096")
    save("bmp", "head-behind.bmp", slope[:4608] + b"%PDF-1.4\n" + slope[4617:], verdict="truncated", length=4608, why="bytes unlike the pixels before at 4608")
    # Rows that continue over the starts of two clusters, and such as another picture of another width has from one on.
    relief = [[min(255, 40 + 9 * (x * x // 50 % 13) + y // 8 + (x * 7 + y) % 3) for x in range(240)] for y in range(48)]
    rows = bmp(header(40, 80, 48, 24), b"", b"".join(bytes(row) for row in relief))
    save("bmp", "rows.bmp", rows, unchecked=34)
    white = bmp(header(40, 80, 48, 24), b"", (b"".join(bytes(row) for row in relief)[:7500]).ljust(48 * 240, b"\xff"))
    save("bmp", "white-end.bmp", white, verdict="unverified", length=len(white), why=f"the last pixels before {len(white)} cannot be verified")
    turned = b"".join(bytes(row[100:] + row[:100]) for row in relief)
    save("bmp", "rows-behind.bmp", rows[:8192] + turned[8192 - 54:], verdict="unverified", length=len(rows),
         why=f"the last pixels before {len(rows)} cannot be verified")
    # A palette in no order: its pixels resemble those beside them by their colours, not by their numbers.
    numbers = list(range(256))
    random.Random(7).shuffle(numbers)
    shades = b"".join(bytes([numbers.index(i)] * 3 + [0]) for i in range(256))
    grain = random.Random(8)
    hill = [bytes(numbers[min(255, 2 * abs(x - 80) + y // 2 + grain.randrange(5))] for x in range(160)) for y in range(100)]
    shuffled = bmp(header(40, 160, 100, 8), shades, b"".join(hill))
    save("bmp", "shuffled.bmp", shuffled, unchecked=34)
    shifted = b"".join(row[50:] + row[:50] for row in hill)
    save("bmp", "shuffled-behind.bmp", shuffled[:8192] + shifted[8192 - 1078:], verdict="unverified", length=len(shuffled),
         why=f"the last pixels before {len(shuffled)} cannot be verified")
    save("bmp", "rle-no-end.bmp", bmp(header(40, 20, 12, 8, 1, len(coded) - 2, 8), bytes(32), coded[:-2]), verdict="unverified", length=86 + len(coded) - 2,
         why=f"run-length codes without an end before {86 + len(coded) - 2}")
    profile = bytearray(header(124, 20, 12, 24))
    profile[56:60] = b"DEBM"
    profile[112:120] = struct.pack("<II", 124 + 720, 200)
    colours = struct.pack(">I", 200).ljust(36, b"\1") + b"acsp" + bytes(i // 4 + 1 for i in range(160))
    save("bmp", "profile.bmp", bmp(bytes(profile), b"", pixels(20, 12, 24), behind=colours), unchecked=34)

    plain = header(40, 20, 12, 24, image_len=720)
    save("bmp", "size-differs.bmp", bmp(plain, b"", pixels(20, 12, 24), size=9999), verdict="unverified", length=774,
         why="the size at 2 is 9999, but the picture ends at 774")
    save("bmp", "sizes-differ.bmp", bmp(header(40, 20, 12, 24, image_len=99), b"", pixels(20, 12, 24), size=9999), verdict="reject",
         why="a size that does not fit the picture")
    save("bmp", "cut.bmp", bmp(plain, b"", pixels(20, 12, 24))[:400], verdict="truncated", length=400,
         why="the image ends at 400, before the file does")
    large = bmp(header(40, 40, 40, 24), b"", pixels(40, 40, 24))
    larger = bmp(header(40, 90, 100, 24), b"", pixels(90, 100, 24))
    words = (b"Not pixels, but the text of a letter that was written over them. " * 60)[:len(large) - 2048]
    for name, data, expected in (
            ("wiped", large[:2048] + bytes(len(large) - 2048), dict(verdict="truncated", length=2048, why="zeros instead of pixels at 2048")),
            ("text-behind", large[:2048] + words, dict(verdict="truncated", length=2048, why="text instead of pixels at 2048")),
            ("black-end", large[:2000] + bytes(len(large) - 2000), dict(
                verdict="unverified", length=len(large), why="zeros from 2048 on: the picture's own, or its end was wiped")),
            ("wiped-between", large[:2048] + bytes(1024) + large[3072:], dict(
                verdict="unverified", length=len(large), why="zeros from 2048 on: the picture's own, or its end was wiped")),
            ("wiped-cluster", larger[:8192] + bytes(8192) + larger[16384:], dict(
                verdict="truncated", length=8192, why="zeros instead of pixels at 8192")),
            ("wiped-colours", wiped_colours(), dict(verdict="unverified"))):
        save("bmp", name + ".bmp", data, **expected)
    wide = bmp(header(40, 200, 120, 8), bytes(1024), pixels(200, 120, 8))
    rng = random.Random(2)
    save("bmp", "random-behind.bmp", wide[:13000] + rng.randbytes(13000), verdict="truncated", length_min=12000, length_max=14100)
    tall = bmp(header(40, 20, 200, 8, 1, 14 * 199, 8), bytes(32), rle8(200))
    for name, junk in (("random", rng.randbytes(2000)), ("zeros", bytes(2000)), ("ff", b"\xff" * 2000)):
        save("bmp", f"rle-{name}-behind.bmp", tall[:1500] + junk, verdict="truncated", length_min=1480, length_max=1600)
    for name, dib, why in (("planes", header(40, 20, 12, 24, planes=2), "a bitmap whose number of planes is not 1"),
                           ("width", header(40, 0, 12, 24), "a bitmap of an impossible size"),
                           ("height", header(40, 20, 0, 24), "a bitmap of an impossible size"),
                           ("depth", header(40, 20, 12, 23), "a bitmap of an impossible depth or compression"),
                           ("compression", header(40, 20, 12, 24, 1), "a bitmap of an impossible depth or compression"),
                           ("colours", header(40, 20, 12, 24, used=1 << 20), "a bitmap with an impossible number of colours"),
                           ("header", header(41, 20, 12, 24), "an unknown kind of bitmap header")):
        save("bmp", f"bad-{name}.bmp", bmp(dib, b"", pixels(20, 12, 24)), verdict="reject", why=why)
    save("bmp", "bad-offset.bmp", bmp(plain, b"", pixels(20, 12, 24), offset=1 << 21), verdict="reject", why="pixels that start too late")
