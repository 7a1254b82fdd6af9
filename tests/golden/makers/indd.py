"""InDesign documents: master pages, made-up pages, objects."""
import random, struct

from makers.common import save

MASTER, START, END = (bytes.fromhex(text) for text in ("0606edf5d81d46e5bd31efe7fe74b71d", "de39397951884b6c8e63eef8aee0dd38", "fdcedb70f7864b4fa4d3c728b3417106"))


def master(saved, pages, order=1):
    return (MASTER + b"DOCUMENT" + bytes([order])).ljust(264, b"\0") + struct.pack("<QQI", saved, 0, pages) + bytes(4096 - 284)


def indd(*objects, pages=(4, 5), fill=True):
    whole = master(7, pages[0]) + master(8, pages[1]) + bytes(i * i % 251 for i in range(4096 * (pages[1] - 2)))
    for data in objects:
        whole += START + struct.pack("<IIII", 1, 2, len(data), 3) + data + END + struct.pack("<IIII", 1, 2, len(data), 3)
    return whole + bytes(-len(whole) % 4096 if fill else 0)


def make():
    why = "nothing verifies the data from 8192 on"
    whole = indd(b"\0\0\0\x09<?xpacket", b"\0\0\0\x28" + b"<x/>" * 10)
    save("indd", "objects.indd", whole, verdict="unverified", length=len(whole), why=why, embedded="20512 20516 20589 20593")
    save("indd", "plain.indd", indd() + bytes(50), verdict="unverified", length=20480, why=why)
    bare = indd(b"\0\0\0\4<x/>", fill=False)
    save("indd", "not-filled.indd", bare, verdict="unverified", length=len(bare))
    older = indd(pages=(5, 4))
    save("indd", "older.indd", older, verdict="unverified", length=16384)
    save("indd", "cut.indd", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    save("indd", "zeros.indd", whole[:12288] + bytes(9000), verdict="truncated", length_max=12289, length_min=12200)
    save("indd", "random.indd", whole[:8192] + random.Random(1).randbytes(14000), verdict="unverified", length=20480)
    save("indd", "order.indd", master(7, 4, 3) + whole[4096:], verdict="reject", why="no master page at 0")
    save("indd", "pages.indd", master(7, 1) + whole[4096:], verdict="reject", why="no master page at 0")
