"""Apple's disk images, by hand; runs by Python's zlib."""
import base64, struct, zlib

from makers.common import save
from makers.packing import junk, text

def listed(content=b""):
    return b'<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict><key>resource-fork</key><dict>' + content + b"</dict></dict></plist>\n"


LIST = listed()
BOOT = bytes(446) + b"\0\1\2\3\xee\4\5\6" + struct.pack("<II", 1, 99) + bytes(48) + b"\x55\xaa"


def image(first=BOOT, level=1, checksum=True, signature=b"", shift=0, crc=0, announced=True, runs=None, wanted=LIST, counted=True):
    data, tables = zlib.compress(first, level) + zlib.compress(text(4096)) + junk(600), wanted
    if runs:  # of kinds, sectors, bytes
        data, rows = b"", b""
        for kind, sectors, part in runs:
            rows += struct.pack(">IIQQQQ", kind, 0, 0, sectors, len(data), len(part))
            data += part
        table = struct.pack(">4sIQQQII", b"mish", 1, 0, 9, 0, 0, 0).ljust(200, b"\0") + struct.pack(">I", len(runs)) + rows
        tables = listed(b"<key>blkx</key><data>\n\t" + base64.b64encode(table)[:-30] + b"\n\t" + base64.b64encode(table)[-30:]
                        + b"\n</data><key>plst</key><data>AAAA</data>")
    trailer = bytearray(512)
    trailer[0:12] = b"koly" + struct.pack(">II", 4, 512)
    struct.pack_into(">QQ", trailer, 24, 0, len(data))
    if checksum:
        struct.pack_into(">III", trailer, 80, 2, 32, zlib.crc32(data) ^ crc)
    struct.pack_into(">QQ", trailer, 216, len(data) + shift, len(tables))
    if counted:
        struct.pack_into(">Q", trailer, 492, 99)
    if announced:
        struct.pack_into(">QQ", trailer, 296, len(data + tables), len(signature))
    return data + tables + signature + bytes(trailer)


def make():
    whole = image()
    first = len(zlib.compress(BOOT, 1))
    save("dmg", "boot-record.dmg", whole, why="")
    save("dmg", "best.dmg", image(level=9))
    save("dmg", "partition-map.dmg", image(b"ER\2\0" + bytes(508)))
    save("dmg", "volume.dmg", image(bytes(1024) + b"H+\0\4" + bytes(1020)))
    save("dmg", "signed.dmg", image(signature=junk(300)))
    unannounced = image(signature=junk(300), announced=False)
    save("dmg", "unannounced.dmg", unannounced, verdict="unverified", length=len(unannounced), why=f"nothing announces the bytes at {len(unannounced) - 812}")
    # As in a file whose property list and trailer have other bytes between them.
    save("dmg", "list-cut.dmg", image(wanted=LIST[:-20] + junk(20, 5)), verdict="truncated", length=first,
         why=f"the trailer at {len(whole) - 512} gives a wrong length of the property list")
    save("dmg", "list-zeros.dmg", image(wanted=listed(b"<key>a</key><data>" + bytes(200) + b"</data>")), verdict="truncated", length=first)
    unsummed = image(checksum=False)
    save("dmg", "unsummed.dmg", unsummed, verdict="unverified", length=len(unsummed), why="no table names the runs of the data at 0")
    runs = [(0x80000005, 1, zlib.compress(BOOT, 1)), (2, 90, b""), (0x80000005, 8, zlib.compress(text(4096))), (0, 7, b""), (0xffffffff, 0, b"")]
    save("dmg", "runs.dmg", image(checksum=False, runs=runs), why="")
    runs[2] = (0x80000005, 9, runs[2][2])
    wrong = image(checksum=False, runs=runs)
    save("dmg", "runs-length.dmg", wrong, verdict="truncated", length=first, why=f"the trailer at {len(wrong) - 512} has a table with an invalid run")
    runs[2] = (1, 8, runs[2][2])
    raw = image(checksum=False, runs=runs)
    save("dmg", "runs-raw.dmg", raw, verdict="unverified", length=len(raw), why=f"nothing verifies the run at {first}")
    save("dmg", "no-sectors.dmg", image(counted=False), verdict="truncated", length=first, why=f"no trailer before {len(whole)}")
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
