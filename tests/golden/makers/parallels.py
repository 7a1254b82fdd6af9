"""Parallels' virtual disks, by hand; clusters are text and noise."""
import struct

from makers.common import save
from makers.packing import junk, text


def disk(extended=True, sectors=8, places=(1, 0, 3, 2)):
    cluster = sectors * 512
    unit = 1 if extended else sectors
    head = (b"WithouFreSpacExt" if extended else b"WithoutFreeSpace") + struct.pack("<IIIIIQIIIQ", 2, 16, 20, sectors, len(places), 64, 0, sectors, 0, 0)
    table = b"".join(struct.pack("<I", place * unit) for place in places)
    return (head + table).ljust(cluster, b"\0") + text(cluster) + junk(cluster, 1) + text(cluster, 2)


def make():
    for name, whole in (("extended", disk()), ("old", disk(False))):
        end = dict(verdict="unverified", length=len(whole), why=f"nothing verifies the clusters up to {len(whole)}")
        save("parallels", f"{name}.hdd", whole, **end)
        save("parallels", f"{name}-random.hdd", whole + junk(3000, 3), **end)
    whole = disk()
    save("parallels", "cut.hdd", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    empty = disk(places=(0, 0))[:4096]
    save("parallels", "empty.hdd", empty, verdict="unverified", length=len(empty))
    save("parallels", "table.hdd", whole[:64] + junk(400, 4) + whole[464:], verdict="truncated")
    save("parallels", "twice.hdd", disk(places=(1,) * 9), verdict="reject")
    save("parallels", "sizes.hdd", whole[:28] + bytes(4) + whole[32:], verdict="reject", why="impossible sizes at 28")
    save("parallels", "version.hdd", whole[:16] + b"\3" + whole[17:], verdict="reject", why="no header of version 2 at 0")
