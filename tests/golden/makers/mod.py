"""Modules of the Amiga's trackers, part by part."""
import random, struct

from makers.common import save
from makers.sound import curve


def mod(samples, mark=b"M.K.", channels=4, patterns=2):
    out = b"golden".ljust(20, b"\0")
    for number in range(31):
        data = samples[number] if number < len(samples) else b""
        out += struct.pack(">22sHBBHH", b"sample", len(data) // 2, 3, 64 if data else 0, 0, 1)
    orders = bytes([0, patterns - 1]).ljust(128, b"\0")
    return out + bytes([2, 127]) + orders + mark + bytes(patterns * 256 * channels) + b"".join(samples)


def make():
    wave = curve(6000)
    whole = mod([wave[:900], wave])
    save("mod", "song.mod", whole, verdict="unverified", length=len(whole), title="golden")
    wide = mod([wave], b"8CHN", 8, 3)
    save("mod", "wide.mod", wide + bytes(60), verdict="unverified", length=len(wide))
    many = mod([wave], b"12CH", 12)
    save("mod", "many.mod", many, verdict="unverified", length=len(many))
    save("mod", "cut.mod", whole[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("mod", "random.mod", whole[:-5000] + random.Random(1).randbytes(6000), verdict="truncated", length_max=len(whole) - 3900)
    save("mod", "order.mod", whole[:960] + b"\xff" + whole[961:], verdict="reject", why="no order at 960")
    save("mod", "volume.mod", whole[:45] + b"\x41" + whole[46:], verdict="reject", why="no header at 0")
    save("mod", "mark.mod", whole.replace(b"M.K.", b"M.L."), verdict="reject", why="no header at 0")
