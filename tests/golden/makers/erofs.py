"""Images of EROFS, inode by inode: files in blocks, with their ends after inodes, compressed ones in name only."""
import struct

from makers.common import PNG, save
from makers.packing import junk, text

BLOCK = 4096


def raw_crc(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc


def inode(mode, size, word, layout, long=False, attributes=b""):
    count = 1 + (len(attributes) - 12) // 4 if attributes else 0
    if long:
        head = struct.pack("<HHHHQIIIIQII16x", layout << 1 | 1, count, mode, 0, size, word, 1, 0, 0, 0, 0, 1)
    else:
        head = struct.pack("<HHHHIIIIHHI", layout << 1, count, mode, 1, size, 0, word, 1, 0, 0, 0)
    return head + attributes


def folder(entries):
    out, names = b"", b""
    for name, number, kind in sorted(entries):
        out += struct.pack("<QHBB", number, 12 * len(entries) + len(names), kind, 0)
        names += name
    return out + names


def image(crc=True, features=0, inner=None, wrong=False):
    """Block 0: superblock, inodes from 1,152 on; then blocks of data."""
    places, offsets = {}, []
    data = [("plain.png", PNG.ljust(2 * BLOCK - 100, b"\1")), ("ended.png", PNG.ljust(BLOCK, b"\2") + PNG + junk(200, 1)), ("packed", PNG + junk(BLOCK - 90, 2))]
    inodes, number, block = {}, 36, 3
    subs = folder([(b".", 60, 2), (b"..", 36, 2), (b"in.png", 64, 1)])
    tops = folder([(b".", 36, 2), (b"..", 36, 2), (b"ended.png", 52, 1), (b"long", 90, 1), (b"packed", 76, 1), (b"plain.png", 50, 1), (b"sub", 60, 2)])
    if wrong:
        tops = tops[:8] + b"\1" + tops[9:]
    put = bytearray(9 * BLOCK)

    def place(number, head, tail=b""):
        put[number * 32:number * 32 + len(head + tail)] = head + tail
        return number * 32 + len(head)

    place(36, inode(0o40755, len(tops), 0, 2), tops)
    place(50, inode(0o100644, 2 * BLOCK - 100, 1, 0))
    put[BLOCK:3 * BLOCK - 100] = data[0][1]
    tail = data[1][1][BLOCK:]
    offsets.append(place(52, inode(0o100644, len(data[1][1]), 3, 2, attributes=bytes(12)), tail))
    put[3 * BLOCK:4 * BLOCK] = data[1][1][:BLOCK]
    place(60, inode(0o40755, len(subs), 0, 2, long=True), subs)
    place(64 + 2, b"")
    in_png = PNG + junk(500, 3)
    place(64, inode(0o100600, BLOCK, 4, 0, long=True))
    put[4 * BLOCK:5 * BLOCK] = in_png.ljust(BLOCK, b"\3")
    # A list of short entries: what heads it, then groups of 8 bytes, whose last 4 are the block before the group's first.
    place(76, inode(0o100644, 9000, 1, 3), struct.pack("<IHBB", 0, 0, 0, 0) + struct.pack("<II", 0, 4))
    put[5 * BLOCK:6 * BLOCK] = data[2][1].ljust(BLOCK, b"\4")
    # One of 16 compressed blocks and more, in groups of 32 bytes after one of 8 each up to a multiple of 32.
    place(90, inode(0o100644, 20 * BLOCK, 3, 1, attributes=bytes(12)), bytes(4) + bytes(16) + struct.pack("<HHI", 1, 0, 6))
    put[6 * BLOCK:9 * BLOCK] = (PNG + junk(3 * BLOCK, 4))[:3 * BLOCK]
    head = struct.pack("<IIIBBHQQIIII16s16sI", 0xe0f5e1e2, 0, 1 if crc else 0, 12, 0, 36, 8, 0, 0, 9, 0, 0, b"u" * 16, b"golden", features)
    put[1024:1024 + len(head)] = head
    if crc:
        put[1028:1032] = struct.pack("<I", raw_crc(put[1024:4096]))
    return bytes(put), [BLOCK, 3 * BLOCK, offsets[0], 4 * BLOCK, 5 * BLOCK, 6 * BLOCK]


def make():
    guess = lambda data: dict(verdict="unverified", length=len(data), title="golden", why=f"nothing verifies the files' data up to {len(data)}")
    whole, places = image()
    save("erofs", "image.erofs", whole, embedded=" ".join(map(str, sorted(places))), **guess(whole))
    plain, places = image(crc=False)
    save("erofs", "no-crc.erofs", plain, embedded=" ".join(map(str, sorted(places))), **guess(plain))
    later, places = image(features=0x80)
    save("erofs", "later.erofs", later, embedded="none", **guess(later))
    save("erofs", "cut.erofs", whole[:-700], verdict="truncated", length=len(whole) - 700, embedded="none")
    wrong, places = image(wrong=True)
    save("erofs", "folder.erofs", wrong[:5 * BLOCK] + bytes(4 * BLOCK), verdict="truncated", length=5 * BLOCK, why="no folder at 1184")
    broken = bytearray(plain)
    broken[36 * 32 + 5] = 0x81
    save("erofs", "root.erofs", bytes(broken), verdict="reject", why="neither the superblock's CRC nor a root at 1152")
    save("erofs", "magic.erofs", whole[:1024] + b"\0" + whole[1025:], verdict="reject", why="no superblock at 1024")
