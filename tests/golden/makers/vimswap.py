"""Vim's swap files, block by block."""
import struct

from makers.common import save
from makers.packing import junk, text


def swap(page=4096, large=True):
    head = b"b0VIM 9.0".ljust(12, b"\0") + struct.pack("<IIII", page, 1709251198, 7, 99)
    head = head[:28] + b"golden".ljust(40, b"\0") + b"host".ljust(40, b"\0") + b"~/golden.txt".ljust(890, b"\0")
    pointers = b"tp" + struct.pack("<HH", 2, (page - 8) // 32) + bytes(2) + struct.pack("<qqii", 2, 9, 1, 1) + struct.pack("<qqii", 3, 9, 9, 2)

    def data(pages):
        length = pages * page
        return b"ad\0\0" + struct.pack("<IIIq", 60, length - 900, length, 9) + bytes(length - 24 - 900) + text(900)

    return head.ljust(page, b"\0") + pointers.ljust(page, b"\0") + data(1) + (data(2) if large else b"")


def make():
    for name, whole in (("text", swap()), ("small", swap(1024, False))):
        end = dict(verdict="unverified", length=len(whole), title="~/golden.txt", why=f"no block at {len(whole)}, and the number of blocks is not stored")
        save("vimswap", f"{name}.swp", whole, **end)
        save("vimswap", f"{name}-random.swp", whole + junk(5000, 1), **end)
    whole = swap()
    save("vimswap", "cut.swp", whole[:-500], verdict="truncated", length=len(whole) - 500, why=f"the image ends at {len(whole) - 500}, before the file does")
    save("vimswap", "head.swp", whole[:4096], verdict="unverified", length=4096)
    save("vimswap", "page.swp", whole[:12] + b"\1" + whole[13:], verdict="reject", why="no header at 0")
