"""Windows' minidumps, stream by stream; memory is noise."""
import struct

from makers.common import save
from makers.packing import junk, text

TIME = 1709251198


def dump(full=False, memory=3000, name="C:\\golden\\golden.exe"):
    streams, at, body = [], 32 + 5 * 12, b""

    def place(data):
        nonlocal body
        body += data
        return at + len(body) - len(data)

    wide = name.encode("utf-16-le")
    name_at = place(struct.pack("<I", len(wide)) + wide + b"\0\0")
    context, stack = place(junk(200, 1)), place(text(300))
    thread = struct.pack("<IIIIQ", 77, 0, 0, 0, 0x7ff0) + struct.pack("<QII", 0x10000, 300, stack) + struct.pack("<II", 200, context)
    module = struct.pack("<QIIII", 0x400000, 0x5000, 0, TIME, name_at).ljust(76, b"\0") + struct.pack("<II", 24, place(b"RSDS" + bytes(20))) + bytes(24)
    lists = [(7, bytes(56)), (3, struct.pack("<I", 1) + thread), (4, struct.pack("<I", 1) + module), (15, struct.pack("<II", 24, 1) + bytes(16))]
    for kind, data in lists:
        streams.append((kind, len(data), place(data)))
    if full:
        start = at + len(body) + 16 + 32
        streams.append((9, 48, place(struct.pack("<QQ", 2, start) + struct.pack("<QQQQ", 0x10000, memory - 1000, 0x20000, 1000))))
    else:
        start = at + len(body) + 4 + 16
        streams.append((5, 20, place(struct.pack("<IQII", 1, 0x10000, memory, start))))
    place(text(memory))
    return b"MDMP\x93\xa7\0\0" + struct.pack("<IIIIQ", 5, 32, 0, TIME, 2) + b"".join(struct.pack("<III", *s) for s in streams) + body


def make():
    for name, whole in (("small", dump()), ("full", dump(True))):
        gold = dict(verdict="unverified", title="C:\\golden\\golden.exe", time=TIME, why=f"nothing verifies the streams up to {len(whole)}")
        save("mdmp", f"{name}.dmp", whole, length=len(whole), **gold)
        save("mdmp", f"{name}-random.dmp", whole + junk(3000, 2), length=len(whole), **gold)
        save("mdmp", f"{name}-cut.dmp", whole[:-500], verdict="truncated", length=len(whole) - 500, why=f"the image ends at {len(whole) - 500}, before the file does")
    whole = dump()
    save("mdmp", "directory.dmp", whole[:50], verdict="truncated", length=44)
    save("mdmp", "streams.dmp", whole[:32] + junk(60, 3) + whole[92:], verdict="reject")
    save("mdmp", "none.dmp", whole[:8] + bytes(4) + whole[12:], verdict="reject", why="no header at 0")
    save("mdmp", "version.dmp", whole[:4] + b"\x92" + whole[5:], verdict="reject", why="no header at 0")
    save("mdmp", "inside.dmp", whole[:40] + struct.pack("<I", 20) + whole[44:], verdict="reject", why="an impossible stream at 32")
