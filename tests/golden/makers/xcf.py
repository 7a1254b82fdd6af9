"""XCF, structure by structure in the order in which GIMP writes them."""
import random, struct, zlib

from makers.common import save

NONE, RUNS, STREAM = 0, 1, 2


def prop(kind, data=b""):
    return struct.pack(">II", kind, len(data)) + data


def runs(plane, rng):
    out, at = b"", 0
    while at < len(plane):
        count = 1
        while at + count < len(plane) and plane[at + count] == plane[at]:
            count += 1
        if count > 127:
            out += b"\x7f" + struct.pack(">H", count) + plane[at:at + 1]
        elif count > 1:
            out += bytes([count - 1]) + plane[at:at + 1]
        elif at + 1 == len(plane):
            out += b"\0" + plane[at:]
        else:
            while at + count < len(plane) and (at + count + 1 == len(plane) or plane[at + count] != plane[at + count + 1]):
                count += 1
            if count > 127 or rng.randrange(2):
                out += b"\x80" + struct.pack(">H", count) + plane[at:at + count]
            else:
                out += bytes([256 - count]) + plane[at:at + count]
        at += count
    return out


def single_values(plane, rng):
    """Runs that decode to the same, but GIMP does not write them: FF decodes as such ones."""
    return b"".join(bytes([255, byte]) for byte in plane)


class File:
    def __init__(self, version=0, compression=RUNS, seed=1, encode=runs):
        self.encode, self.version, self.compression, self.rng, self.tiles = encode, version, compression, random.Random(seed), []
        self.data = bytearray(b"gimp xcf " + (b"v%03d" % version if version else b"file") + b"\0")

    def pointer(self, value):
        return struct.pack(">Q" if self.version >= 11 else ">I", value)

    def room(self, count):
        """Room for pointers, and where it is."""
        at = len(self.data)
        self.data += self.pointer(0) * count
        return at

    def set(self, at, index):
        width = len(self.pointer(0))
        self.data[at + index * width:at + (index + 1) * width] = self.pointer(len(self.data))

    def tile(self, width, height, depth):
        value, planes = 0, []
        for _ in range(depth):
            plane = b""
            while len(plane) < width * height:
                value = self.rng.randrange(1, 256)
                plane += bytes([value]) * self.rng.choice((1, 1, 1, 3, 9, 40, 300))
            planes.append(plane[:width * height])
        self.tiles.append(len(self.data))
        if self.compression == RUNS:
            self.data += b"".join(self.encode(plane, self.rng) for plane in planes)
        else:
            pixels = bytes(b for pixel in zip(*planes) for b in pixel)
            self.data += zlib.compress(pixels) if self.compression == STREAM else pixels

    def hierarchy(self, width, height, depth, levels=2):
        self.data += struct.pack(">III", width, height, depth)
        at = self.room(levels + 1)
        self.set(at, 0)
        self.data += struct.pack(">II", width, height)
        across, down = -(-width // 64), -(-height // 64)
        pointers = self.room(across * down + 1)
        for i in range(across * down):
            self.set(pointers, i)
            self.tile(min(64, width - i % across * 64), min(64, height - i // across * 64), depth)
        for level in range(1, levels):
            self.set(at, level)
            self.data += struct.pack(">III", width >> level, height >> level, 0)

    def channel(self, width, height):
        self.data += struct.pack(">III", width, height, 5) + b"mask\0" + prop(6, struct.pack(">I", 255)) + prop(0)
        at = self.room(1)
        self.set(at, 0)
        self.hierarchy(width, height, 1, 1)

    def layer(self, width, height, depth, mask=False):
        self.data += struct.pack(">IIII", width, height, 1, 5) + b"back\0" + prop(6, struct.pack(">I", 255)) + prop(0)
        at = self.room(2)
        self.set(at, 0)
        self.hierarchy(width, height, depth)
        if mask:
            self.set(at, 1)
            self.channel(width, height)

    def image(self, layers, channels=0, size=(70, 40)):
        self.data += struct.pack(">III", *size, 0)
        if self.version >= 4:
            self.data += struct.pack(">I", 150)
        self.data += prop(17, bytes([self.compression])) + prop(19, bytes(8)) + prop(0)
        lists = self.room(len(layers) + channels + 2)
        for i, (width, height, depth, mask) in enumerate(layers):
            self.set(lists, i)
            self.layer(width, height, depth, mask)
        for i in range(channels):
            self.set(lists, len(layers) + 1 + i)
            self.channel(*size)
        return bytes(self.data)


def make():
    two = [(70, 40, 4, True), (20, 30, 3, False)]
    for version in (0, 1, 4, 10, 11):
        save("xcf", f"v{version}.xcf", File(version).image([(70, 40, 4, False)], size=(70, 40)))
    save("xcf", "layers.xcf", File(3).image(two, 1))
    save("xcf", "streams.xcf", File(11, STREAM).image([(20, 10, 4, False)], 1, (20, 10)))
    save("xcf", "no-layers.xcf", File(0).image([], 1))
    newer = File(18).image([(20, 10, 4, False)])
    save("xcf", "v18.xcf", newer, verdict="unverified", length=len(newer), why=f"version 18 may have more after {len(newer)}")
    odd = File(0, encode=single_values).image([(12, 10, 1, False)])
    save("xcf", "single-values.xcf", odd, verdict="unverified", length=len(odd), why=f"the last tile has runs that GIMP does not write, before {len(odd)}")
    loose = File(0, encode=lambda plane, rng: b"\x80" + struct.pack(">H", len(plane)) + plane).image([(60, 20, 1, False)])
    save("xcf", "values.xcf", loose, verdict="unverified", length=len(loose), why="nothing verifies the last tile's values, the last 1200 bytes")
    empty = File(0).image([])
    save("xcf", "empty.xcf", empty, verdict="unverified", length=len(empty), why=f"neither layers nor channels before {len(empty)}")
    raw = File(0, NONE).image([(12, 10, 1, False)])
    save("xcf", "raw.xcf", raw, verdict="unverified", length=len(raw))

    work = File(3)
    whole = work.image([(140, 40, 3, False)])
    tiles = work.tiles
    cut = whole[:tiles[1] + 100]
    save("xcf", "cut.xcf", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("xcf", "random.xcf", cut + random.Random(1).randbytes(4000), verdict="truncated", length=tiles[1], why=f"a tile's runs are too long at {tiles[1]}")
    swapped = bytearray(whole)
    table = whole.index(struct.pack(">II", tiles[0], tiles[1]))
    swapped[table:table + 8] = struct.pack(">II", tiles[1], tiles[0])
    save("xcf", "swapped.xcf", bytes(swapped), verdict="truncated")
    more = bytearray(whole)
    more[table + 12] = 9
    save("xcf", "tiles.xcf", bytes(more), verdict="truncated", length=table - 8, why=f"a level with a wrong number of tiles at {table - 8}")
    save("xcf", "magic.xcf", b"gimp xcf nile\0" + whole[14:], verdict="reject", why="no version at 0")
    save("xcf", "size.xcf", whole[:14] + bytes(4) + whole[18:], verdict="reject", why="an impossible size or kind at 0")
    save("xcf", "property.xcf", whole[:26] + b"\0\0\7\0" + whole[30:], verdict="reject", why="no property at 26")
    save("xcf", "compression.xcf", whole[:34] + b"\7" + whole[35:], verdict="reject", why="an unknown compression at 26")
    save("xcf", "nothing.xcf", whole[:26] + random.Random(3).randbytes(300), verdict="reject")
