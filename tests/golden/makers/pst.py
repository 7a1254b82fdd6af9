"""Outlook's personal folders: header, one allocation map, the trees' first pages; the rest is empty. Outlook has not seen them."""
import struct, zlib

from makers.common import save

FIRST = 0x4400


def weak_crc(data):
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def page(kind, wide, number, text=b"", entries=(), level=0):
    body = text.ljust(496 if wide else 500, b"\0")
    if entries:
        room = 488 if wide else 496
        body = b"".join(entries).ljust(room, b"\0") + bytes((len(entries), room // len(entries[0]), len(entries[0]), level))
        body = body.ljust(496 if wide else 500, b"\0")
    if wide:
        return body + struct.pack("<BBHIQ", kind, kind, 0, weak_crc(body), number)
    return body + struct.pack("<BBHII", kind, kind, 0, number, weak_crc(body))


def pst(wide=True, client=b"SM", version=None, valid=2, end=FIRST + 2048):
    head = bytearray(564 if wide else 512)
    head[:4], head[8:10] = b"!BDN", client
    head[10:12] = struct.pack("<H", version or (23 if wide else 14))
    if wide:
        head[184:256] = struct.pack("<QQQQQQQQBBH", end, FIRST, 0, 0, 7, FIRST + 512, 8, FIRST + 1024, valid, 0, 0).ljust(72, b"\0")
        head[524:528] = struct.pack("<I", weak_crc(bytes(head[8:524])))
    else:
        head[168:204] = struct.pack("<IIIIIIIIBBH", end, FIRST, 0, 0, 7, FIRST + 512, 8, FIRST + 1024, valid, 0, 0)
    head[4:8] = struct.pack("<I", weak_crc(bytes(head[8:479])))
    out = bytes(head).ljust(FIRST, b"\0") + page(0x84, wide, FIRST, b"\xff\xff") + page(0x81, wide, 7) + page(0x80, wide, 8)
    return out.ljust(end, b"\0")


def block(data, wide, number):
    trailer = struct.pack("<HHIQ", len(data), 0, weak_crc(data), number) if wide else struct.pack("<HHII", len(data), 0, number, weak_crc(data))
    return data.ljust(-(-(len(data) + len(trailer)) // 64) * 64 - len(trailer), b"\0") + trailer


def filled(wide=True):
    """The same with a node, ten blocks, and a block tree of two levels."""
    end, at, texts = FIRST + 45056, FIRST + 4096, [bytes([65 + i]) * (300 + 700 * i) for i in range(10)]
    word = "Q" if wide else "I"
    out, named = bytearray(pst(wide, end=end)), []
    for i, text in enumerate(texts):
        data = block(text, wide, 4 * i + 4)
        out[at:at + len(data)] = data
        named.append((4 * i + 4, at, len(text)))
        at += len(data) + 64 * (i == 4)
        assert at < end or i == 9
    leaves = [[struct.pack(f"<{word}{word}HH", number, at, size, 2) + bytes(4 * wide) for number, at, size in half] for half in (named[:5], named[5:])]
    node = struct.pack(f"<{word}{word}{word}I", 33, 4, 0, 0) + bytes(4 * wide)
    links = [struct.pack(f"<{word}{word}{word}", half[0][0], 9 + i, FIRST + 1536 + 512 * i) for i, half in enumerate((named[:5], named[5:]))]
    pages = [page(0x81, wide, 7, entries=[node]), page(0x80, wide, 8, entries=links, level=1)]
    pages += [page(0x80, wide, 9 + i, entries=leaf) for i, leaf in enumerate(leaves)]
    for i, data in enumerate(pages):
        out[FIRST + 512 + 512 * i:FIRST + 1024 + 512 * i] = data
    return bytes(out.ljust(end, b"\0")), named


def make():
    loose = dict(unchecked=0)  # between the pages that are looked at nothing is checked
    save("pst", "unicode.pst", pst(), extension="pst", **loose)
    save("pst", "ansi.pst", pst(False), extension="pst", **loose)
    save("pst", "offline.ost", pst(client=b"SO"), extension="ost", **loose)
    for wide, name in (True, "blocks.pst"), (False, "blocks-ansi.pst"):
        whole, blocks = filled(wide)
        gaps = f"{564 if wide else 512}-{FIRST} {FIRST + 2560}-{FIRST + 4096} "
        low, high = blocks[4], blocks[9]
        low, high = [at + -(-(size + (16 if wide else 12)) // 64) * 64 for _, at, size in (low, high)]
        save("pst", name, whole, extension="pst", unverified=f"{gaps}{low}-{low + 64} {high}-{len(whole)}", **loose)
    whole, blocks = filled()
    for kind, byte in ("text", b"foreign text"), ("zeros", b"\0"), ("ff", b"\xff"):
        at = blocks[6][1]
        save("pst", f"lost-{kind}.pst", whole[:at] + (byte * len(whole))[:len(whole) - at], verdict="truncated", length=at,
             why=f"no valid block at {at}")
    save("pst", "free.pst", whole[:-900] + b"a file that took the place of free space".ljust(900, b"\0"), verdict="unverified", length=len(whole),
         why=f"nothing verifies the free space from {high} up to the end")
    wrong = bytearray(whole)
    wrong[blocks[2][1] + 7] ^= 1
    save("pst", "block.pst", bytes(wrong), verdict="unverified", length=len(whole), why=f"no valid block at {blocks[2][1]}")
    wrong = bytearray(whole)
    wrong[FIRST + 2048 + 7] ^= 1
    save("pst", "leaf.pst", bytes(wrong), verdict="unverified", length=len(whole), why=f"no tree page at {FIRST + 2048}")
    stale = bytearray(pst(valid=0))
    stale[FIRST] ^= 1
    save("pst", "stale-map.pst", bytes(stale), extension="pst", **loose)
    pages = pst(client=b"SO", version=36, end=18432 + 4096)
    save("pst", "pages.ost", pages, verdict="unverified", length=len(pages), extension="ost")
    whole = pst()
    save("pst", "cut.pst", whole[:-700], verdict="truncated", length=len(whole) - 700)
    wrong = bytearray(whole)
    wrong[FIRST] ^= 1
    save("pst", "map.pst", bytes(wrong), verdict="truncated", length=FIRST, why=f"no allocation map at {FIRST}")
    wrong = bytearray(whole)
    wrong[FIRST + 1024] ^= 1
    save("pst", "tree.pst", bytes(wrong), verdict="unverified", length=len(whole))
    wrong = bytearray(whole[:700])
    wrong[20] ^= 1
    save("pst", "crc.pst", bytes(wrong), verdict="reject", why="wrong header CRC at 0")
    wrong = bytearray(whole[:700])
    wrong[500] ^= 1
    save("pst", "second-crc.pst", bytes(wrong), verdict="reject", why="wrong second header CRC at 0")
