"""AutoCAD drawings: headers, with made-up content."""
import random, struct, zlib

from makers.common import save

LIST_MARK = bytes.fromhex("95a04e2899821ae55e41e05f9d3a4d00")
SECOND = bytes.fromhex("d47b21ce28939fbf53244009123caa01")
SECOND_END = bytes.fromhex("2b84de31d76c6040acdbbff6edc355fe")


def masked(copy_at):
    header = b"AcFssFcAJMB\0" + struct.pack("<IIIIIII", 0, 0x6c, 4, 0, 0, 0, 1) + struct.pack("<I", 5)
    header += struct.pack("<QQ", copy_at, copy_at) + struct.pack("<IIIII", 0, 3, 32, 128, 64) + struct.pack("<IQIII", 4, 256, 3, 4, 0)
    header += struct.pack("<I", zlib.crc32(header + bytes(4)))
    state, out = 1, bytearray()
    for byte in header:
        state = (state * 0x343fd + 0x269ec3) & 0xffffffff
        out.append(byte ^ state >> 16 & 255)
    assert len(out) == 108
    return bytes(out)


def paged(version=b"AC1018"):
    header = masked(900)
    return version + bytes(122) + header + bytes(20) + random.Random(1).randbytes(900 - 256) + header


def listed(version=b"AC1015", extra=4):
    body = random.Random(2).randbytes(600)
    second_len = 120
    rows = [(0, 100, 200), (1, 300, 100), (2, 500, 600 - 500 + 100 - 0)]
    map_end = 700
    rows[2] = (2, 500, map_end - 500)
    second = SECOND + struct.pack("<I", second_len) + bytes(second_len - 20) + SECOND_END
    end = map_end + len(second)
    if extra:
        rows.append((4, end, extra))
    head = version + bytes(15) + struct.pack("<I", len(rows)) + b"".join(struct.pack("<BII", *row) for row in rows) + b"\1\2" + LIST_MARK
    return head + (body * 2)[:map_end - len(head)] + second + b"m" * extra, map_end, len(head)


def make():
    for version in ("AC1018", "AC1024", "AC1027", "AC1032"):
        save("dwg", version + ".dwg", paged(version.encode()))
    whole = paged()
    save("dwg", "cut.dwg", whole[:700], verdict="truncated", length=700, why="the image ends at 700, before the file does")
    save("dwg", "overwritten.dwg", whole[:700] + random.Random(3).randbytes(900), verdict="truncated", length=236,
         why="no copy of the header at 900")
    wrong = bytearray(whole)
    wrong[180] ^= 1
    save("dwg", "crc.dwg", bytes(wrong), verdict="reject", why="the header at 128 is wrong")
    for version in ("AC1012", "AC1014"):
        data, map_end, head = listed(version.encode(), 0)
        save("dwg", version + ".dwg", data)
    data, map_end, head = listed()
    save("dwg", "AC1015.dwg", data, unchecked=len(data) - 4)
    save("dwg", "listed-cut.dwg", data[:400], verdict="truncated", length=400)
    save("dwg", "no-second.dwg", data[:map_end] + bytes(900), verdict="unverified", length=len(data),
         why=f"no second header after the object map, which ends at {map_end}")
    save("dwg", "no-mark.dwg", data.replace(LIST_MARK, bytes(16)), verdict="reject")
    save("dwg", "count.dwg", data[:21] + b"\x63" + data[22:], verdict="reject", why="an impossible list of sections at 21")
    save("dwg", "AC1021.dwg", b"AC1021" + bytes(7) + struct.pack("<IBBH", 0x480, 27, 1, 30) + bytes(107) + random.Random(4).randbytes(300), verdict="unverified", length=428)
    save("dwg", "names.dwg", b"AC1021" + bytes(10) + b"AC1018" + bytes(300), verdict="reject", why="no version at 0")
    save("dwg", "zeros.dwg", b"AC1021" + bytes(300), verdict="reject", why="no preview or code page at 13")
    save("dwg", "old.dwg", b"AC1009" + bytes(300), verdict="reject", why="an unknown version at 4")
    save("dwg", "text.dwg", b"AC1018 is the version", verdict="reject", why="no version at 0")
