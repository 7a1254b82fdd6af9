"""DTS: frames of noise."""
import random, struct

from makers.common import save


def dts(seed, size=1006, rate=13):
    head = struct.pack(">I", 0x7FFE8001) + ((1 << 47 | 31 << 42 | 15 << 34 | (size - 1) << 20 | 2 << 14 | rate << 10).to_bytes(6, "big"))
    return head + random.Random(seed).randbytes(size - len(head))


def extension(size, wide=0):
    bits = wide << 61 | (19 << 49 | (size - 1) << 29 if wide else 19 << 53 | (size - 1) << 37)
    return (b"\x64\x58\x20\x25\0" + bits.to_bytes(8, "big")).ljust(size, b"\x55")


def make():
    whole = b"".join(dts(i) for i in range(6))
    end = f"no frame at {len(whole)}, and the number of frames is not stored"
    save("dts", "film.dts", whole, verdict="unverified", length=len(whole), why=end, unverified=f"0-{len(whole)}")
    save("dts", "film-zeros.dts", whole + bytes(900), verdict="unverified", length=len(whole), why=end)
    master = b"".join(dts(i) + extension(300 + i, i % 2) for i in range(4))
    save("dts", "master.dts", master, verdict="unverified", length=len(master))
    save("dts", "cut.dts", whole[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("dts", "two.dts", whole[:2012] + bytes(400), verdict="reject", why="no frame at 2012 after 2 others")
    save("dts", "rate.dts", b"".join(dts(i, rate=0) for i in range(4)), verdict="reject", why="no frame at 0 after 0 others")
    save("dts", "other.dts", whole[:2012] + dts(9, rate=8) + bytes(99), verdict="reject", why="no frame at 2012 after 2 others")
