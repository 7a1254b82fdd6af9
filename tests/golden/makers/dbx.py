"""Outlook Express's stores: header, a tree of two nodes, objects. No Outlook Express has seen them."""
import struct

from makers.common import save
from makers.sound import noise

HEAD = 9404


def dbx(entries=3, segment=1200):
    node, child, first = HEAD + 64, HEAD + 400, HEAD + 700
    head = bytearray(HEAD)
    head[:20] = bytes.fromhex("cfad12fec5fd746f66e3d1119a4e00c04fa309d4")
    head[0x1C:0x20] = struct.pack("<I", 64)
    head[0x24:0x2C] = struct.pack("<II", HEAD + 64, segment)
    head[0xC4:0xC8], head[0xE4:0xE8] = struct.pack("<I", entries), struct.pack("<I", node if entries else 0)
    body = bytearray(64 + segment)
    if entries:
        def put(at, data):
            body[at - HEAD:at - HEAD + len(data)] = data

        put(node, struct.pack("<IIIIBBHI", node, 0, child, 0, 0, 2, 0, 1) + struct.pack("<IIIIII", first, 0, 0, first + 100, 0, 0))
        put(child, struct.pack("<IIIIBBHI", child, 0, 0, node, 0, 1, 0, 0) + struct.pack("<III", first + 200, 0, 0))
        for i in range(3):
            put(first + i * 100, struct.pack("<II", first + i * 100, 80))
    return bytes(head + body)


def make():
    whole = dbx()
    why = f"the last segment ends at {len(whole)}, and free space may follow"
    save("dbx", "store.dbx", whole, verdict="unverified", length=len(whole), why=why)
    save("dbx", "followed.dbx", whole + noise(500), verdict="unverified", length=len(whole), why=why)
    empty = dbx(0)
    save("dbx", "empty.dbx", empty, verdict="unverified", length=len(empty))
    save("dbx", "cut.dbx", whole[:-100], verdict="truncated", length=len(whole) - 100)
    at = HEAD + 900
    save("dbx", "object.dbx", whole[:at] + noise(4) + whole[at + 4:], verdict="truncated", length=at - 96,
         why=f"no structure with its own offset at {at}")
    save("dbx", "tree.dbx", whole[:0xE4] + bytes(4) + whole[0xE8:], verdict="reject", why="3 entries, but a tree offset of 0")
    save("dbx", "class.dbx", b"\xcf\xad\x12\xff" + whole[4:], verdict="reject", why="no header at 0")
