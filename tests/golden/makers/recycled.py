"""What Windows notes of files in the recycle bin, by hand."""
import struct

from makers.common import save

PATH = "C:\\Users\\golden\\Pictures\\holiday 2019.jpg"
TIME = 1700000000


def head(version):
    return struct.pack("<QQQ", version, 123456, (TIME + 11644473600) * 10**7)


def make():
    path = PATH.encode("utf-16le") + b"\0\0"
    old = head(1) + path.ljust(520, b"\0")
    save("recycled", "old.dat", old, title=PATH, time=TIME, unchecked=8)
    new = head(2) + struct.pack("<I", len(path) // 2) + path
    save("recycled", "new.dat", new, title=PATH, time=TIME, unchecked=8)
    save("recycled", "cut.dat", new[:60], verdict="reject", why="no path at 28")
    save("recycled", "zeros.dat", new[:40] + bytes(500), verdict="reject", why="no path at 28")
    save("recycled", "version.dat", head(3) + path, verdict="reject", why="no version, length and time at 0")
    save("recycled", "time.dat", new[:16] + bytes(8) + new[24:], verdict="reject", why="no version, length and time at 0")
