"""MPEG program streams, packet by packet; what they carry is noise."""
import struct

from makers.bmff import noise
from makers.common import save

END = b"\0\0\1\xb9"


def pack1(n):
    return b"\0\0\1\xba\x21\0\1" + bytes([n * 2 & 0xfe, 1]) + b"\x80\x10\1"


def pack2(n, stuffing=0):
    return b"\0\0\1\xba\x44\0\4" + bytes([n & 0xff, 4, 1, 0, 0x10, 3, 0xf8 | stuffing]) + b"\xff" * stuffing


def packet(kind, count, seed):
    return b"\0\0\1" + bytes([kind]) + struct.pack(">H", count) + noise(count, seed)


def stream(pack, fill=b""):
    return b"".join(pack(n) + (packet(0xbb, 12, 1) if not n else b"") + packet(0xe0 if n % 3 else 0xc0, 150 + 9 * n, n) + fill for n in range(9))


def make():
    for name, pack in (("one", pack1), ("two", pack2), ("stuffed", lambda n: pack2(n, n % 8))):
        save("mpg", name + ".mpg", stream(pack) + END)
    save("mpg", "filled.mpg", stream(pack2, bytes(40)) + END)
    whole = stream(pack2)
    open_end = dict(verdict="unverified", length=len(whole), why=f"no end code: ends where no packet follows, at {len(whole)}")
    save("mpg", "no-end.mpg", whole, **open_end)
    save("mpg", "no-end-random.mpg", whole + noise(2000, 77), **open_end)
    disc = b"".join(pack2(n) + packet(0xe0, 2048 - 20, n) for n in range(3)) + pack2(3) + packet(0xe0, 1000, 3)
    padded = disc + bytes(-len(disc) % 2048)
    save("mpg", "sectors.mpg", padded + noise(3000, 5), verdict="unverified", length=len(padded))
    save("mpg", "next.mpg", whole + bytes(300) + whole + END, **open_end)
    cut = len(whole) - 100
    save("mpg", "cut.mpg", whole[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    save("mpg", "overwritten.mpg", whole[:cut] + noise(2000, 78), verdict="unverified", length=len(whole))
    save("mpg", "pack-alone.mpg", pack2(0) + noise(900, 3), verdict="reject", why="no pack or packet at 14")
    save("mpg", "marker.mpg", whole[:6] + b"\0" + whole[7:], verdict="reject", why="no pack or packet at 0")
