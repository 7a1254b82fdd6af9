"""VDI: blocks of 4 KiB."""
import struct

from makers.common import save
from makers.elf import code


def made(places=(1, 0, -1, -2), stored=2, comment=b"A golden disk"):
    head = b"<<< Oracle VM VirtualBox Disk Image >>>\n".ljust(64, b"\0") + struct.pack("<IHHIII", 0xbeda107f, 1, 1, 0x190, 1, 0)
    head = head.ljust(0x54, b"\0") + comment.ljust(256, b"\0") + struct.pack("<II", 512, 1024)
    head = head.ljust(0x170, b"\0") + struct.pack("<QIIII", 4 * 4096, 4096, 0, len(places), stored)
    return head.ljust(512, b"\0") + struct.pack(f"<{len(places)}i", *places).ljust(512, b"\0") + code(4096 * stored)


def make():
    plain = made()
    save("vdi", "plain.vdi", plain, verdict="unverified", length=len(plain), title="A golden disk",
         why=f"the map agrees, but the blocks up to {len(plain)} cannot be verified")
    empty = made((-1, -1), 0)
    save("vdi", "empty.vdi", empty, verdict="unverified", length=1024)
    save("vdi", "cut.vdi", plain[:-100], verdict="truncated", length=len(plain) - 100)
    save("vdi", "map.vdi", made((1, 7, -1, -2)), verdict="truncated", length_min=400, length_max=1024, why="no map of blocks at 512")
    save("vdi", "count.vdi", made((1, -1, -1, -2)), verdict="truncated", length_min=400, length_max=1024, why="no map of blocks at 512")
    for where, value, why in ((64, 1, "no signature and version at 64"), (0x179, 3, "impossible sizes at 340"), (0x185, 9, "impossible sizes at 340")):
        wrong = bytearray(plain)
        wrong[where] = value
        save("vdi", f"head-{where}.vdi", bytes(wrong), verdict="reject", why=why)
