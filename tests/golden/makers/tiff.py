"""TIFF and raw photos. Pillow's encoder (libtiff), and directories by hand in both byte orders and widths."""
import random, struct, zlib

from makers.common import encoded, picture, save
from makers.jpeg import lossless
from makers.packing import junk as random_bytes, text

BYTE, ASCII, SHORT, LONG, UNDEFINED, IFD, LONG8 = 1, 2, 3, 4, 7, 13, 16
WIDTHS = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, UNDEFINED: 1, IFD: 4, LONG8: 8}


class Tiff:
    """Bytes that grow; a directory's place is given by who makes it."""

    def __init__(self, order="<", wide=False, magic=None, mark=b""):
        self.order, self.wide = order, wide
        self.places = {}  # of the values inside the last directory's entries, by tag
        head = struct.pack(order + "H", magic or (43 if wide else 42))
        head += struct.pack(order + "HHQ", 8, 0, 0) if wide else struct.pack(order + "I", 0)
        self.data = bytearray((b"II" if order == "<" else b"MM") + head + mark)

    def add(self, data):
        self.data += bytes(len(self.data) & 1)
        self.data += data
        return len(self.data) - len(data)

    def offset(self, value):
        return struct.pack(self.order + ("Q" if self.wide else "I"), value)

    def link(self, place, at):
        self.data[place:place + len(self.offset(at))] = self.offset(at)

    def directory(self, entries, place=None):
        """Adds a directory whose values stand behind it. place: what points to it; default: the head. Returns where its own next-pointer is."""
        room = 8 if self.wide else 4
        at = self.add(b"")
        self.link((8 if self.wide else 4) if place is None else place, at)
        out = struct.pack(self.order + ("Q" if self.wide else "H"), len(entries))
        apart = b""
        behind = at + len(out) + len(entries) * (20 if self.wide else 12) + room
        for tag, kind, values in sorted(entries, key=lambda entry: entry[0]):
            if isinstance(values, bytes):
                data, count = values, len(values)
            else:
                values = values if isinstance(values, (list, tuple)) else [values]
                data = b"".join(value.to_bytes(WIDTHS[kind], "little" if self.order == "<" else "big") for value in values)
                count = len(values)
            if len(data) > room:
                where = behind + len(apart)
                apart += data + bytes(len(data) & 1)
                data = self.offset(where)
            out += struct.pack(self.order + "HH", tag, kind) + self.offset(count) + data.ljust(room, b"\0")
            self.places[tag] = at + len(out) - room
        self.add(out + bytes(room) + apart)
        return at + len(out)


def rows(width, height):
    return b"".join(bytes((x * 5 + y * 3) & 255 for x in range(width)) for y in range(height))


def page(width, height, strips, lens, compression=1, rows_per_strip=None, photometric=1, extra=()):
    return [(256, SHORT, width), (257, SHORT, height), (258, SHORT, 8), (259, SHORT, compression), (262, SHORT, photometric),
            (273, LONG, strips), (277, SHORT, 1), (278, SHORT, rows_per_strip or height), (279, LONG, lens)] + list(extra)


def simple(order, wide, extra=(), mark=b"", magic=None, photometric=1):
    tiff = Tiff(order, wide, magic, mark)
    pixels = rows(40, 30)
    strips = [tiff.add(pixels[i:i + 400]) for i in range(0, 1200, 400)]
    tiff.directory(page(40, 30, strips, [400] * 3, rows_per_strip=10, photometric=photometric, extra=extra))
    return tiff


def lzw(data):
    """Codes of 9 bits, with a clear before they would need 10."""
    bits = ""
    for i, byte in enumerate(data):
        bits += ("100000000" if i % 250 == 0 else "") + format(byte, "09b")
    bits += "100000001"
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def packbits(data):
    return b"".join(bytes([len(data[i:i + 40]) - 1]) + data[i:i + 40] for i in range(0, len(data), 40))


def coded(compression, strips, order="<"):
    """A directory, then strips of 10 rows of 40 pixels; returns the file and where the strips are."""
    tiff = Tiff(order)
    count = len(strips)
    entries = page(40, 10 * count, [0] * count, [len(strip) for strip in strips], compression, 10)
    tiff.directory(entries)
    places = []
    for strip in strips:
        places.append(tiff.add(strip))
    whole = Tiff(order)
    whole.directory([entry if entry[0] != 273 else (273, LONG, places) for entry in entries])
    for strip in strips:
        whole.add(strip)
    return bytes(whole.data), places


def raw(order, make, tags, name, **more):
    """A preview in the first directory, the raw picture in a SubIFD."""
    tiff = Tiff(order, **more)
    preview = tiff.add(rows(16, 12))
    sensor = tiff.add(lossless(picture("L", (40, 30))))
    length = len(tiff.data) - sensor
    tiff.directory(page(16, 12, preview, 192, extra=[(271, ASCII, make), (330, LONG, 0), (34665, LONG, 0)] + tags))
    child, exif = tiff.places[330], tiff.places[34665]
    tiff.directory(page(40, 30, sensor, length, 7, photometric=32803), place=child)
    tiff.directory([(36867, ASCII, b"2024:02:29 23:59:58\0"), (37500, UNDEFINED, b"a maker's own data")], place=exif)
    save("tiff", name, bytes(tiff.data), extension=name.rsplit(".")[-1], time=1709251198, unchecked=8)


def make():
    colour = picture("RGB", (48, 40))
    for name, options in (("plain", {}), ("lzw", dict(compression="tiff_lzw")), ("deflate", dict(compression="tiff_adobe_deflate")),
                          ("packbits", dict(compression="packbits")), ("jpeg", dict(compression="jpeg"))):
        data = encoded(colour, format="TIFF", **options)
        start = 8 if name in ("plain", "packbits") else None
        save("tiff", name + ".tif", data, extension="tif", **(dict(unchecked=start) if start else {}))
    save("tiff", "group4.tif", encoded(picture("1", (80, 60)), format="TIFF", compression="group4"), extension="tif", unchecked=8)
    for order in "<>":
        for wide in (False, True):
            name = ("big" if order == ">" else "little") + ("-wide" if wide else "")
            tiff = simple(order, wide, [(270, ASCII, b"A golden picture\0"), (306, ASCII, b"2024:02:29 23:59:58\0")])
            save("tiff", name + ".tif", bytes(tiff.data), extension="tif", title="A golden picture", time=1709251198, unchecked=8)
    two = simple("<", False)
    at = two.data.index(struct.pack("<HHII", 279, LONG, 3, 0)[:8]) + 12
    strip = two.add(rows(40, 10))
    two.directory(page(40, 10, strip, 400), place=at)
    save("tiff", "two-pages.tif", bytes(two.data), extension="tif", unchecked=8, unverified=f"8-1208 {strip}-{strip + 400}")
    tiled = Tiff()
    tiles = [tiled.add(rows(16, 16)) for _ in range(6)]
    tiled.directory([(256, SHORT, 40), (257, SHORT, 30), (258, SHORT, 8), (259, SHORT, 1), (262, SHORT, 1), (277, SHORT, 1),
                     (322, SHORT, 16), (323, SHORT, 16), (324, LONG, tiles), (325, LONG, [256] * 6)])
    save("tiff", "tiles.tif", bytes(tiled.data), extension="tif", unchecked=8, unverified=f"8-{8 + 6 * 256}")
    no_lens = Tiff()
    strip = no_lens.add(rows(40, 30))
    no_lens.directory([entry for entry in page(40, 30, strip, 0) if entry[0] != 279])
    save("tiff", "no-lengths.tif", bytes(no_lens.data), extension="tif", unchecked=8)

    # Another file's bytes from a cluster on, where only values of a directory were.
    # A text ends with a zero, which others need not. The strip is in a code that is not known.
    worded = Tiff()
    worded.directory(page(64, 64, 0, 13007, 34887, extra=[(270, ASCII, text(639) + b"\0")]))
    worded.link(worded.places[273], worded.add(random_bytes(13007)))
    worded.link(worded.places[270], worded.add(text(639) + b"\0"))
    said = bytes(worded.data)
    save("tiff", "words.tif", said[:8192] + (b"The disk was read at noon and nothing more could be found on it, said the clerk.\n" * 190)[:len(said) - 8192], verdict="unverified", length=len(said))
    lost = bytes(simple("<", False, [(305, ASCII, text(2900) + b"\0"), (306, ASCII, b"2024:02:29 23:59:58\0")]).data)
    save("tiff", "values.tif", lost, extension="tif", unchecked=8)
    save("tiff", "values-lost.tif", lost[:4096] + random_bytes(len(lost) - 4096), verdict="unverified", length=len(lost))

    raw("<", b"NIKON CORPORATION\0", [], "camera.nef")
    raw(">", b"NIKON CORPORATION\0", [], "camera-big.nef")
    raw("<", b"SONY\0", [], "camera.arw")
    raw(">", b"PENTAX\0", [], "camera.pef")
    raw("<", b"SAMSUNG\0", [], "camera.srw")
    raw("<", b"Any\0", [(50706, BYTE, [1, 4, 0, 0])], "camera.dng")
    raw("<", b"OLYMPUS\0", [], "camera.orf", magic=0x4F52)
    raw("<", b"Canon\0", [], "camera.cr2", mark=b"CR\2\0\0\0\0\0")
    # Canon's directory of the sensor's data: no size, and one JPEG.
    canon = Tiff(mark=b"CR\2\0\0\0\0\0")
    preview = canon.add(rows(16, 12))
    following = canon.directory(page(16, 12, preview, 192, extra=[(271, ASCII, b"Canon\0")]))
    sensor = lossless(picture("L", (40, 30)))
    canon.directory([(259, SHORT, 6), (273, LONG, 0), (279, LONG, len(sensor))], place=following)
    canon.link(canon.places[273], canon.add(sensor))
    save("tiff", "sensor.cr2", bytes(canon.data), extension="cr2", unchecked=8)
    panasonic = Tiff(magic=0x55)
    sensor = panasonic.add(rows(40, 30))
    panasonic.directory([(2, SHORT, 40), (3, SHORT, 30), (271, ASCII, b"Panasonic\0"), (273, LONG, 0xFFFFFFFF), (279, LONG, 1200), (280, LONG, sensor)])
    save("tiff", "camera.rw2", bytes(panasonic.data), extension="rw2", unchecked=8)
    preview = encoded(colour, format="JPEG")
    resources = b"8BIM\4\x0c\0\0" + struct.pack(">I", 60) + bytes(60) + b"8BIM\4\x22\0\0" + struct.pack(">I", 20) + bytes(20)
    named = Tiff()
    strip = named.add(rows(40, 30))
    named.directory(page(40, 30, strip, 1200, extra=[(46, UNDEFINED, preview), (34377, BYTE, list(resources)), (50000, UNDEFINED, b"some tag's value")]))
    data = bytes(named.data)
    resources_at = data.index(resources)
    save("tiff", "previews.tif", data, extension="tif", unchecked=8, embedded=f"{data.index(preview)} {resources_at + 12 + 28} {resources_at + 72 + 12}")

    # A strip that breaks: random bytes from the second of three on.
    rng = random.Random(3)
    pixels = [rows(40, 10)] * 3
    for name, compression, pack in (("lzw", 5, lzw), ("packbits", 32773, packbits), ("deflate", 8, lambda data: zlib.compress(rng.randbytes(400)))):
        data, places = coded(compression, [pack(strip) for strip in pixels])
        damaged = data[:places[1]] + rng.randbytes(len(data) - places[1])
        save("tiff", f"broken-{name}.tif", damaged, extension="tif", verdict="truncated", length_min=places[1], length_max=places[1] + (410 if compression == 32773 else 80))
        for kind, junk in (("zeros", b"\0"), ("ff", b"\xff")) if compression != 32773 else ():
            damaged = data[:places[1] + 100] + junk * (len(data) - places[1] - 100)
            save("tiff", f"{kind}-{name}.tif", damaged, extension="tif", verdict="truncated", length_min=places[1], length_max=places[1] + 420)
    tall = Tiff()
    tall.directory(page(200, 60, 8 + 2 + 9 * 12 + 4, 12000))
    data = bytes(tall.data) + b"".join(bytes((x * 5 + y * 3) // 16 & 255 for x in range(200)) for y in range(60))
    save("tiff", "broken-plain.tif", data[:6000] + rng.randbytes(len(data) - 6000), verdict="truncated", length_min=5000, length_max=7200)
    save("tiff", "end-zeros.tif", data[:6000] + bytes(len(data) - 6000), verdict="unverified", length=len(data), why="the last bytes, from 122 on, cannot be verified")
    save("tiff", "cut.tif", data[:900], verdict="truncated", length=900, why="the image ends at 900, before the file does")
    broken = bytearray(two.data)
    broken[at:at + 4] = struct.pack("<I", 300)
    save("tiff", "no-second-page.tif", bytes(broken), verdict="truncated", length=300, why="no directory at 300")
    far = Tiff()
    far.directory(page(40, 10, far.add(rows(40, 10)), 400))
    data = bytes(far.data[:-4])
    save("tiff", "far-page.tif", data + struct.pack("<I", 1 << 30), verdict="truncated", length=len(data),
         why="the image ends before the directory at 1073741824")
    loop = simple("<", False)
    loop.link(at, struct.unpack("<I", bytes(loop.data[4:8]))[0])
    save("tiff", "loop.tif", bytes(loop.data), verdict="unverified", length=len(loop.data), why="directories that overlap")
    sparse = Tiff()
    sparse.add(bytes(5000))
    strip = sparse.add(rows(10, 10))
    sparse.directory(page(10, 10, strip, 100))
    save("tiff", "hole.tif", bytes(sparse.data), verdict="unverified", length_min=500, length_max=2000)
    data, places = coded(8, [zlib.compress(strip) for strip in pixels])
    no_len = Tiff()
    strip = no_len.add(zlib.compress(rows(40, 30)))
    no_len.directory([entry for entry in page(40, 30, strip, 0, 8) if entry[0] != 279])
    save("tiff", "no-length.tif", bytes(no_len.data), verdict="unverified", length=len(no_len.data), why="a strip without length")
    empty = Tiff()
    exif_at = empty.add(bytes(6))
    empty.directory(page(40, 30, [empty.add(bytes([9]) + rows(40, 30)[1:])], [1200], extra=[(34665, LONG, exif_at)]))
    save("tiff", "empty-exif.tif", bytes(empty.data), unchecked=1250)
    from makers.jpeg import exif
    for name, data in (("exif-little", exif(False)[6:]), ("exif-big", exif(True)[6:])):
        save("tiff", name + ".tif", data, verdict="reject", why="no directory with a picture at 8")
    types = bytearray(simple("<", False).data)
    first = struct.unpack("<I", bytes(types[4:8]))[0]
    for i in range(3):
        types[first + 2 + 12 * i + 2] = 99
    save("tiff", "types.tif", bytes(types), verdict="reject", why=f"no directory with a picture at {first}")
    for name, place, value in (("magic", 2, 41), ("order", 1, 0x4D), ("first", 4, 2)):
        wrong = bytearray(simple("<", False).data)
        wrong[place] = value
        if name == "first":
            wrong[5] = 0
        save("tiff", f"bad-{name}.tif", bytes(wrong), verdict="reject")
