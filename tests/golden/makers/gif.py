"""GIF. Pillow's encoder, and blocks by hand."""
import random, struct

from makers.common import encoded, landscape, picture, save


def lzw(pixels, size=8):
    """Pixels as codes of size + 1 bits each, with a clear before the table grows: no compression at all."""
    bits = count = 0
    out = bytearray()
    codes = []
    for i, pixel in enumerate(pixels):
        if i % ((1 << size) - 2) == 0:
            codes.append(1 << size)
        codes.append(pixel)
    codes.append((1 << size) + 1)
    for code in codes:
        bits |= code << count
        count += size + 1
        while count >= 8:
            out.append(bits & 255)
            bits >>= 8
            count -= 8
    return bytes(out) + bytes([bits & 255] if count else [])


def blocks(data):
    return b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"


def extension(label, *parts):
    return b"\x21" + bytes([label]) + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def screen(width, height, version=b"89a", flags=0x91):
    return b"GIF" + version + struct.pack("<HHBBB", width, height, flags, 0, 0) + bytes(range(12))


def image(width, height, data, flags=0, size=2):
    return struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, flags) + (bytes(6) if flags & 0x80 else b"") + bytes([size]) + blocks(data)


def make():
    whole = encoded(picture("L"), format="GIF")
    save("gif", "grey.gif", whole)
    save("gif", "palette.gif", encoded(picture("P", (60, 50)), format="GIF", comment=b"Golden comment"), title="Golden comment")
    save("gif", "interlaced.gif", encoded(picture("L"), format="GIF", interlace=True))
    save("gif", "rows.gif", encoded(landscape().quantize(64), format="GIF"))
    frames = [picture("P", (24, 20)), picture("L", (24, 20)).convert("P")]
    save("gif", "animated.gif", encoded(frames[0], format="GIF", save_all=True, append_images=frames[1:], loop=0, duration=50))
    rng = random.Random(1)
    dots = [rng.randrange(4) for _ in range(30 * 20)]
    control = extension(0xF9, b"\0\5\0\0")
    xmp = b"\x21\xff\x0bXMP DataXMP<x:xmpmeta/>" + bytes([1]) + bytes(range(255, -1, -1)) + b"\0"
    plain = extension(1, bytes(12), b"text")
    save("gif", "87a.gif", screen(30, 20, b"87a") + image(30, 20, lzw(dots, 2)) + b";")
    save("gif", "extensions.gif", screen(30, 20) + extension(0xFF, b"NETSCAPE2.0", b"\1\0\0") + xmp + control + plain +
         extension(0xFE, b"one", b"two") + control + image(30, 20, lzw(dots, 2)) + extension(0x99, b"unknown") + b";", title="one")
    own = struct.pack("<6sHHBBB", b"GIF89a", 30, 20, 0, 0, 0) + image(30, 20, lzw([dot & 1 for dot in dots], 2), 0x80)
    save("gif", "own-colours.gif", own + b";")
    short = screen(30, 20) + control + image(30, 20, lzw(dots[:300], 2))
    save("gif", "little-data.gif", short + b";", why=f"too little data in the picture at {13 + 12 + 8}")
    save("gif", "stray-zeros.gif", screen(30, 20) + image(30, 20, lzw(dots, 2)) + b"\0\0" + control + image(30, 20, lzw(dots, 2)) + b"\0;")
    # Codes that the table cannot have: the walk goes on by the blocks.
    data = lzw(dots, 2)
    at = 13 + 12 + 10 + 1 + 1
    damaged = screen(30, 20) + image(30, 20, data[:50] + b"\xff" * 50 + data[100:]) + b";"
    save("gif", "codes.gif", damaged, verdict="unverified", length=len(damaged), why=f"the picture's LZW data is invalid at {at + 50}")
    save("gif", "excess.gif", screen(30, 19) + image(30, 19, data) + b";", verdict="unverified", length_min=200)
    middle = len(whole) * 2 // 3
    save("gif", "cut.gif", whole[:middle], verdict="truncated", length=middle, why=f"the image ends at {middle}, before the file does")
    for name, junk in (("random", rng.randbytes(3000)), ("zeros", bytes(3000)), ("ff", b"\xff" * 3000), ("text", b"Now for something else. " * 130),
                       ("gif", encoded(picture("1"), format="GIF"))):
        save("gif", name + "-behind.gif", whole[:middle] + junk, verdict="truncated", length_min=middle - 1, length_max=middle + (600 if name == "gif" else 60))
    trailer = whole[:-1]
    save("gif", "no-trailer.gif", trailer + b"\0" * 100, verdict="truncated", length_min=len(trailer) - 3, length_max=len(trailer), why=f"no block at {len(trailer) + 16}")
    save("gif", "no-picture.gif", screen(30, 20) + control + b";", verdict="reject", why="no picture before the trailer at 34")
    save("gif", "control-length.gif", screen(30, 20) + extension(0xF9, b"\0\5\0") + image(30, 20, data) + b";", verdict="reject",
         why="an extension of the wrong length at 31")
    save("gif", "control-long.gif", screen(30, 20) + extension(0xF9, b"\0\5\0\0", b"x") + image(30, 20, data) + b";", verdict="reject",
         why="a graphic control extension with more than one sub-block at 34")
    save("gif", "no-size.gif", screen(30, 20) + image(30, 0, data) + b";", verdict="reject", why="an impossible picture at 25")
    save("gif", "code-size.gif", screen(30, 20) + image(30, 20, data, size=12) + b";", verdict="reject", why="an impossible LZW code size at 35")
    save("gif", "version.gif", screen(30, 20, b"88a") + image(30, 20, data) + b";", verdict="reject", why="no GIF signature at 0")
