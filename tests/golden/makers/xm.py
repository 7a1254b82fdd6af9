"""FastTracker 2's modules, part by part."""
import random, struct

from makers.common import save
from makers.sound import curve


def xm(samples, patterns=3):
    out = b"Extended Module: " + b"golden song".ljust(20) + b"\x1a" + b"by hand".ljust(20) + struct.pack("<HI8H", 0x104, 276, 3, 0, 4, patterns, len(samples), 1, 6, 125)
    out += bytes(256)
    for number in range(patterns):
        data = bytes([0x80]) * 64 * 4 if number else b""
        out += struct.pack("<IBHH", 9, 0, 64, len(data)) + data
    for values in samples:
        out += struct.pack("<I22sBH", 263 if values else 29, b"instrument", 0, 1 if values else 0)
        if values:
            out += struct.pack("<I", 40).ljust(263 - 29, b"\0") + struct.pack("<IIIBbBBbB22s", len(values), 0, 0, 64, 0, 0, 128, 0, 0, b"sample") + values
    return out


def make():
    wave = curve(12000)
    whole = xm([wave[:900], b"", wave])
    save("xm", "song.xm", whole, verdict="unverified", length=len(whole), title="golden song")
    empty = xm([wave, b""])
    save("xm", "empty.xm", empty + bytes(60), verdict="unverified", length=len(empty))
    silent = xm([])
    save("xm", "silent.xm", silent + bytes(60), verdict="unverified", length=len(silent))
    save("xm", "cut.xm", whole[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("xm", "random.xm", whole[:-5000] + random.Random(1).randbytes(6000), verdict="truncated", length_max=len(whole) - 3900)
    loud = whole[:-9000] + random.Random(2).randbytes(5000) + whole[-4000:]
    save("xm", "loud.xm", loud, verdict="unverified", length=len(loud))
    first = 336
    save("xm", "pattern.xm", whole[:first] + b"\1" + whole[first + 1:], verdict="truncated", length=first, why=f"no pattern at {first}")
    save("xm", "version.xm", whole[:58] + b"\2\1" + whole[60:], verdict="reject", why="no header of version 1.04 at 0")
