"""QuickDraw's pictures: by GraphicsMagick and Netpbm's ppmtopict, and operation by operation."""
import struct

from makers.common import save
from makers.programs import converted
from makers.sound import noise


def pict(*operations, length=None, end=b"\0\xff"):
    body = struct.pack(">4h", 0, 0, 100, 200) + b"\0\x11\2\xff\x0c\0" + struct.pack(">hhiiiiI", -2, 0, 72 << 16, 72 << 16, 0, 100 << 16 | 200, 0)
    for number, data in operations:
        body += struct.pack(">H", number) + data + b"\0" * (len(data) % 2)
    body += end
    return bytes(512) + struct.pack(">H", (len(body) + 2 if length is None else length) & 0xffff) + body


def make():
    colour = converted(["gm", "convert", "{source}", "{target}"], target=".pict", size=(120, 40))
    save("pict", "direct.pct", colour, unverified="0-512", unchecked=len(colour) - 40)
    save("pict", "narrow.pct", converted(["gm", "convert", "{source}", "{target}"], target=".pict", size=(48, 40)), unverified="0-512")
    for name, width in (("mapped", 120), ("mapped-odd", 47)):  # of odd rows the encoder stores another length
        mapped = converted(["ppmtopict", "{source}"], mode="L", source=".pgm", size=(width, 40))
        odd = struct.unpack(">H", mapped[512:514])[0] != len(mapped) - 512
        save("pict", name + ".pct", mapped, verdict="unverified" if odd else "complete", length=len(mapped), unverified="0-512")
    region = struct.pack(">H4h", 10, 0, 0, 90, 90)
    drawn = [(1, region), (0x1a, b"\xff" * 6), (0x20, bytes(8)), (0x22, bytes(6)), (0x31, bytes(8)), (0x38, b""), (0x41, bytes(8)), (0x51, bytes(8)),
             (0x61, bytes(12)), (0x68, bytes(4)), (0x70, struct.pack(">H4h", 14, 0, 0, 9, 9) + bytes(4)), (0x80, region), (3, b"\0\4"), (4, b"\1"), (0xd, b"\0\x0c"),
             (0x2c, b"\0\x09\0\4\6Geneva"), (0x28, struct.pack(">hhB", 30, 30, 6) + b"golden"), (0x2b, b"\1\2\3abc"), (0x29, b"\1\3abc"), (0xa0, b"\0\x82"),
             (0xa1, b"\0\x64\0\3abc"), (0x14, b"\0\2" + bytes(14)), (0x8200, struct.pack(">I", 10) + bytes(10)), (0, b""), (0x32, bytes(8))]
    save("pict", "drawn.pct", pict(*drawn), unverified="0-512")
    save("pict", "no-length.pct", pict(*drawn, length=7), verdict="unverified", length=len(pict(*drawn)))
    bitmap = struct.pack(">H8x", 6)[:2] + struct.pack(">4h4h4hh", 0, 0, 10, 48, 0, 0, 10, 48, 0, 0, 10, 48, 0) + bytes(range(60))
    save("pict", "bits.pct", pict((0x90, bitmap)), unverified="0-512")
    # As ImageMagick writes it: four components in each row, three stated.
    row = b"\x7f" + bytes(range(128)) + b"\x7f" + bytes(range(128)) + b"\x17" + bytes(24)
    pixmap = struct.pack(">IH4hHHIIIHHHHIII", 0xff, 0x8000 | 280, 0, 0, 10, 70, 0, 4, 0, 72 << 16, 72 << 16, 16, 32, 3, 8, 0, 0, 0)
    four = pixmap + struct.pack(">4h4hh", 0, 0, 10, 70, 0, 0, 10, 70, 64) + (struct.pack(">H", len(row)) + row) * 10
    save("pict", "four.pct", pict((0x9a, four)), unverified="0-512")
    save("pict", "cut.pct", colour[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("pict", "random.pct", colour[:2048] + noise(9000), verdict="truncated", length_min=1500, length_max=2300)
    save("pict", "zeros.pct", colour[:2048] + bytes(9000), verdict="truncated", length_min=1500, length_max=2048)
    save("pict", "operation.pct", pict(*drawn[:9], (0x17, b""), *drawn[9:]), verdict="truncated", length_min=560)
    save("pict", "none.pct", pict((0, b""), (0, b""), end=b"\1\2"), verdict="reject")
    save("pict", "frame.pct", colour[:514] + bytes(8) + colour[522:], verdict="reject", why="no picture at 512")
    save("pict", "version.pct", colour[:524] + b"\3\xff" + colour[526:], verdict="reject", why="no picture at 512")
