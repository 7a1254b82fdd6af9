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
    # The table's own record: 24 clusters of 1 KiB, of which the first run has 16.
    data = struct.pack("<IIBBHHHQQHHI3Q", 0x80, 72, 1, 0, 64, 0, 1, 0, 23, 64, 0, 0, 24 << 10, 24 << 10, 24 << 10) + b"\x11\x10\x04\x11\x08\x40\0\0"
    first = bytearray(record(0))
    first[20:22] = struct.pack("<H", 64)
    first[64:64 + len(data)] = data
    first = bytes(first)
    rows = first + record(1) + record(2) + bytes(5120) + record(8) + record(9) + bytes(6144)
    assert len(rows) == 16 << 10
    told = dict(verdict="unverified", why="records 0 to 9, and more may be elsewhere")
    save("mft", "told.mft", rows + bytes(2048), length=len(rows), **told)
    save("mft", "told-random.mft", rows[:14000] + noise(9000), length=10240, **told)
    save("mft", "untold.mft", first[:64] + b"\x10" + first[65:] + rows[1024:], verdict="unverified", length=3072)
    large = record(3, 4096) + record(4, 4096)
    save("mft", "large.mft", large + bytes(1024), verdict="unverified", length=len(large))
    save("mft", "one.mft", record(9) + noise(2000), verdict="unverified", length=1024)
    save("mft", "numbers.mft", record(9) + record(11), verdict="unverified", length=1024)
    torn = bytearray(record(10))
    torn[1022] ^= 1
    save("mft", "torn.mft", record(9) + bytes(torn), verdict="unverified", length=1024)
    save("mft", "fixup.mft", bytes(torn), verdict="reject", why="no record with fixups at 0")
    save("mft", "cut.mft", record(9)[:800], verdict="reject")
