"""Firefox's jsonlz4, sequence by sequence."""
import random, struct

from makers.common import save


def number(value):
    out = b""
    if value >= 15:
        value -= 15
        while value >= 255:
            out, value = out + b"\xff", value - 255
        out += bytes([value])
    return out


def sequence(plain, back=0, copied=0):
    low = min(15, copied - 4) if back else 0
    return bytes([min(15, len(plain)) << 4 | low]) + number(len(plain)) + plain + (struct.pack("<H", back) + number(copied - 4) if back else b"")


def mozlz4(*sequences):
    size = sum(len(one[0]) + (one[2] if len(one) > 1 else 0) for one in sequences)
    return b"mozLz40\0" + struct.pack("<I", size) + b"".join(sequence(*one) for one in sequences)


def make():
    text = b'{"version":["sessionrestore",1],"windows":[{"tabs":[]}],"golden":true,'
    whole = mozlz4((text, 20, 300), (b"abc" * 150, 9, 5), (b'"end":1}',))
    save("mozlz4", "session.jsonlz4", whole, unchecked=12)
    other = mozlz4((b"<xml>" + b"a" * 40,))
    save("mozlz4", "plain.mozlz4", other, unchecked=12)
    save("mozlz4", "cut.jsonlz4", whole[:200], verdict="truncated", length=200, why="the image ends at 200, before the file does")
    save("mozlz4", "copy.jsonlz4", mozlz4((text, 500, 300), (b"x" * 20,)), verdict="truncated", why="an impossible copy at 12", length=12)
    save("mozlz4", "zeros.jsonlz4", whole[:120] + bytes(4000), verdict="truncated", length_max=600)
    save("mozlz4", "length.jsonlz4", whole[:8] + bytes(4) + whole[12:], verdict="reject", why="no header at 0")
