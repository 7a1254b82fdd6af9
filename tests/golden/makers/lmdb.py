"""LMDB's databases, page by page."""
import struct

from makers.common import save
from makers.sound import noise

PAGE = 4096


def tree(root, pages):
    return struct.pack("<IHHQQQQQ", 0, 0, 1, 0, pages, 0, 3, root)


def meta(number, last, transaction):
    head = struct.pack("<QHHHH", number, 0, 8, 0, 0) + struct.pack("<IIQQ", 0xbeefc0de, 1, 0, 1 << 20)
    return (head + struct.pack("<I", PAGE) + tree(0, 0)[4:] + tree(2, 1) + struct.pack("<QQ", last, transaction)).ljust(PAGE, b"\0")


def leaf(number, items):
    out, top, places = bytearray(PAGE), PAGE, b""
    for key, value in items:
        flags = 1 if isinstance(value, int) else 0
        node = struct.pack("<IHH", 5000 if flags else len(value), flags, len(key)) + key + (struct.pack("<Q", value) if flags else value)
        node += bytes(len(node) % 2)
        top -= len(node)
        out[top:top + len(node)] = node
        places += struct.pack("<H", top)
    out[:16] = struct.pack("<QHHHH", number, 0, 2, 16 + len(places), top)
    out[16:16 + len(places)] = places
    return bytes(out)


def branch(number, pages):
    out = leaf(number, [(b"key %d" % page, b"") for page in pages])
    return out[:10] + b"\1" + out[11:]


def make():
    items = [(b"key %d" % i, b"a value of gold, number %d" % i) for i in range(20)]
    head = meta(0, 4, 1) + meta(1, 5, 2)
    whole = head + leaf(2, items) + branch(3, (2, 4)) + bytes(PAGE) + leaf(5, items)
    save("lmdb", "six.mdb", whole, unchecked=5 * PAGE)
    long = meta(0, 4, 3) + meta(1, 3, 2) + leaf(2, items + [(b"long", 3)]) + (struct.pack("<QHHI", 3, 0, 4, 2) + noise(5000)).ljust(2 * PAGE, b"\0")
    save("lmdb", "long.mdb", long, verdict="unverified", length=len(long))
    save("lmdb", "cut.mdb", whole[:3 * PAGE + 100], verdict="truncated", length=3 * PAGE)
    for name, junk in (("random", noise(9000, 2)), ("text", b"Some text. " * 900), ("erased", b"\xff" * 9000)):
        save("lmdb", f"cut-{name}.mdb", whole[:3 * PAGE] + junk, verdict="truncated", length=3 * PAGE, why=f"no page of this file at {3 * PAGE}")
    save("lmdb", "wiped.mdb", whole[:5 * PAGE] + bytes(9000), verdict="unverified", length=len(whole))
    wrong = bytearray(whole)
    wrong[2 * PAGE + 16:2 * PAGE + 18] = struct.pack("<H", PAGE - 4)
    save("lmdb", "node.mdb", bytes(wrong), verdict="truncated", length=2 * PAGE)
    save("lmdb", "one.mdb", whole[:PAGE] + noise(9000), verdict="reject", why=f"no meta page at {PAGE}")
    save("lmdb", "version.mdb", whole[:20] + b"\2" + whole[21:], verdict="reject", why="no meta page at 0")
    save("lmdb", "size.mdb", whole[:40] + b"\1" + whole[41:], verdict="reject", why="no meta page at 0")
