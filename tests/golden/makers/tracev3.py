"""Unified logs, chunk by chunk."""
import random, struct

from makers.common import save


def chunk(kind, version, data):
    return struct.pack("<IIQ", kind, version, len(data)) + data + bytes(-len(data) % 8)


def entries(seed):
    data = random.Random(seed).randbytes(301)
    return chunk(0x600D, 0, b"bv41" + struct.pack("<II", 900, len(data)) + data + b"bv4$")


def make():
    whole = chunk(0x1000, 0x11, bytes(range(0xD0))) + chunk(0x600B, 0x11, bytes(77)) + entries(1) + entries(2)
    why = f"no chunk at {len(whole)}, and the number of chunks is not stored"
    save("tracev3", "log.tracev3", whole, verdict="unverified", length=len(whole), why=why)
    save("tracev3", "zeros.tracev3", whole + bytes(400), verdict="unverified", length=len(whole), why=why)
    save("tracev3", "cut.tracev3", whole[:600], verdict="truncated", length=600, why="the image ends at 600, before the file does")
    last = len(whole) - len(entries(2))
    save("tracev3", "random.tracev3", whole[:last + 99] + random.Random(3).randbytes(500), verdict="truncated", length=last, why=f"no log entries at {last}")
    save("tracev3", "header.tracev3", whole[:224] + bytes(400), verdict="reject", why="no chunk at 224")
    save("tracev3", "kind.tracev3", whole[4:], verdict="reject", why="no chunk at 0")
