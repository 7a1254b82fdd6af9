"""X3F, by hand."""
import random, struct

from makers.common import save


def x3f(pointer=0, kind=b"SECp", size=700):
    rng = random.Random(1)
    out = b"FOVb" + struct.pack("<HH", 0, 2) + bytes(20) + struct.pack("<III", 2268, 1512, 90)
    places = []
    for mark, data in ((kind, bytes(60)), (b"SECi", rng.randbytes(size)), (b"SECi", rng.randbytes(100))):
        places.append((len(out), len(data) + 4))
        out += mark + data
    directory = len(out)
    out += b"SECd" + struct.pack("<II", 0x20000, len(places))
    out += b"".join(struct.pack("<II4s", at, length, b"IMA2") for at, length in places)
    return out + struct.pack("<I", directory + pointer)


def make():
    whole = x3f()
    save("x3f", "whole.x3f", whole, unchecked=20, unverified="72-104 136-808 840-912")
    save("x3f", "cut.x3f", whole[:500], verdict="truncated", length=500, why="no directory before 500")
    save("x3f", "pointer.x3f", x3f(pointer=4), verdict="truncated", length_min=500)
    save("x3f", "section.x3f", x3f(kind=b"TECp"), verdict="truncated", length_min=500)
    save("x3f", "zeros-behind.x3f", x3f(size=6000)[:5000] + bytes(5000), verdict="truncated", length_min=4900, length_max=5100)
    save("x3f", "version.x3f", whole[:6] + b"\7" + whole[7:], verdict="reject", why="no X3F head at 0")
    save("x3f", "turn.x3f", whole[:36] + b"\7" + whole[37:], verdict="reject", why="an impossible picture at 28")
