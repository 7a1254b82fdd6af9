"""Apple's disk images, by hand; runs by Python's zlib."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text

LIST = b'<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict><key>resource-fork</key><dict/></dict></plist>\n'
BOOT = bytes(446) + b"\0\1\2\3\xee\4\5\6" + struct.pack("<II", 1, 99) + bytes(48) + b"\x55\xaa"


def image(first=BOOT, level=1, checksum=True, signature=b"", shift=0, crc=0):
    data = zlib.compress(first, level) + zlib.compress(text(4096)) + junk(600)
    trailer = bytearray(512)
    trailer[0:12] = b"koly" + struct.pack(">II", 4, 512)
    struct.pack_into(">QQ", trailer, 24, 0, len(data))
    if checksum:
        struct.pack_into(">III", trailer, 80, 2, 32, zlib.crc32(data) ^ crc)
    struct.pack_into(">QQ", trailer, 216, len(data) + shift, len(LIST))
    return data + LIST + signature + bytes(trailer)


def make():
    whole = image()
    first = len(zlib.compress(BOOT, 1))
    save("dmg", "boot-record.dmg", whole, why="")
    save("dmg", "best.dmg", image(level=9))
    save("dmg", "partition-map.dmg", image(b"ER\2\0" + bytes(508)))
    save("dmg", "volume.dmg", image(bytes(1024) + b"H+\0\4" + bytes(1020)))
    save("dmg", "signed.dmg", image(signature=junk(300)))
    save("dmg", "unsummed.dmg", image(checksum=False) , sequence="yes")
    save("dmg", "cut.dmg", whole[:-100], verdict="truncated", length=first)
    save("dmg", "cut-random.dmg", whole[:700] + junk(2000, 2), verdict="truncated", length=first, why="no trailer before 2700")
    at = 700 + len(whole) - 512
    save("dmg", "cut-other.dmg", whole[:700] + whole, verdict="truncated", length=first, why=f"the trailer at {at} gives a wrong offset of the property list")
    save("dmg", "crc-wrong.dmg", image(crc=1), verdict="truncated", length=first)
    save("dmg", "place-wrong.dmg", image(shift=1 << 40), verdict="truncated", length=first,
         why=f"the trailer at {len(whole) - 512} belongs to another start")
    long = image(BOOT + text(9000))
    save("dmg", "cut-in-first-run.dmg", long[:1500] + junk(2000, 4), verdict="truncated", length_min=1500, length_max=2600)
    save("dmg", "not-a-disk.dmg", image(text(512)), verdict="reject", why="the compressed data at 0 is not the start of a disk")
    save("dmg", "half-a-sector.dmg", image(BOOT + bytes(100)), verdict="reject")
    save("dmg", "not-packed.dmg", junk(1500, 3), verdict="reject")
