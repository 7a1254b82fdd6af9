"""Drawings in AutoCAD's exchange form, text and binary, by hand."""
import random, struct

from makers.common import save

HEADER = [(0, "SECTION"), (2, "HEADER"), (9, "$ACADVER"), (1, "AC1015"), (0, "ENDSEC")]
ENTITIES = [(0, "SECTION"), (2, "ENTITIES")] + [(0, "LINE"), (8, "0"), (10, "1.5"), (20, "-2.25"), (1071, "7"), (-1, "x")] * 12 + [(0, "ENDSEC")]


def dxf(pairs, end="\n", width=3):
    return "".join(f"{code:{width}}{end}{value}{end}" for code, value in pairs).encode()


def binary(pairs, wide):
    out = b"AutoCAD Binary DXF\r\n\x1a\0"
    for code, form, value in pairs:
        out += struct.pack("<H", code) if wide else bytes([code]) if code < 255 else struct.pack("<BH", 255, code)
        out += value.encode() + b"\0" if form == "s" else bytes([len(value)]) + value if form == "c" else struct.pack("<" + form, value)
    return out


BINARY = ([(0, "s", "SECTION"), (2, "s", "HEADER"), (9, "s", "$ACADVER"), (1, "s", "AC1015"), (0, "s", "ENDSEC"), (0, "s", "SECTION"), (2, "s", "ENTITIES")] +
          [(0, "s", "LINE"), (8, "s", "0"), (10, "d", 1.5), (62, "h", 7), (90, "i", 70000), (160, "q", 5), (290, "B", 1), (310, "c", b"\0\1EOF"),
           (1071, "i", 9), (1004, "c", b"")] * 12 + [(0, "s", "ENDSEC"), (0, "s", "EOF")])


def make():
    whole = dxf(HEADER + ENTITIES + [(0, "EOF")])
    save("dxf", "drawing.dxf", whole, sequence="yes")
    save("dxf", "crlf.dxf", dxf(HEADER + ENTITIES + [(0, "EOF")], "\r\n", 0), sequence="yes")
    save("dxf", "remark.dxf", dxf([(999, "made by hand")] + HEADER + ENTITIES + [(0, "EOF")], width=0), sequence="yes")
    save("dxf", "open.dxf", whole[:-1], sequence="yes")
    save("dxf", "cut.dxf", whole[:200], verdict="truncated", length_min=150, length_max=200)
    for kind, junk in (("zeros", bytes(900)), ("text", b"nothing but words\n" * 30), ("random", random.Random(1).randbytes(900))):
        save("dxf", f"{kind}.dxf", whole[:whole.index(b"LINE")] + junk, verdict="truncated", length_min=50, length_max=whole.index(b"LINE") + 40)
    save("dxf", "section.dxf", whole.replace(b"HEADER", b"FOOTER"), verdict="reject", why="no section at 0")
    save("dxf", "numbers.dxf", b"999\n1000\n1001\n" * 40, verdict="reject", why="no section at 0")
    for name, wide in (("binary", True), ("binary-old", False)):
        data = binary(BINARY, wide)
        save("dxf", name + ".dxf", data, unchecked=22)
        save("dxf", name + "-cut.dxf", data[:500], verdict="truncated", length_min=440, length_max=500)
        for kind, junk in (("zeros", bytes(900)), ("text", b"nothing but words\n" * 30), ("random", random.Random(2).randbytes(900))):
            save("dxf", f"{name}-{kind}.dxf", data[:600] + junk, verdict="truncated", length_min=500, length_max=680)
    save("dxf", "binary-other.dxf", binary(BINARY, True)[:22] + b"\0\0SECTOR\0" + bytes(80), verdict="reject", why="no section at 22")
