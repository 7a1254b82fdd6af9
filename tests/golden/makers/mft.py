"""Records of NTFS's file table."""
import struct

from makers.common import save
from makers.sound import noise


def record(number, length=1024, mark=7):
    sectors = length // 512
    head = b"FILE" + struct.pack("<HHQHHHHIIQHHI", 48, sectors + 1, 99, 1, 1, 56, 1, 400, length, 0, 3, 0, number)
    out = bytearray((head + struct.pack("<H", mark) + bytes(2 * sectors)).ljust(length, b"\x11"))
    for i in range(sectors):
        out[(i + 1) * 512 - 2:(i + 1) * 512] = struct.pack("<H", mark)
    return bytes(out)


def make():
    table = b"".join(record(n) for n in range(40, 46))
    save("mft", "table.mft", table, verdict="unverified", length=len(table), unverified=f"0-{len(table)}", why="records 40 to 45, and more may be elsewhere")
    large = record(3, 4096) + record(4, 4096)
    save("mft", "large.mft", large + bytes(1024), verdict="unverified", length=len(large))
    save("mft", "one.mft", record(9) + noise(2000), verdict="unverified", length=1024)
    save("mft", "numbers.mft", record(9) + record(11), verdict="unverified", length=1024)
    torn = bytearray(record(10))
    torn[1022] ^= 1
    save("mft", "torn.mft", record(9) + bytes(torn), verdict="unverified", length=1024)
    save("mft", "fixup.mft", bytes(torn), verdict="reject", why="no record with fixups at 0")
    save("mft", "cut.mft", record(9)[:800], verdict="reject")
