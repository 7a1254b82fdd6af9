"""Embedded OpenType: headers by hand around fonts of makers/sfnt.py."""
import struct

from makers.common import save
from makers.elf import code
from makers.sfnt import CREATED, font, tables


def utf16(text):
    return text.encode("utf-16-le")


def eot(data, version=0x20001, flags=0, names=("Golden", "Regular", "1.0", "Golden Prüfung"), reserved=bytes(16), weight=400):
    out = struct.pack("<IIII", 0, len(data), version, flags) + bytes(10) + struct.pack("<BBIHH", 1, 0, weight, 0, 0x504c) + bytes(24)
    out += struct.pack("<I", 7) + reserved
    for text in names:
        out += struct.pack("<HH", 0, len(utf16(text))) + utf16(text)
    if version >= 0x20001:
        out += struct.pack("<HH", 0, 10) + utf16("a.org")
    if version == 0x20002:
        out += struct.pack("<IIHH", 0, 0, 0, 5) + b"signs" + struct.pack("<II", 0, 3) + b"odd"
    out += data
    return struct.pack("<I", len(out)) + out[4:]


def make():
    plain = font(tables())
    about = dict(title="Golden Prüfung", time=CREATED)
    save("eot", "first.eot", eot(plain, 0x10000), **about)
    save("eot", "second.eot", eot(plain), **about)
    save("eot", "signed.eot", eot(plain, 0x20002), **about)
    masked = bytes(b ^ 0x50 for b in plain)
    save("eot", "masked.eot", eot(masked, flags=0x10000000), **about)
    packed = eot(code(300), flags=0x10000004)
    save("eot", "packed.eot", packed, verdict="unverified", length=len(packed), why=f"the compressed font before {len(packed)} cannot be verified")
    packed = eot(code(4800), flags=0x10000004)
    save("eot", "packed-wiped.eot", packed[:4000] + bytes(len(packed) - 4000), verdict="truncated", length=4096,
         why="equal bytes or text instead of the compressed font at 4096")
    wrong = eot(font(tables(), wrong=(b"cmap",)))
    save("eot", "one-wrong.eot", wrong, verdict="unverified", length=len(wrong))
    behind = eot(plain + b"more of it")
    save("eot", "behind.eot", behind, verdict="unverified", length=len(behind))
    whole = eot(plain)
    start = len(whole) - len(plain)
    save("eot", "cut.eot", whole[:-50], verdict="truncated", length=len(whole) - 50, why=f"the image ends at {len(whole) - 50}, before the file does")
    save("eot", "wiped.eot", whole[:600] + bytes(len(whole) - 600), verdict="truncated", length_min=560, length_max=600, why=f"no valid font from {start} on")
    save("eot", "random.eot", whole[:500] + code(len(whole) - 500, 9), verdict="truncated", length_min=start, length_max=len(whole))
    for where, value, why in ((34, 0, "no magic at 34"), (9, 7, "an unknown version at 8"), (70, 1, "reserved bytes at 64 are not zero"), (0, 1, None), (4, 1, None),
                              (80, 1, "reserved bytes at 64 are not zero"), (82, 9, None)):
        bad = bytearray(whole)
        bad[where] ^= value or 0x4c
        save("eot", f"head-{where}.eot", bytes(bad), verdict="reject", why=why or "the sizes at 0 differ from those of the parts")
