"""AV1 without a container, unit by unit; what is coded is noise."""
from makers.common import save
from makers.packing import junk, text


def length(value):
    return bytes((value & 0x7f | 0x80,)) + length(value >> 7) if value > 0x7f else bytes((value,))


def obu(kind, data=b"", layer=None):
    return bytes((kind << 3 | (2 if layer is None else 6),)) + (b"" if layer is None else bytes((layer,))) + length(len(data)) + data


DELIMITER, SEQUENCE = obu(2), obu(1, bytes.fromhex("00000024c4fffe3ff3a0a4"))


def frame(size, seed, first=b"\x30", layer=None):
    return obu(6, first + junk(size, seed), layer)


def make():
    units = [DELIMITER + SEQUENCE + frame(900, 1, b"\x10"), DELIMITER + frame(40, 2, b"\x20") + obu(3, b"\xa8"), DELIMITER + obu(5, b"\4" + text(20)) + frame(70, 3) + obu(15, bytes(9)),
             DELIMITER + SEQUENCE + obu(3, b"\x10" + junk(12, 4)) + obu(4, junk(500, 5)) + obu(4, junk(300, 6)), DELIMITER + frame(200, 7, layer=0) + frame(90, 8, layer=8)]
    whole = b"".join(units)
    end = len(whole)
    why = f"no unit at {end}, and the number of units is not stored"
    save("av1", "film.obu", whole, verdict="unverified", length=end, extension="", why=why)
    for name, other in (("random", junk(3000, 8)), ("zeros", bytes(3000)), ("text", text(3000))):
        save("av1", f"{name}.obu", whole + other, verdict="unverified", length=end)
    save("av1", "cut.obu", whole[:-90], verdict="truncated", length=end - 90, why=f"the image ends at {end - 90}, before the file does")
    last = end - len(units[4])
    for name, other in (("random", b"\xff" + junk(3000, 9)), ("zeros", bytes(3000)), ("text", text(3000))):
        save("av1", f"frameless-{name}.obu", whole[:last + 2] + other, verdict="truncated", length=last, why=f"a unit without frames at {last}")
        save("av1", f"early-{name}.obu", units[0][:300] + other, verdict="reject")
    save("av1", "shown.obu", whole + frame(400, 9), verdict="unverified", length=end)
    save("av1", "two.obu", units[0] + units[1] + bytes(300), verdict="reject", why=f"fewer than 3 units before {len(units[0] + units[1])}")
    save("av1", "late.obu", DELIMITER + SEQUENCE + frame(300, 1) + b"".join(units[1:]), verdict="reject")
    save("av1", "profile.obu", DELIMITER + obu(1, b"\xe0" + junk(9, 2)) + b"".join(units), verdict="reject")
    save("av1", "sizeless.obu", DELIMITER + SEQUENCE + b"\x30" + junk(300, 2), verdict="reject")
