"""Drawings in AutoCAD's text form, by hand."""
import random

from makers.common import save

HEADER = [(0, "SECTION"), (2, "HEADER"), (9, "$ACADVER"), (1, "AC1015"), (0, "ENDSEC")]
ENTITIES = [(0, "SECTION"), (2, "ENTITIES")] + [(0, "LINE"), (8, "0"), (10, "1.5"), (20, "-2.25"), (1071, "7"), (-1, "x")] * 12 + [(0, "ENDSEC")]


def dxf(pairs, end="\n", width=3):
    return "".join(f"{code:{width}}{end}{value}{end}" for code, value in pairs).encode()


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
