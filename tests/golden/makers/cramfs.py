"""Images of cramfs and romfs, made by hand; what cramfs compresses is noise."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text


def cramfs(order="<", crc=True, name=b"golden"):
    body = struct.pack(order + "III", 0o40755 << 16 >> 16, 24, 76) + name.ljust(16, b"\0") + bytes(100) + junk(8000, 1)
    length = 48 + len(body)
    length += -length % 4096
    head = lambda total: struct.pack(order + "IIII", 0x28cd3d45, length, 3 if crc else 2, 0) + b"Compressed ROMFS" + struct.pack(order + "IIII", total, 0, 3, 5)
    whole = (head(0) + body).ljust(length, b"\0")
    return head(zlib.crc32(whole)) + whole[48:]


def make():
    whole = cramfs()
    save("cramfs", "image.cramfs", whole, title="golden", why="")
    save("cramfs", "big-endian.cramfs", cramfs(">"))
    old = cramfs(crc=False)
    save("cramfs", "old.cramfs", old + junk(900, 2), verdict="unverified", length=len(old), why="no checksum at 32")
    save("cramfs", "random.cramfs", whole[:5000] + junk(9000, 3), verdict="unverified", length=len(whole), why="the checksum at 32 is wrong")
    save("cramfs", "text.cramfs", whole[:5000] + text(9000), verdict="truncated", length_min=4000, length_max=6100)
    save("cramfs", "cut.cramfs", whole[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    save("cramfs", "length.cramfs", whole[:4] + b"\x20\0\0\0" + whole[8:], verdict="reject", why="an impossible length at 4")
    save("cramfs", "name.cramfs", whole[:20] + b"X" + whole[21:], verdict="reject", why="no superblock at 0")
