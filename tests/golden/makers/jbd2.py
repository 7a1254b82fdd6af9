"""Journals of ext3 and ext4, block by block."""
import struct

from makers.common import save
from makers.packing import junk

MAGIC = 0xc03b3998


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc


def superblock(blocks, block_len=1024, kind=4, first=1, sequence=1, start=0, incompat=0, users=1):
    head = struct.pack(">9I", MAGIC, kind, 0, block_len, blocks, first, sequence, start, 0)
    if kind == 4:
        head += struct.pack(">III16sI", 0, incompat, 0, junk(16, 7), users)
    head = head.ljust(1024, b"\0")
    if incompat & 0x18:
        head = head[:0x50] + b"\4" + head[0x51:]
        head = head[:0xfc] + struct.pack(">I", crc32c(head)) + head[0x100:]
    return head.ljust(block_len, b"\0")


def transaction(number, copies, block_len=1024):
    """A descriptor, copies of blocks, a commit."""
    tags = b"".join(struct.pack(">II", 50 + i, 2 if i else 0) + (b"" if i else bytes(16)) for i in range(copies))
    out = (struct.pack(">III", MAGIC, 1, number) + tags).ljust(block_len, b"\0")
    out += b"".join(junk(block_len, number * 100 + i) for i in range(copies))
    return out + (struct.pack(">III", MAGIC, 2, number)).ljust(block_len, b"\0")


def make():
    log = transaction(4, 5) + struct.pack(">IIII", MAGIC, 5, 5, 20).ljust(1024, b"\0") + transaction(5, 2)
    fresh = superblock(20) + log + bytes(1024 * (19 - len(log) // 1024))
    why = "nothing verifies what %d blocks of %d are copies of"
    save("jbd2", "fresh.jbd2", fresh, verdict="unverified", length=20480, why=why % (14, 20))
    save("jbd2", "old.jbd2", superblock(20, kind=3)[:1024] + fresh[1024:], verdict="unverified", length=20480)
    whole = superblock(24, sequence=4, start=1, incompat=0x12) + log + junk(1024 * 12, 3)
    save("jbd2", "full.jbd2", whole, verdict="unverified", length=24576, why=why % (24 - 1 - 5, 24))
    save("jbd2", "device.jbd2", superblock(18, 2048, first=2, users=0) + transaction(9, 2, 2048) + bytes(2048 * 12), verdict="unverified", length=17 * 2048)
    save("jbd2", "cut.jbd2", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    save("jbd2", "cut-random.jbd2", whole[:9000] + junk(90000, 4), verdict="unverified", length=24576)
    save("jbd2", "cut-zeros.jbd2", whole[:9000] + bytes(90000), verdict="unverified", length=24576)
    save("jbd2", "another.jbd2", whole[:8192] + fresh, verdict="truncated", length=8192, why="no block of this journal at 8192")
    save("jbd2", "begins.jbd2", whole[:1024] + junk(90000, 5), verdict="truncated", length=1024, why="no block of this journal at 1024")
    save("jbd2", "later.jbd2", superblock(24, sequence=6, start=1) + log + bytes(20000), verdict="truncated", length=1024)
    save("jbd2", "crc.jbd2", whole[:0x30] + b"\1" + whole[0x31:], verdict="reject", why="a superblock with another CRC at 0")
    save("jbd2", "length.jbd2", fresh[:14] + b"\5" + fresh[15:], verdict="reject", why="no length of a block at 0")
    save("jbd2", "places.jbd2", fresh[:31] + b"\24" + fresh[32:], verdict="reject", why="no places of the log at 0")
    save("jbd2", "features.jbd2", fresh[:0x28] + b"\1" + fresh[0x29:], verdict="reject", why="unknown features at 0")
