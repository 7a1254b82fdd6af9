"""Radiance's pictures, by hand."""
import random, struct

from makers.common import save


def runs(values):
    out, at = b"", 0
    while at < len(values):
        count = 1
        while at + count < len(values) and count < 127 and values[at + count] == values[at]:
            count += 1
        if count > 2:
            out += bytes([128 + count, values[at]])
        else:
            count = min(20, len(values) - at)
            out += bytes([count]) + bytes(values[at:at + count])
        at += count
    return out


def line(width, rng):
    out = struct.pack(">BBH", 2, 2, width)
    for _ in range(4):
        value, values = rng.randrange(1, 250), []
        while len(values) < width:
            values += [value] * rng.randrange(1, 12)
            value = rng.randrange(1, 250)
        out += runs(values[:width])
    return out


def head(width, height, magic="#?RADIANCE", extra="", order="-Y {} +X {}"):
    return f"{magic}\n# made by hand\nFORMAT=32-bit_rle_rgbe\n{extra}\n{order.format(height, width)}\n".encode()


def make():
    rng = random.Random(4)
    lines = [line(40, rng) for _ in range(12)]
    start = head(40, 12)
    whole = start + b"".join(lines)
    save("hdr", "lines.hdr", whole)
    save("hdr", "rgbe.hdr", head(40, 12, "#?RGBE", "EXPOSURE=1.5\n") + b"".join(lines))
    save("hdr", "date.hdr", head(40, 12, extra="CAPDATE=2001:09:09 01:46:40\n") + b"".join(lines), time=1000000000)
    save("hdr", "columns.hdr", head(40, 12, order="+X {} +Y {}") + b"".join(lines))
    flat = head(5, 6) + bytes(rng.randrange(2, 250) for _ in range(5 * 6 * 4))
    save("hdr", "flat.hdr", flat, verdict="unverified", length=len(flat), why=f"the pixels before {len(flat)} cannot be verified")
    old = head(5, 2) + b"\x40\x30\x20\x80\1\1\1\4" * 2
    save("hdr", "old-runs.hdr", old, verdict="unverified", length=len(old))

    at = len(start) + sum(len(l) for l in lines[:6])
    cut = whole[:at + 30]
    save("hdr", "cut.hdr", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("hdr", "random.hdr", cut + rng.randbytes(4000), verdict="truncated", length=at)
    save("hdr", "wiped.hdr", cut + bytes(4000), verdict="truncated", length=at)
    save("hdr", "line.hdr", whole[:at] + b"\2\2\0\x29" + whole[at + 4:], verdict="truncated", length=at)
    save("hdr", "magic.hdr", b"#?RADIANCES" + whole[10:], verdict="reject", why="no first line before 12")
    save("hdr", "resolution.hdr", head(40, 12, order="-Y {} +Y {}") + b"".join(lines), verdict="reject")
    save("hdr", "text.hdr", b"#?RADIANCE\nFORMAT=\0" + whole[20:], verdict="reject", why="no text before 19")
