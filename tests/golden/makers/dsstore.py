"""The Finder's settings: a header, made-up records, an allocator."""
import struct

from makers.common import save


def dsstore(name=b"\4DSDB", end=4096):
    allocator, size = 2048, 2048
    places = [allocator | 11, 32 | 5, end | 11]
    table = struct.pack(">II", len(places), 0) + b"".join(struct.pack(">I", place) for place in places)
    table = table.ljust(8 + 1024, b"\0") + struct.pack(">I", 1) + name + struct.pack(">I", 1)
    head = b"\0\0\0\1Bud1" + struct.pack(">III", allocator, size, allocator) + bytes(range(16))
    names = "".join(f"file {i}.txtIlocblob" for i in range(90)).encode("utf-16be")
    whole = head.ljust(4 + allocator, b"\1") + table.ljust(size, b"\0")
    return (whole + names).ljust(4 + end + 2048, b"\2")


def make():
    whole = dsstore()
    save("dsstore", "desk.DS_Store", whole, verdict="unverified", length=6148, why="nothing verifies the data from 36 on")
    save("dsstore", "random.DS_Store", whole + bytes(range(256)), verdict="unverified", length=6148)
    save("dsstore", "cut.DS_Store", whole[:4500], verdict="truncated", length=4500, why="the image ends at 4500, before the file does")
    save("dsstore", "cut-early.DS_Store", whole[:1500], verdict="truncated", length=1500, why="the image ends at 1500, before the file does")
    save("dsstore", "zeros.DS_Store", whole[:1500] + bytes(6000), verdict="truncated", length=36, why="no allocator at 2052")
    save("dsstore", "name.DS_Store", dsstore(b"\4DSDC"), verdict="truncated", length=36, why="no allocator at 2052")
    save("dsstore", "header.DS_Store", whole[:16] + bytes(4) + whole[20:], verdict="reject", why="no header at 0")
