"""AppleDouble and AppleSingle, entry by entry."""
import struct

from makers.common import PNG, save
from makers.packing import junk, text


def fork(resources=(), copied=True):
    """Resources: (kind, [(number, name, data)])."""
    data, kinds, lists, names = b"", b"", b"", b""
    count = len(resources)
    start = 2 + 8 * count
    for kind, items in resources:
        kinds += kind + struct.pack(">HH", len(items) - 1, start + len(lists))
        for number, name, content in items:
            lists += struct.pack(">hHII", number, len(names) if name else 0xffff, len(data), 0)
            names += bytes((len(name),)) + name if name else b""
            data += struct.pack(">I", len(content)) + content
    table = struct.pack(">H", count - 1 & 0xffff) + kinds + lists
    length = 28 + len(table) + len(names)
    head = struct.pack(">IIII", 256, 256 + len(data), len(data), length)
    mapped = (head if copied else bytes(16)) + bytes(6) + bytes(2) + struct.pack(">HH", 28, 28 + len(table)) + table + names
    return head.ljust(256, b"\0") + data + mapped


def apple(*entries, magic=0x00051607, gap=0):
    at = 26 + 12 * len(entries)
    table, body = b"", b""
    for kind, data in entries:
        body += bytes(gap)
        table += struct.pack(">III", kind, at + len(body), len(data))
        body += data
    return struct.pack(">II", magic, 0x20000) + b"Mac OS X        " + struct.pack(">H", len(entries)) + table + body


def make():
    finder = b"PNGfprvw" + bytes(24) + b"\0\0ATTR" + text(200)
    blank = apple((9, finder), (2, fork()))
    at = len(blank) - len(fork())
    save("appledouble", "blank.apdisk", blank, unchecked=8, unverified=f"50-{at}", why="")
    icons = fork(((b"icns", [(-16455, b"", PNG + junk(900, 1))]), (b"STR ", [(128, b"first", text(60)), (129, b"second", text(70))])))
    save("appledouble", "resources.apdisk", apple((9, finder), (2, icons)), unchecked=8)
    save("appledouble", "zeros-in-map.apdisk", apple((9, finder), (2, fork(((b"STR ", [(1, b"", text(90))]),), False))), unchecked=8)
    finder_only = apple((9, finder))
    save("appledouble", "finder.apdisk", finder_only, verdict="unverified", length=len(finder_only), why=f"nothing verifies the entries up to {len(finder_only)}")
    one = apple((3, b"golden.png"), (1, PNG + junk(500, 2)), magic=0x00051600)
    save("appledouble", "golden.as", one, verdict="unverified", length=len(one), extension="as", title="golden.png", embedded=one.index(b"\x89PNG"))
    save("appledouble", "cut.apdisk", blank[:-50], verdict="truncated", length=len(blank) - 50, why=f"the image ends at {len(blank) - 50}, before the file does")
    save("appledouble", "wiped.apdisk", blank[:at + 100] + bytes(500), verdict="unverified", length=len(blank))
    save("appledouble", "kind.apdisk", blank[:28] + b"\0\x63" + blank[30:], verdict="reject", why="no entry at 26")
    save("appledouble", "place.apdisk", blank[:33] + b"\3" + blank[34:], verdict="reject", why="no entry at 26")
    save("appledouble", "version.apdisk", blank[:5] + b"\1" + blank[6:], verdict="reject", why="no header of version 2 at 0")
