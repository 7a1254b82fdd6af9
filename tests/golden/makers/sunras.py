"""Sun's rasters: by Netpbm's pnmtorast, GraphicsMagick and FFmpeg, and changed by hand."""
import struct

from makers.common import save
from makers.programs import converted
from makers.sound import noise


def make():
    def raw(name, data, at):
        save("sunras", name, data, verdict="unverified", length=len(data), unverified=f"{at}-{len(data)}", why=f"nothing verifies the data from {at} on")

    plain = converted(["gm", "convert", "{source}", "{target}"], target=".ras")
    raw("colour.ras", plain, 32)
    grey = converted(["pnmtorast", "-standard", "{source}"], mode="L", source=".pgm")
    raw("grey.ras", grey, 32 + struct.unpack(">I", grey[28:32])[0])
    odd = converted(["pnmtorast", "-standard", "{source}"], size=(47, 40))
    raw("odd.ras", odd, 32 + struct.unpack(">I", odd[28:32])[0])
    old = plain[:16] + bytes(8) + plain[24:]
    raw("old.ras", old, 32)
    coded = converted(["ffmpeg", "-v", "error", "-i", "{source}", "-c:v", "sunrast", "-bitexact", "{target}"], mode="1", source=".png", target=".sun", size=(400, 60))
    save("sunras", "coded.ras", coded, unchecked=32)
    # The last sector has no run.
    row = b"\x80\x2f\x07" + bytes(range(1, 49)) * 2
    loose = struct.pack(">8I", 0x59a66a95, 144, 45, 8, 40 * len(row) + 720, 2, 0, 0) + row * 40 + bytes(range(1, 49)) * 15
    save("sunras", "loose.ras", loose, verdict="unverified", length=len(loose))
    # GIMP gives the length of the decoded pixels.
    given = coded[:16] + struct.pack(">I", 50 * 60) + coded[20:]
    save("sunras", "decoded.ras", given + noise(90), verdict="unverified", length=len(coded), why=f"the length of the coded pixels is not stored, which end at {len(coded)}")
    save("sunras", "decoded-cut.ras", given[:700], verdict="truncated", length_min=600, length_max=700)
    save("sunras", "coded-cut.ras", coded[:700], verdict="truncated", length_min=600, length_max=700)
    save("sunras", "coded-random.ras", coded[:1024] + noise(4000), verdict="truncated", length_min=1000, length_max=len(coded))
    save("sunras", "coded-zeros.ras", coded[:1024] + bytes(4000), verdict="truncated", length_min=900, length_max=1100)
    save("sunras", "cut.ras", plain[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("sunras", "random.ras", plain[:2048] + noise(9000), verdict="truncated", length_min=1000, length_max=2300)
    field = lambda at, value: plain[:at] + struct.pack(">I", value) + plain[at + 4:]
    for name, at, value in (("width", 4, 0), ("bits", 12, 16), ("length", 16, 77), ("kind", 20, 4), ("map", 24, 3), ("map-length", 28, 6)):
        save("sunras", name + ".ras", field(at, value), verdict="reject", why="no header at 0")
    save("sunras", "pixels.ras", coded[:32] + b"\x80\xff\0" * 5 + b"\x80\xff\0" * 300, verdict="truncated", length_min=32)
