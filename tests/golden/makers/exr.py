"""OpenEXR, attribute by attribute; data of chunks are zlib streams, or noise that stands for what other compressions make."""
import random, struct, zlib

from makers.common import save

NONE, ZIPS, ZIP, PIZ = 0, 2, 3, 4


def attribute(name, kind, value):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(value)) + value


def header(width, height, compression, more=b"", top=0):
    channels = b"Y\0" + struct.pack("<IIII", 1, 0, 1, 1) + b"\0"
    window = struct.pack("<4i", 0, top, width - 1, top + height - 1)
    return (attribute("channels", "chlist", channels) + attribute("compression", "compression", bytes([compression])) +
            attribute("dataWindow", "box2i", window) + attribute("displayWindow", "box2i", window) +
            attribute("lineOrder", "lineOrder", b"\0") + attribute("pixelAspectRatio", "float", struct.pack("<f", 1)) + more)


def tiles(width, height, mode):
    return attribute("tiles", "tiledesc", struct.pack("<IIB", width, height, mode))


def picture(head, chunks, flags=0, order=None):
    """head: up to and with its last zero. Offsets in the order of the picture, chunks in the order given."""
    start = struct.pack("<II", 20000630, 2 | flags) + head
    at = len(start) + 8 * len(chunks)
    offsets = [0] * len(chunks)
    for i, chunk in enumerate(chunks):
        offsets[order[i] if order else i] = at
        at += len(chunk)
    return start + b"".join(struct.pack("<Q", o) for o in offsets) + b"".join(chunks), len(start) + 8 * len(chunks)


def make():
    rng = random.Random(2)
    pack = lambda count: zlib.compress(rng.randbytes(count))
    noise = lambda count: bytes(rng.randrange(1, 256) for _ in range(count))

    def lines(count, step, data, top=0):
        return [struct.pack("<iI", top + i * step, len(d)) + d for i, d in enumerate(data(60 + i) for i in range(count))]

    zips, first = picture(header(30, 20, ZIPS) + b"\0", lines(20, 1, pack))
    save("exr", "zips.exr", zips)
    save("exr", "zip.exr", picture(header(30, 40, ZIP, attribute("capDate", "string", b"2010:05:06 07:08:09")) + b"\0", lines(3, 16, pack))[0], time=1273129689)
    save("exr", "window.exr", picture(header(30, 20, ZIPS, top=-7) + b"\0", lines(20, 1, pack, -7))[0])
    down = lines(20, 1, pack)[::-1]
    save("exr", "downward.exr", picture(header(30, 20, ZIPS) + b"\0", down, order=list(range(19, -1, -1)))[0])
    save("exr", "plain.exr", picture(header(30, 40, NONE) + b"\0", lines(40, 1, lambda n: noise(20)))[0])
    as_they_are = picture(header(30, 40, NONE) + b"\0", lines(40, 1, lambda n: noise(180)))[0]
    save("exr", "as-they-are.exr", as_they_are, verdict="unverified", length=len(as_they_are), why="the last 180 bytes cannot be verified")

    def tiled(places):
        return [struct.pack("<4II", *place, len(d)) + d for place, d in ((p, pack(40)) for p in places)]
    flat = [(x, y, 0, 0) for y in range(2) for x in range(3)]
    save("exr", "tiles.exr", picture(header(48, 30, ZIP, tiles(16, 16, 0)) + b"\0", tiled(flat), 0x200)[0])
    levels = flat + [(x, 0, 1, 1) for x in range(2)] + [(0, 0, l, l) for l in range(2, 6)]
    save("exr", "mipmaps.exr", picture(header(48, 30, ZIP, tiles(16, 16, 1)) + b"\0", tiled(levels), 0x200)[0])
    ripmaps = [(x, y, lx, ly) for ly in range(3) for lx in range(3) for y in range(-(-(6 >> ly) // 2)) for x in range(-(-(4 >> lx) // 2))]
    save("exr", "ripmaps.exr", picture(header(4, 6, ZIP, tiles(2, 2, 2)) + b"\0", tiled(ripmaps), 0x200)[0])
    up = [(x, y, 0, 0) for y in range(3) for x in range(3)] + [(x, y, 1, 1) for y in range(2) for x in range(2)] + [(0, 0, 2, 2), (0, 0, 3, 3)]
    save("exr", "rounded-up.exr", picture(header(5, 5, ZIP, tiles(2, 2, 0x11)) + b"\0", tiled(up), 0x200)[0])

    def part(name, kind, count, more=b""):
        return header(30, 20, ZIPS, more + attribute("name", "string", name) + attribute("type", "string", kind) +
                      attribute("chunkCount", "int", struct.pack("<I", count))) + b"\0"
    both = part(b"a", b"scanlineimage", 20) + part(b"b", b"tiledimage", 2, tiles(16, 20, 0)) + b"\0"
    chunks = [struct.pack("<I", 0) + c for c in lines(20, 1, pack)] + [struct.pack("<I", 1) + c for c in tiled([(0, 0, 0, 0), (1, 0, 0, 0)])]
    save("exr", "parts.exr", picture(both, chunks, 0x1000)[0])
    deep = [struct.pack("<iQQQ", y, 8, 12, 40) + noise(20) for y in range(20)]
    save("exr", "deep.exr", picture(header(30, 20, ZIPS, attribute("type", "string", b"deepscanline") + attribute("version", "int", b"\1\0\0\0")) + b"\0",
                                    deep, 0x800)[0])
    large, _ = picture(header(30, 20, PIZ) + b"\0", lines(1, 1, lambda n: noise(300)))
    save("exr", "one-chunk.exr", large, verdict="unverified", length=len(large), why="the last 300 bytes cannot be verified")
    for name, kind, data in (("runs", 1, noise), ("pxr24", 5, pack)):
        coded = picture(header(30, 40, kind) + b"\0", lines(40, 1, data) if kind == 1 else lines(3, 16, data))[0]
        if kind == 1:
            save("exr", name + ".exr", coded, verdict="unverified", length=len(coded), why="the last 99 bytes cannot be verified")
        else:
            save("exr", name + ".exr", coded)
    odd = bytearray(zips)
    odd[first - 8] ^= 1
    save("exr", "offsets.exr", bytes(odd), verdict="unverified", length=len(zips),
         why=f"the tables have other offsets than the chunks before {len(zips)}")

    at = [first]
    for i in range(20):
        at.append(at[-1] + 8 + struct.unpack("<I", zips[at[-1] + 4:at[-1] + 8])[0])
    cut = zips[:at[10] + 40]
    save("exr", "cut.exr", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("exr", "random.exr", cut + rng.randbytes(4000), verdict="truncated", length=at[10], why=f"no chunk at {at[11]}")
    save("exr", "wiped.exr", cut + bytes(4000), verdict="truncated", length=at[10])
    table = zips[:first - 40]
    save("exr", "in-table.exr", table, verdict="truncated", length=len(table))
    for name, where, value, why in (("magic", 0, b"\x77", "no OpenEXR file of version 2 at 0"), ("version", 4, b"\3", "no OpenEXR file of version 2 at 0"),
                                    ("flags", 6, b"\1", "unknown flags at 0"), ("name", 8, b"\1", "no attribute at 0")):
        save("exr", name + ".exr", zips[:where] + value + zips[where + 1:], verdict="reject")
    save("exr", "compression.exr", picture(header(30, 20, 99) + b"\0", [])[0], verdict="reject")
    save("exr", "no-window.exr", zips.replace(b"dataWindow", b"dataWindov"), verdict="reject")
    save("exr", "tile-size.exr", picture(header(48, 30, ZIP, tiles(0, 16, 0)) + b"\0", [], 0x200)[0], verdict="reject")
    save("exr", "attribute.exr", zips[:8] + b"channels\0chlist\0\xff\xff\xff\x7f" + zips[28:], verdict="reject")
