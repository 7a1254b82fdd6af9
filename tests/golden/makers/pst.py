"""Outlook's personal folders: header, one allocation map, the trees' first pages; the rest is empty. Outlook has not seen them."""
import struct, zlib

from makers.common import save

FIRST = 0x4400


def weak_crc(data):
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def page(kind, wide, number, text=b""):
    body = text.ljust(496 if wide else 500, b"\0")
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


def make():
    loose = dict(unchecked=0)  # between the pages that are looked at nothing is checked
    save("pst", "unicode.pst", pst(), extension="pst", **loose)
    save("pst", "ansi.pst", pst(False), extension="pst", **loose)
    save("pst", "offline.ost", pst(client=b"SO"), extension="ost", **loose)
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
