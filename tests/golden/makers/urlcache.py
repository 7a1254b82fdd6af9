"""Internet Explorer's index.dat, block by block."""
import random, struct

from makers.common import save


def index(version=b"5.2", blocks=64, urls=8, used=None, table=True):
    body, bits, entries = bytearray(blocks * 128), 0, b""
    for n in range(urls):
        block = 32 + 2 * n
        record = b"URL " + struct.pack("<I", 2) + bytes(96) + b"http://example.org/%d\0" % n
        body[block * 128:block * 128 + len(record)] = record
        bits |= 3 << block
        entries += struct.pack("<II", 0x1234500 + 64 * n, 16384 + block * 128)
    entries += struct.pack("<II", 1, 16384) + struct.pack("<II", 0x0badf00d, 0x0badf00d) + struct.pack("<II", 3, 3)
    if table:
        body[:4096] = (b"HASH" + struct.pack("<III", 32, 0, 0) + entries).ljust(4096, b"\0")
        bits |= (1 << 32) - 1
    count = bin(bits).count("1") if used is None else used
    head = b"Client UrlCache MMF Ver " + version + b"\0" + struct.pack("<IIII", 16384 + len(body), 16384 if table else 0, blocks, count)
    head = head.ljust(592, b"\0") + bits.to_bytes(blocks // 8, "little")
    return head.ljust(16384, b"\0") + bytes(body)


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    data = index()
    end = 16384 + 128 * (32 + 16)
    save("urlcache", "five.dat", data, unchecked=end - 130)
    save("urlcache", "empty.dat", index(b"4.7", 8, 0, table=False), verdict="unverified", length=16384 + 8 * 128, why="no hash table")
    save("urlcache", "cut.dat", data[:18000], verdict="truncated", length=18000, why="the image ends at 18000, before the file does")
    save("urlcache", "table.dat", patched(data, 16384, b"hash"), verdict="truncated", length=16384, why="no hash table at 16384")
    at = 16384 + 128 * 36
    save("urlcache", "record.dat", patched(data, at, b"\xff"), verdict="truncated", length=at, why=f"an entry that does not lead to a record at {16384 + 16 + 16}")
    save("urlcache", "random.dat", data[:end] + random.Random(1).randbytes(len(data) - end), verdict="truncated",
         length_min=end, length_max=end + 256)
    save("urlcache", "map.dat", index(used=3)[:17000], verdict="reject", why="a map with a different number of blocks in use")
    save("urlcache", "size.dat", patched(data[:600], 28, b"\1"), verdict="reject", why="sizes that do not agree")
