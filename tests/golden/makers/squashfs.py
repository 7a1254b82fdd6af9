"""SquashFS images, table by table, none of them packed."""
import struct

from makers.common import save
from makers.packing import junk, text

TIME = 1709251198
NONE = (1 << 64) - 1


def block(data):
    return struct.pack("<H", len(data) | 0x8000) + data


def image(attributes=True, fill=True, id_count=1, log=17, length=1 << 17, packer=1, major=4, used=0, last_inodes=0):
    inodes = 96 + 300
    out = text(300) + block(text(500)) + block(text(200, 2)[:200 - last_inodes])
    folders = 96 + len(out) + last_inodes
    out += block(text(90, 3))
    at = 96 + len(out)
    out += block(struct.pack("<I", 1000))
    ids = 96 + len(out)
    out += struct.pack("<Q", at)
    table = NONE
    if attributes:
        at = 96 + len(out)
        out += block(text(40, 4)) + block(text(16, 5))
        table = 96 + len(out)
        out += struct.pack("<QIIQ", at, 1, 0, at + 42)
    head = struct.pack("<4sIIIIHHHHHHQQQQQQQQ", b"hsqs", 3, TIME, length, 0, packer, log, 0, id_count, major, 0, 0,
                       96 + len(out) + used, ids, table, inodes, folders, NONE, NONE)
    out = head + out
    return out + bytes(-len(out) % 4096) if fill else out


def make():
    whole = image(fill=False)
    save("squashfs", "filled.sqfs", image(), time=TIME, why="", sequence="yes")
    save("squashfs", "no-attributes.sqfs", image(False), sequence="yes")
    save("squashfs", "cut.sqfs", whole[:700], verdict="truncated", length=700)
    save("squashfs", "cut-random.sqfs", whole[:700] + junk(3000, 2), verdict="truncated", length=96, why="the table at 396 is invalid")
    save("squashfs", "cut-zeros.sqfs", whole[:600] + bytes(3000), verdict="truncated", length=96)
    ids = 396 + 502 + 202 + 92
    save("squashfs", "ids-lost.sqfs", whole[:ids] + junk(900, 3), verdict="truncated", length=ids - 92, why=f"the table at {ids + 6} is invalid")
    save("squashfs", "inodes-short.sqfs", image(last_inodes=3), verdict="truncated", length=96)
    save("squashfs", "longer.sqfs", image(used=8), verdict="truncated")
    save("squashfs", "two-ids.sqfs", image(id_count=5000), verdict="truncated")
    save("squashfs", "no-ids.sqfs", image(id_count=0), verdict="reject", why="tables in an impossible order at 0")
    save("squashfs", "version-3.sqfs", image(major=3), verdict="reject", why="no superblock of version 4 at 0")
    save("squashfs", "block-length.sqfs", image(length=1 << 16), verdict="reject", why="an impossible block length or compression at 0")
    save("squashfs", "packer-7.sqfs", image(packer=7), verdict="reject")
    save("squashfs", "random-behind.sqfs", whole[:28] + junk(900, 4), verdict="reject")
