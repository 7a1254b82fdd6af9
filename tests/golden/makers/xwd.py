"""X11's window dumps: by Netpbm's pnmtoxwd and GraphicsMagick, and changed by hand."""
import struct

from makers.common import save
from makers.programs import converted
from makers.sound import noise


def raw(name, data, at, **more):
    save("xwd", name, data, verdict="unverified", length=len(data), unverified=f"{at}-{len(data)}", why=f"nothing verifies the data from {at} on", **more)


def rows_at(data):
    return struct.unpack(">I", data[:4])[0] + 12 * struct.unpack(">I", data[76:80])[0]


def make():
    colour = converted(["gm", "convert", "{source}", "{target}"], target=".xwd")
    raw("colour.xwd", colour, rows_at(colour), title="golden.xwd")
    bits = converted(["pnmtoxwd", "{source}"], mode="1", source=".pbm")
    raw("bits.xwd", bits, rows_at(bits))
    direct = converted(["pnmtoxwd", "-directcolor", "{source}"])
    raw("direct.xwd", direct, rows_at(direct))
    named = struct.unpack(">I", direct[:4])[0]
    little = struct.pack("<25I", *struct.unpack(">25I", direct[:100])) + direct[100:]
    raw("little.xwd", little, rows_at(direct))
    unnamed = struct.pack(">I", 100) + direct[4:100] + direct[named:]
    raw("unnamed.xwd", unnamed, rows_at(unnamed))
    save("xwd", "cut.xwd", colour[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("xwd", "random.xwd", colour[:2048] + noise(9000), verdict="truncated", length_min=1000, length_max=2300)
    field = lambda at, value: colour[:4 * at] + struct.pack(">I", value) + colour[4 * at + 4:]
    for name, at, value in (("version", 1, 6), ("format", 2, 3), ("depth", 3, 33), ("width", 4, 0), ("padding", 10, 12), ("row", 12, 77), ("class", 13, 6)):
        save("xwd", name + ".xwd", field(at, value), verdict="reject", why="no header at 0")
    save("xwd", "name.xwd", field(0, 103), verdict="reject", why="no name at 100")
    mapped = converted(["pnmtoxwd", "-pseudodepth", "8", "{source}"], mode="L", source=".pgm")
    raw("mapped.xwd", mapped, rows_at(mapped))
    at = struct.unpack(">I", mapped[:4])[0]
    save("xwd", "colours.xwd", mapped[:at + 10] + b"\x9f" + mapped[at + 11:], verdict="reject", why=f"no colours at {at}")
    save("xwd", "head.xwd", colour[:at], verdict="reject")
