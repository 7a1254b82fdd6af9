"""JFFS2, node by node, in both orders of bytes."""
import struct, zlib

from makers.common import PNG, save
from makers.packing import junk, text


def crc(data):
    return zlib.crc32(data, 0xffffffff) ^ 0xffffffff


def node(order, kind, content=b"", obsolete=False):
    head = struct.pack(order + "HHI", 0x1985, kind, 12 + len(content))
    total = crc(head)
    if obsolete:
        head = struct.pack(order + "HHI", 0x1985, kind & ~0x2000, 12 + len(content))
    out = head + struct.pack(order + "I", total) + content
    return out + b"\xff" * (-len(out) % 4)


def entry(order, number, name):
    head = struct.pack(order + "HHI", 0x1985, 0xe001, 40 + len(name))
    head += struct.pack(order + "I", crc(head)) + struct.pack(order + "IIII", 1, number, number + 1, 1709251198) + bytes((len(name), 8, 0, 0))
    out = head + struct.pack(order + "II", crc(head), crc(name)) + name
    return out + b"\xff" * (-len(out) % 4)


def inode(order, number, data, place=0, compressed=6):
    head = struct.pack(order + "HHI", 0x1985, 0xe002, 68 + len(data))
    head += struct.pack(order + "I", crc(head)) + struct.pack(order + "IIIHHIIIIIII", number, 1, 0o100644, 0, 0, 9000, 0, 0, 0, place, len(data), 4096) + bytes((compressed, 0, 0, 0))
    out = head + struct.pack(order + "II", crc(data), crc(head)) + data
    return out + b"\xff" * (-len(out) % 4)


def image(order="<", erased=True):
    marker = node(order, 0x2003)
    first = marker + entry(order, 1, b"a.txt") + inode(order, 2, zlib.compress(text(900))) + inode(order, 3, PNG + junk(700, 1), compressed=0)
    out = first.ljust(4096, b"\xff") + marker + entry(order, 3, b"golden.png") + inode(order, 3, junk(999, 2), 4096, 0)
    return out.ljust(8192, b"\xff") if erased else out


def make():
    whole, bare = image(), image(erased=False)
    end = lambda at: dict(verdict="unverified", why=f"no node at {at}, and the number of nodes is not stored")
    save("jffs2", "image.jffs2", whole, length=len(whole), embedded=whole.index(b"\x89PNG"), **end(len(whole)))
    save("jffs2", "big-endian.jffs2", image(">"), length=len(whole), **end(len(whole)))
    save("jffs2", "bare.jffs2", bare + junk(3000, 3), length=len(bare), **end(len(bare)))
    old = bare + node("<", 0x2004, bytes(20), True)
    save("jffs2", "obsolete.jffs2", old + bytes(900), length=len(old), **end(len(old)))
    start = len(bare) - 68 - 999 - 1
    save("jffs2", "cut.jffs2", bare[:-300], verdict="truncated", length=start, why=f"the image ends at {len(bare) - 300}, before the file does")
    save("jffs2", "random.jffs2", bare[:-300] + junk(5000, 4), verdict="truncated", length=start, why=f"a node with a wrong checksum at {start}")
    save("jffs2", "head.jffs2", bare[:start] + junk(5000, 4), length=start, **end(start))
    save("jffs2", "few.jffs2", node("<", 0x2003) + entry("<", 1, b"a") + junk(400, 5), verdict="reject")
    save("jffs2", "crc.jffs2", bare[:9] + b"x" + bare[10:], verdict="reject", why="no node with its CRC at 0")
