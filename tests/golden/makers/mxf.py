"""MXF, element by element; pictures and sound are noise."""
import struct

from makers.common import save
from makers.sound import noise

START = b"\x06\x0e\x2b\x34"
SYSTEM = START + bytes.fromhex("02050101 0d010201 01")


def element(key, value, form=4):
    length = bytes([len(value)]) if form == 0 else bytes([0x80 + form]) + len(value).to_bytes(form, "big")
    return key + length + value


def pack(kind, at, footer=0):
    value = struct.pack(">HHIQQQQQIQI", 1, 3, 1, at, 0, footer, 0, 0, 0, 0, 1) + START + bytes(12) + struct.pack(">II", 0, 16)
    return element(SYSTEM + bytes([kind, 4, 0]), value)


def essence(length, seed, form=3):
    return element(START + bytes.fromhex("01020101 0d010301 15010500"), noise(length, seed), form)


def index(places):
    value = b"".join(struct.pack(">IQ", i, at) for i, at in enumerate(places))
    key = SYSTEM + b"\x11\1\0"
    return element(key, value + struct.pack(">I", len(value) + 4 + 16 + 1), 0)


def film(closed=True, places=None, footer=True, with_index=True):
    description = element(START + bytes.fromhex("02530101 0d010101 01012f00"), noise(300, 1), 2)
    size = len(pack(2, 0)) + len(description)
    body = size + 0
    sound = essence(2000, 2) + essence(500, 3, 8) + essence(90, 4, 0)
    end = body + len(pack(3, 0)) + len(sound)
    out = pack(2, 0, end if closed else 0) + description + pack(3, body, end if closed else 0) + sound
    if footer:
        out += pack(4, end, end)
    return out + (index((0, body, end)) if with_index else b"")


def make():
    mxf = lambda name, data, **expected: save("mxf", name, data, **expected)
    whole = film()
    mxf("whole.mxf", whole)
    mxf("open.mxf", film(closed=False))
    plain = film(with_index=False)
    mxf("no-index.mxf", plain + noise(500, 9), verdict="unverified", length=len(plain),
        why=f"no element at {len(plain)}, and no partition index before it")
    headless = film(footer=False, with_index=False)
    mxf("no-footer.mxf", headless + noise(500, 9), verdict="truncated", length=len(headless), why=f"no valid element at {len(headless)}")
    mxf("cut.mxf", whole[:1500], verdict="truncated", length=1500, why="the image ends at 1500, before the file does")
    last = whole.index(essence(500, 3, 8))
    mxf("cut-random.mxf", whole[:last] + noise(900, 7), verdict="truncated", length=last)
    moved = bytearray(whole)
    place = whole.index(SYSTEM + b"\3")
    moved[place + 21 + 15] ^= 1
    mxf("moved.mxf", bytes(moved), verdict="reject", why=f"no valid element at {place}")
    footer = whole.index(SYSTEM + b"\4")
    moved = bytearray(whole)
    moved[footer + 21 + 15] ^= 1
    mxf("moved-footer.mxf", bytes(moved), verdict="truncated", length=footer)
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    mxf("index.mxf", bytes(wrong), verdict="unverified", length=len(whole))
    mxf("length.mxf", pack(2, 0)[:16] + b"\x89" + bytes(100), verdict="reject", why="no header partition pack at 0")
    mxf("alone.mxf", pack(2, 0) + noise(300, 4), verdict="reject")
