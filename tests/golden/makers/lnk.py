"""Shell links, part by part."""
import random, struct

from makers.common import save

TIME = 133536000000000000  # 2024-02-29
SECONDS = TIME // 10000000 - 11644473600
LIST, PLACE, NAME, RELATIVE, FOLDER, ARGUMENTS, ICON, UNICODE = 1, 2, 4, 8, 16, 32, 64, 128


def header(flags, attributes=0x20):
    return struct.pack("<I", 76) + bytes.fromhex("0114020000000000c000000000000046") + struct.pack(
        "<IIQQQIIIHHII", flags, attributes, TIME, TIME, TIME, 1234, 0, 1, 0, 0, 0, 0)


def items(*data):
    body = b"".join(struct.pack("<H", len(d) + 2) + d for d in data) + b"\0\0"
    return body


def id_list():
    body = items(b"\x1f\x50\xe0\x4f\xd0\x20\xea\x3a\x69\x10\xa2\xd8\x08\x00\x2b\x30\x30\x9d", b"/C:\\".ljust(23, b"\0"),
                 b"2\0\0\0\0\0\0\0\0\0 \0notes.txt\0")
    return struct.pack("<H", len(body)) + body


def place(path=b"C:\\notes.txt"):
    volume = struct.pack("<IIII", 17, 3, 0x12345678, 16) + b"\0"
    base = 28 + len(volume)
    total = base + len(path) + 1 + 1
    return struct.pack("<7I", total, 28, 1, 28, base, 0, base + len(path) + 1) + volume + path + b"\0" + b"\0"


def string(text, unicode=True):
    return struct.pack("<H", len(text)) + text.encode("utf-16-le" if unicode else "cp1252")


def tracker():
    rng = random.Random(2)
    return struct.pack("<IIII", 0x60, 0xa0000003, 0x58, 0) + b"machine".ljust(16, b"\0") + rng.randbytes(64)


def store():
    value = struct.pack("<IIBHH", 0, 7, 0, 31, 0) + struct.pack("<I", 6) + "notes\0".encode("utf-16-le")
    value = struct.pack("<I", len(value)) + value[4:]
    body = b"1SPS" + bytes(range(16)) + value + bytes(4)
    return struct.pack("<I", len(body) + 4) + body + bytes(4)


def block(kind, body):
    return struct.pack("<II", len(body) + 8, 0xa0000000 + kind) + body


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    parts = [header(LIST | PLACE | NAME | RELATIVE | FOLDER | UNICODE), id_list(), place(), string("Notes of a meeting"),
             string(".\\notes.txt"), string("C:\\"), block(5, struct.pack("<II", 5, 0x2d)), block(9, store()), tracker(), bytes(4)]
    at = [sum(map(len, parts[:n])) for n in range(len(parts) + 1)]
    link = b"".join(parts)
    save("lnk", "all.lnk", link, title="Notes of a meeting", time=SECONDS)
    save("lnk", "place.lnk", header(PLACE) + place() + bytes(4), title="C:\\notes.txt")
    save("lnk", "ansi.lnk", header(RELATIVE | ARGUMENTS | ICON) + string("a.exe", False) + string("/quiet", False) + string("b.ico", False) +
         bytes(4), title="a.exe")
    save("lnk", "environment.lnk", header(LIST) + id_list() + block(1, b"%windir%\\a.exe".ljust(260, b"\0") + "%windir%\\a.exe".encode(
        "utf-16-le").ljust(520, b"\0")) + block(12, items(b"abcdefgh")) + block(11, bytes(20)) + bytes(4))
    # A string that another file's bytes end, and zeros in it.
    for bit in (9, 12, 14):
        lost = header(NAME | RELATIVE | UNICODE | 1 << bit) + string("Notes of a meet") + bytes(6)
        save("lnk", f"no-block-{bit}.lnk", lost, verdict="unverified", length=len(lost), title="Notes of a meet",
             why=f"an extra block that the flags announce is not before {len(lost)}")
    icon = header(NAME | UNICODE | 1 << 14) + string("Notes") + block(7, b"%windir%\\a.ico".ljust(260, b"i") + b"w" * 520) + bytes(4)
    save("lnk", "icon-block.lnk", icon, title="Notes")
    save("lnk", "ended-string.lnk", header(NAME | UNICODE) + string("Notes\0") + bytes(4), title="Notes")
    plain = header(LIST) + id_list()
    save("lnk", "no-end.lnk", plain + b"\xff" * 40, verdict="unverified", length=len(plain), why=f"no final block at {len(plain)}")
    for n, name in ((1, "list"), (2, "place"), (3, "string"), (7, "store"), (8, "tracker")):
        cut = (at[n] + at[n + 1]) // 2
        save("lnk", f"cut-{name}.lnk", link[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
        if name != "tracker":  # its content is random
            save("lnk", f"wiped-{name}.lnk", link[:cut] + bytes(3000), verdict="truncated", length=at[3] if name == "place" else at[n])
    last = header(LIST) + id_list() + block(1, b"%windir%\\a.exe".ljust(260, b"\0") + "%windir%\\a.exe".encode("utf-16-le").ljust(520, b"\0")) + bytes(4)
    save("lnk", "wiped-block.lnk", last, verdict="unverified", length=len(last), why="zeros from 512 on: padding of a block, or a wiped end")
    cut = at[3] + 12
    save("lnk", "random.lnk", link[:cut] + random.Random(3).randbytes(3000), verdict="truncated", length_min=at[3], length_max=at[4] + 4)
    save("lnk", "items.lnk", patched(link, 78, b"\xff\xff"), verdict="truncated", length=76, why="an impossible list of items at 76")
    save("lnk", "block.lnk", patched(link, at[7] + 4, b"\x77"), verdict="truncated", length=at[7],
         why=f"an impossible extra block at {at[7]}")
    save("lnk", "flags.lnk", patched(link, 23, b"\xff"), verdict="reject", why="impossible flags, or reserved bytes that are set")
    save("lnk", "reserved.lnk", patched(link, 70, b"\1"), verdict="reject")
    save("lnk", "window.lnk", patched(link, 61, b"\1"), verdict="reject", why="an impossible window state")
