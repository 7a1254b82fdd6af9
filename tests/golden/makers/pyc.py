"""Compiled modules of Python, object by object."""
import struct

from makers.common import save
from makers.sound import noise


def short(data):
    return b"\xda" + bytes([len(data)]) + data


def numbers(*values):
    return struct.pack(f"<{len(values)}I", *values)


def long_text(data, kind=b"s"):
    return kind + numbers(len(data)) + data


def row(*items):
    return b"\xa9" + bytes([len(items)]) + b"".join(items)


def code(layout, constants, last=b"\x80\x01"):
    """A code object with the fields of a version: numbers before, and objects after the first line."""
    before, after = layout
    fields = long_text(noise(90, 3)), row(*constants), row(short(b"golden"), b"r" + numbers(1)), row(), row(), row(), short(b"golden.py"), short(b"<module>")
    return b"\xe3" + numbers(*[0] * (before - 1), 64) + b"".join(fields) + numbers(1) + long_text(last) + (long_text(b"") if after == 2 else b"")


def module(magic, layout, head):
    inner = code(layout, [b"N"])
    constants = [b"N", b"T", b"i" + numbers(7), b"l" + numbers(3) + b"\1\0\2\0\3\0", b"g" + struct.pack("<d", 2.5), b"y" + struct.pack("<dd", 1, 2), b".",
                 long_text("größer".encode(), b"u"), b"(" + numbers(2) + b"NN", b">" + numbers(1) + b"F", b"{" + b"TN" + b"0", inner, short(b"a")]
    return struct.pack("<H", magic) + b"\r\n" + head + code(layout, constants)


def make():
    new = module(3495, (5, 2), numbers(0, 1709251198, 900))
    save("pyc", "3.11.pyc", new, time=1709251198, unchecked=20)
    save("pyc", "3.9.pyc", module(3425, (6, 1), numbers(0, 1709251198, 900)), time=1709251198, unchecked=20)
    save("pyc", "3.7-hash.pyc", module(3394, (5, 1), numbers(1) + noise(8)), time=0, unchecked=20)
    save("pyc", "3.6.pyc", module(3379, (5, 1), numbers(1709251198, 900)), time=1709251198, unchecked=20)
    save("pyc", "2.7.pyc", module(62211, (4, 1), numbers(1709251198)), time=1709251198, unchecked=20)
    old = module(62211, (4, 1), numbers(1709251198))
    ends = long_text(b"\x80\x01")
    assert old.endswith(ends)
    save("pyc", "2.7-empty.pyc", old[:-len(ends)] + long_text(b"", b"t"), time=1709251198, unchecked=20)
    save("pyc", "cut.pyc", new[:300], verdict="truncated", length_min=200, length_max=300)
    for name, junk in (("random", noise(900, 2)), ("zeros", bytes(900)), ("text", b"~ some text ~ " * 60), ("erased", b"\xff" * 900)):
        save("pyc", f"cut-{name}.pyc", new[:300] + junk, verdict="truncated", length_min=200, length_max=420)
    wide = struct.pack("<H", 3495) + b"\r\n" + numbers(0, 1709251198, 900) + code((5, 2), [b"N"], noise(5000))
    save("pyc", "wide.pyc", wide, time=1709251198, unchecked=5100)
    save("pyc", "version.pyc", b"\1\1" + new[2:], verdict="reject", why="no version and code at 0")
    save("pyc", "flags.pyc", new[:4] + b"\4" + new[5:], verdict="reject", why="unknown flags at 4")
    save("pyc", "code.pyc", new[:16] + b"\xe9" + new[17:], verdict="reject", why="no version and code at 0")
    save("pyc", "kind.pyc", new[:60] + b"?" + noise(900), verdict="reject")
