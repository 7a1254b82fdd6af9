"""Icons and cursors. Pillow's encoder, and entries by hand."""
import random, struct

from makers.common import encoded, picture, save
from makers.bmp import header, pixels, row_len


def bitmap(width, height, bits, mask=True, behind=b""):
    """As in an icon: twice the height, colours, pixels, a mask of one bit each."""
    colours = bytes(4 << bits) if bits <= 8 else b""
    masks = bytes(row_len(width, 1) * height) if mask else b""
    return header(40, width, 2 * height, bits) + colours + pixels(width, height, bits) + masks + behind


def icon(images, kind=1, reserved=0, gap=0):
    """images: (width, height, bits, data)."""
    at = 6 + 16 * len(images) + gap
    out = struct.pack("<HHH", 0, kind, len(images))
    for width, height, bits, data in images:
        out += struct.pack("<BBBBHHII", width & 255, height & 255, 0, reserved, 1, bits, len(data), at)
        at += len(data)
    return out + bytes(max(0, gap)) + b"".join(data for _, _, _, data in images)


def sizes(*bits):
    return [(16, 16, b, bitmap(16, 16, b)) for b in bits]


def make():
    png = encoded(picture("RGB", (32, 32)), format="PNG")
    save("ico", "pillow.ico", encoded(picture("RGBA", (32, 32)), format="ICO", sizes=[(16, 16), (32, 32)]), extension="ico", unchecked=100)
    # Of a bitmap all after its header of 40 bytes; of a PNG what is between its first and its last chunk.
    bitmaps = sizes(1, 4, 8, 24, 32)
    ends = [6 + 16 * 5 + sum(len(image[3]) for image in bitmaps[:i]) for i in range(6)]
    save("ico", "bitmaps.ico", icon(bitmaps), extension="ico", unchecked=40, unverified=" ".join(f"{a + 40}-{b}" for a, b in zip(ends, ends[1:])))
    save("ico", "png.ico", icon([(32, 32, 32, png)]), extension="ico", unchecked=38, unverified=f"38-{22 + len(png) - 12}")
    both = icon(sizes(8) + [(32, 32, 32, png)])
    save("ico", "both.ico", both, extension="ico", unchecked=40, embedded=f"38 {len(both) - len(png)}")
    save("ico", "cursor.cur", icon([(32, 32, 5, bitmap(32, 32, 1))], kind=2), extension="cur", unchecked=40)
    save("ico", "no-mask.ico", icon([(16, 16, 32, bitmap(16, 16, 32, mask=False))]), extension="ico", unchecked=40)
    save("ico", "wide-mask.ico", icon([(16, 16, 32, bitmap(16, 16, 32, behind=bytes(128)))]), extension="ico", unchecked=40)
    save("ico", "reserved.ico", icon(sizes(8), reserved=255), extension="ico", unchecked=40)
    whole = icon(sizes(4, 8, 32))
    save("ico", "cut.ico", whole[:2000], verdict="truncated", length=2000, why="the image ends at 2000, before the file does", extension="ico")
    rng = random.Random(4)
    second = 6 + 48 + 296
    save("ico", "random-behind.ico", whole[:second] + rng.randbytes(3000), verdict="truncated", length=second,
         why=f"an unknown kind of bitmap header at {second}")
    save("ico", "zeros-behind.ico", whole[:second] + bytes(3000), verdict="truncated", length=second)
    end = 22 + len(png) - 12
    save("ico", "png-end.ico", icon([(32, 32, 32, png)])[:end] + rng.randbytes(12), verdict="truncated", length=end, why=f"a PNG without its end at {end}")
    large = icon([(64, 64, 32, bitmap(64, 64, 32))])
    save("ico", "noise.ico", large[:6200] + rng.randbytes(len(large) - 6200), verdict="truncated", length_min=5000, length_max=7300)
    small = icon([(16, 16, 32, bitmap(16, 16, 32))])
    save("ico", "mask-noise.ico", small[:512] + rng.randbytes(len(small) - 512), verdict="truncated", length=len(small) - 64,
         why=f"a mask of random bits at {len(small) - 64}")
    shape = b"".join(struct.pack(">I", (0xffff >> y | 0xffff << 24 - y & 0xffff) << 16) for y in range(16)) # as drawn programs have it
    save("ico", "mask-shape.ico", icon([(16, 16, 8, bitmap(16, 16, 8)[:-64] + shape)]), extension="ico", unchecked=100)
    for name, at, expected in (("wiped", 9216, dict(verdict="truncated", length=9216, why="other bytes than pixels at 9216")),
                               ("end-zeros", 9000, dict(verdict="unverified", length=len(large), why="the last image ends in zeros, as if wiped"))):
        save("ico", name + ".ico", large[:at] + bytes(len(large) - at), **expected)
    # A cluster starts in the mask, whose zeros do not show whether its end is there. An image after it does.
    masked = bitmap(32, 31, 32)
    save("ico", "mask-cluster.ico", icon([(32, 31, 32, masked)]), verdict="unverified", length=22 + len(masked),
         why="nothing verifies the last pixels of the last image")
    save("ico", "mask-inside.ico", icon([(32, 31, 32, masked)] + sizes(4)), extension="ico", unchecked=40)
    # From a sector on the mask, or what follows it, is not as what is before: shows through where pixels are opaque, in what
    # fills a row, or after the last one. The whole of it continues all the same.
    opaque = icon([(48, 48, 24, bitmap(48, 48, 24))])
    masks = len(opaque) - 384
    sector = (masks + 511) // 512 * 512
    changed = "a mask that changes at a sector, as if the rest were another file's"
    for name, row in (("opaque", b"\x18" * 6 + bytes(2)), ("filling", bytes(7) + b"\x80")):
        rows = (row * 48)[(sector - masks) % 8:][:len(opaque) - sector]
        save("ico", f"mask-{name}.ico", opaque[:sector] + rows, verdict="unverified", length=len(opaque), why=changed)
    save("ico", "mask-after.ico", icon([(16, 16, 24, bitmap(16, 16, 24, behind=bytes(100) + b"\x0f\xf8\0\0" * 20))]),
         verdict="unverified", length=22 + 872 + 180, why=changed)
    save("ico", "width.ico", icon([(17, 16, 8, bitmap(16, 16, 8))]), verdict="unverified", length=22 + 1384,
         why="an image of another width than in its entry")
    two = icon([(16, 16, 4, bitmap(16, 16, 4)), (16, 16, 8, bitmap(16, 16, 8)[:600])])
    save("ico", "second-length.ico", two, verdict="unverified", length=len(two), why="a bitmap of another length than in its entry")
    for name, data, why in (("first-length", icon([(16, 16, 8, bitmap(16, 16, 8)[:600])]), "a bitmap of another length than in its entry at 22"),
                            ("compressed", icon([(16, 16, 8, header(40, 16, 32, 8, 1) + bytes(1400))]), "a bitmap that does not occur in icons at 22"),
                            ("none", struct.pack("<HHH", 0, 1, 0) + bytes(100), "no header of an icon at 0"),
                            ("kind", icon(sizes(8), kind=3), "no header of an icon at 0"),
                            ("entry", icon(sizes(8), reserved=7), "an impossible entry at 6"),
                            ("offset", icon(sizes(8), gap=-4), "an impossible entry at 6"),
                            ("zeros", struct.pack("<HHH", 0, 1, 1) + bytes(100), "an impossible entry at 6")):
        save("ico", f"bad-{name}.ico", data, verdict="reject", why=why)
