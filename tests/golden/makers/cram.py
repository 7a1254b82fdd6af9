"""CRAM, container by container; blocks are text, a gzip member or noise."""
import gzip, struct, zlib

from makers.common import save
from makers.packing import junk, text


def itf8(n):
    if n < 0x80:
        return bytes((n,))
    for more, top in ((1, 0x80), (2, 0xc0), (3, 0xe0)):
        if n < 1 << 7 + 7 * more:
            return bytes((top | n >> 8 * more,)) + (n & (1 << 8 * more) - 1).to_bytes(more, "big")
    return bytes((0xf0 | n >> 28, n >> 20 & 255, n >> 12 & 255, n >> 4 & 255, n & 15))


def summed(data, version):
    return data + (struct.pack("<I", zlib.crc32(data)) if version > 2 else b"")


def block(version, kind, data, method=0):
    return summed(bytes((method, kind)) + itf8(7) + itf8(len(data)) + itf8(len(data)) + data, version)


def container(version, blocks, reference=0, start=100, room=0):
    body = b"".join(blocks) + bytes(room)
    head = struct.pack("<i", len(body)) + itf8(reference) + itf8(start) + itf8(300) + itf8(20) + itf8(70000) + itf8(5000) + itf8(len(blocks)) + itf8(1) + itf8(33)
    return summed(head, version) + body


def cram(version=3):
    end = container(version, [block(version, 1, b"\1\0\1\0\1\0")], 0xffffffff, 0x454f46)
    first = container(version, [block(version, 0, struct.pack("<I", 40) + text(40))], room=200)
    return b"CRAM" + bytes((version, 0)) + b"golden.sam".ljust(20, b"\0") + first + \
        container(version, [block(version, 1, text(300)), block(version, 4, gzip.compress(text(900), mtime=0), 1), block(version, 5, junk(3000, 1), 4)]) + \
        container(version, [block(version, 1, text(200)), block(version, 5, junk(2000, 2), 4)], 3, 30000000) + end


def make():
    whole = cram()
    save("cram", "version-3.cram", whole, title="golden.sam", why="")
    old = cram(2)
    save("cram", "version-2.cram", old, verdict="unverified", length=len(old), why="version 2 has no checksums")
    third = whole.index(junk(2000, 2)[:50])
    save("cram", "cut.cram", whole[:third + 900], verdict="truncated", length_min=third - 300, length_max=third, why=f"the image ends at {third + 900}, before the file does")
    save("cram", "random.cram", whole[:third + 900] + junk(5000, 3), verdict="truncated", length_min=third - 300, length_max=third)
    save("cram", "zeros.cram", whole[:third + 900] + bytes(5000), verdict="truncated", length_min=third - 300, length_max=third)
    save("cram", "no-end.cram", whole[:-30] + junk(900, 4), verdict="truncated", length_min=third + 2000, length_max=len(whole) - 30)
    save("cram", "version.cram", whole[:4] + b"\4" + whole[5:], verdict="reject", why="no header of version 2 or 3 at 0")
    save("cram", "first.cram", whole[:30] + junk(900, 5), verdict="reject", why="no container at 26")
