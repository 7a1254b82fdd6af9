"""Android's DEX: header, made-up data, map."""
import random, struct, zlib

from makers.common import save
from makers.elf import code


def made(version=b"035", head=0x70, body=600):
    items = struct.pack("<I", 3) + struct.pack("<HHII", 0, 0, 1, 0) + struct.pack("<HHII", 1, 0, 9, head) + struct.pack("<HHII", 0x1000, 0, 1, head + body)
    size = head + body + len(items)
    data = struct.pack("<IIIIII", size, head, 0x12345678, 0, 0, head + body).ljust(head - 32, b"\0") + code(body) + items
    data = bytes(20) + data
    return b"dex\n" + version + b"\0" + struct.pack("<I", zlib.adler32(data)) + data


def make():
    for version, head in ((b"035", 0x70), (b"039", 0x70), (b"041", 0x78)):
        save("dex", f"version-{version.decode()}.dex", made(version, head))
    data = made()
    at = 0x70 + 600
    changed = bytearray(data)
    changed[200] ^= 1
    save("dex", "changed.dex", bytes(changed), verdict="unverified", length=len(data), why="the checksum at 8 is wrong")
    large = made(body=6000)
    save("dex", "zeros.dex", large[:3000] + bytes(5000), verdict="truncated", length_min=2900, length_max=3000, why=f"no map at {0x70 + 6000}")
    save("dex", "text.dex", large[:3000] + b"nothing but words, " * 300, verdict="truncated", length_min=2900, length_max=3100)
    early = bytearray(made(body=20000))
    early[52:56] = struct.pack("<I", 0x70)
    early[0x70:0x70 + 40] = early[-40:]
    save("dex", "random.dex", bytes(early[:9000]) + random.Random(5).randbytes(15000), verdict="truncated", length_min=7900, length_max=10100,
         why="the checksum is wrong at 8")
    save("dex", "cut.dex", data[:-9], verdict="truncated", length=len(data) - 9, why=f"the image ends at {len(data) - 9}, before the file does")
    for where, value, why in ((7, 1, "no DEX magic at 0"), (36, 1, "no header length and byte order at 36"),
                              (40, 1, "no header length and byte order at 36"), (55, 9, "impossible sizes at 32")):
        bad = bytearray(data)
        bad[where] = value
        save("dex", f"head-{where}.dex", bytes(bad), verdict="reject", why=why)
