"""Khoros' pictures: by GraphicsMagick's encoder, and changed by hand."""
import struct

from makers.common import save
from makers.programs import converted
from makers.sound import noise


def make():
    def raw(name, data, at=1024):
        save("viff", name, data, verdict="unverified", length=len(data), unverified=f"{at}-{len(data)}", why=f"nothing verifies the data from {at} on")

    viff = lambda *options, **more: converted(["gm", "convert", "{source}", *options, "{target}"], target=".viff", **more)
    colour = viff()
    raw("colour.viff", colour)
    raw("bits.viff", viff("-monochrome"))
    mapped = viff("-colors", "32")
    raw("mapped.viff", mapped, 1024 + 3 * struct.unpack(">I", mapped[584:588])[0])
    little = colour[:4] + b"\x08" + colour[5:520] + struct.pack("<26I", *struct.unpack(">26I", colour[520:624])) + colour[624:]
    raw("little.viff", little)
    field = lambda at, value: colour[:at] + struct.pack(">I", value) + colour[at + 4:]
    floats = field(564, 5)[:1024] + struct.pack(f">{48 * 40 * 3}f", *(n / 7 for n in range(48 * 40 * 3)))
    raw("floats.viff", floats)
    save("viff", "remark.viff", colour[:8] + b"golden".ljust(512, b"\0") + colour[520:], verdict="unverified", length=len(colour), title="golden")
    save("viff", "cut.viff", colour[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("viff", "random.viff", colour[:3072] + noise(9000), verdict="truncated", length_min=2000, length_max=3300)
    for name, at, value in (("width", 520, 0), ("places", 548, 2), ("pictures", 556, 2), ("bands", 560, 0), ("kind", 564, 3), ("coding", 568, 1), ("map", 572, 2)):
        save("viff", name + ".viff", field(at, value), verdict="reject", why="no header at 0")
    save("viff", "head.viff", colour[:1024], verdict="reject", why="no values at 1024")
