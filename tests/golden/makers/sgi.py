"""Silicon Graphics pictures, by hand."""
import random, struct

from makers.common import save


def header(coded, size, width, height, channels, name=b""):
    head = struct.pack(">HBBHHHHIII", 0x01DA, coded, size, 3 if channels > 1 else 2, width, height, channels, 0, 255, 0) + name.ljust(80, b"\0")
    return head.ljust(512, b"\0")


def row(values, size):
    """Runs of equal values, and others as they are."""
    out, at, wide = b"", 0, lambda value: value.to_bytes(size, "big")
    while at < len(values):
        run = 1
        while at + run < len(values) and run < 127 and values[at + run] == values[at]:
            run += 1
        out += wide(run) + wide(values[at]) if run > 2 else wide(0x80 | run) + b"".join(map(wide, values[at:at + run]))
        at += run
    return out + wide(0)


def coded(width, height, channels, size=1, shared=False):
    rng, rows = random.Random(width), []
    for _ in range(height * channels):
        rows.append(row([rng.choice((7, rng.randrange(256))) for _ in range(width)], size))
    if shared:
        rows[1] = rows[0]
    at, starts, data = 512 + 8 * len(rows), [], b""
    for i, one in enumerate(rows):
        starts.append(starts[0] if shared and i == 1 else at + len(data))
        data += b"" if shared and i == 1 else one
    tables = struct.pack(f">{len(rows)}I", *starts) + struct.pack(f">{len(rows)}I", *map(len, rows))
    return header(1, size, width, height, channels, b"golden") + tables + data


def make():
    colour = coded(40, 20, 3)
    save("sgi", "colour.sgi", colour, title="golden", unchecked=len(colour) - 40)
    grey = coded(64, 30, 1, shared=True)
    save("sgi", "grey.bw", grey, unchecked=len(grey) - 64)
    deep = coded(30, 10, 1, size=2)
    save("sgi", "deep.sgi", deep, unchecked=len(deep) - 64)
    plain = header(0, 1, 48, 40, 3) + bytes(i * 7 % 251 for i in range(48 * 40 * 3))
    save("sgi", "plain.rgb", plain, verdict="unverified", length=len(plain), unverified=f"512-{len(plain)}", why="nothing verifies the data from 512 on")
    save("sgi", "cut.sgi", colour[:2000], verdict="truncated", length_min=1000)
    save("sgi", "plain-cut.rgb", plain[:2000], verdict="truncated", length=2000)
    noise = random.Random(1).randbytes(9000)
    save("sgi", "random.sgi", colour[:1800] + noise, verdict="truncated", length_min=1000, length_max=1900)
    save("sgi", "places.sgi", colour[:512] + bytes(480) + colour[992:], verdict="reject", why="no row at 0")
    save("sgi", "width.sgi", header(1, 1, 0, 4, 1) + bytes(400), verdict="reject", why="no header at 0")
    save("sgi", "depth.sgi", header(1, 3, 4, 4, 1) + bytes(400), verdict="reject", why="no header at 0")
