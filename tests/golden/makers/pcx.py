"""PCX: Pillow's encoder, and by hand."""
import random, struct

from makers.common import encoded, picture, save


def header(width, height, bits=8, planes=1, version=5, line=None):
    line = ((width * bits + 7) // 8 + 1) // 2 * 2 if line is None else line
    head = struct.pack("<BBBBHHHHHH", 10, version, 1, bits, 0, 0, width - 1, height - 1, 72, 72) + bytes(48)
    return head + struct.pack("<BBHHHH", 0, planes, line, 1, 0, 0) + bytes(54)


def make():
    for mode, name in (("RGB", "rgb"), ("1", "bilevel")):
        save("pcx", name + ".pcx", encoded(picture(mode), format="PCX"))
    for mode, name in (("L", "grey"), ("P", "palette")):
        data = encoded(picture(mode), format="PCX")
        save("pcx", name + ".pcx", data, verdict="unverified", length=len(data), why=f"the palette cannot be verified, at {len(data) - 769}")
    rng = random.Random(7)
    # The cluster that the end of a palette is in may be lost: unverified, unless the lines end in it, too.
    for lines, verdict in (2150, "complete"), (2610, "unverified"):
        coded = header(40, lines) + b"".join(b"\xd4" + bytes([rng.randrange(192)]) + b"\xd3" + bytes([rng.randrange(192)]) + b"\xc1\xc7" for _ in range(lines))
        at = len(coded)
        if verdict == "complete":
            save("pcx", "near-palette.pcx", coded + b"\x0c" + rng.randbytes(768), unchecked=at, unverified=f"{at + 1}-{at + 769}")
        else:
            save("pcx", "far-palette.pcx", coded + b"\x0c" + rng.randbytes(768), verdict=verdict, length=at + 769,
                 why=f"the palette cannot be verified, at {at}")
    line = b"".join(b"\xc4" + bytes([rng.randrange(192)]) for _ in range(10))
    sixteen = header(80, 12, 1, 4, 3) + line * 12
    save("pcx", "planes.pcx", sixteen)
    bytes_only = header(80, 12, 1, 4, 3) + line * 11 + bytes(range(40))
    save("pcx", "no-run.pcx", bytes_only, verdict="unverified", length=len(bytes_only),
         why=f"no run in the last line and sector, so the end cannot be verified, at {len(bytes_only)}")
    # A run in the last line, before the sector with which the line's other bytes begin, shows nothing of them.
    long = header(8 * 500, 12, 1, 1, 3, line=500)
    cut = long + b"".join(bytes([0xc0 + 40, line]) * 12 + bytes([0xc0 + 20, line]) for line in range(11))
    last = cut + b"\xff\x11" * 3 + bytes(range(189)) + bytes(122)
    save("pcx", "early-run.pcx", last, verdict="unverified", length=len(last),
         why=f"no run in the last line and sector, so the end cannot be verified, at {len(last)}")
    crossing = header(40, 12, 4, 1, 3) + b"\xff\x21" * 3 + b"\xf3\x22"
    save("pcx", "crossing.pcx", crossing, verdict="unverified", length=len(crossing),
         why=f"runs cross lines, so the end cannot be verified, at {len(crossing)}")
    with_palette = header(21, 4, line=22) + b"\xff\x21\xd9\x10" + b"\x0c" + rng.randbytes(768)
    save("pcx", "crossing-palette.pcx", with_palette, verdict="unverified", length=len(with_palette))
    plain = encoded(picture("RGB"), format="PCX")
    lines = bytearray(header(48, 40, planes=3))
    lines[2] = 0
    lines += b"".join(bytes((y * 3 + x * plane) % 256 for x in range(48)) for y in range(40) for plane in (1, 2, 3))
    save("pcx", "plain.pcx", bytes(lines), verdict="unverified", length=len(lines), unverified=f"128-{len(lines)}", why="nothing verifies the data from 128 on")
    spare = b"\x0c" + bytes(768)
    save("pcx", "plain-spare.pcx", bytes(lines) + spare + bytes(9), verdict="unverified", length=len(lines) + 769)
    save("pcx", "plain-cut.pcx", bytes(lines[:3000]), verdict="truncated", length=3000)
    save("pcx", "plain-head.pcx", bytes(lines[:128]), verdict="reject", why="no lines at 128")
    save("pcx", "spare.pcx", plain + spare, unverified=f"{len(plain)}-{len(plain) + 769}", sequence="yes")
    grey = header(40, 8) + (b"\xe8\x11") * 8
    save("pcx", "no-palette.pcx", grey + bytes(900), verdict="unverified", length=len(grey), why=f"no palette at {len(grey)}")

    for name, tail in (("zeros", bytes(500)), ("text", b"words instead of lines " * 50)):
        wiped = header(80, 460, 1, 4, 3) + line * 1000
        save("pcx", f"{name}-behind.pcx", wiped[:4096] + (tail * 2000)[:23000], verdict="truncated", length=4096,
             why="equal bytes or text instead of lines at 4096")
    whole = encoded(picture("RGB"), format="PCX")
    cut = whole[:len(whole) // 2]
    save("pcx", "cut.pcx", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("pcx", "random.pcx", cut + rng.randbytes(4000), verdict="truncated", length_min=len(cut) - 144, length_max=len(cut) + 1000)
    save("pcx", "palette-cut.pcx", grey + b"\x0c" + rng.randbytes(300), verdict="truncated", length=len(grey) + 301)
    zero = header(80, 12, 1, 4, 3) + line * 6 + b"\xc0\x10" + line * 5
    save("pcx", "zero-run.pcx", zero, verdict="truncated", length=128 + 6 * len(line), why=f"a run past the end of a line at {128 + 6 * len(line)}")
    save("pcx", "too-long.pcx", header(80, 12, 1, 4, 3) + line * 6 + b"\xff\x10" + line * 5, verdict="truncated", length=128 + 6 * len(line))
    for name, at, value, why in (("magic", 0, b"\x0b", "no PCX header at 0"), ("bits", 3, b"\3", "an impossible number of bits at 0"),
                                 ("window", 4, b"\xff\xff", "an impossible window at 0"), ("line", 66, b"\1", "an impossible length of lines at 0")):
        data = sixteen[:at] + value + sixteen[at + len(value):]
        save("pcx", name + ".pcx", data, verdict="reject", why=why)
    save("pcx", "nothing.pcx", header(80, 2, 1, 4) + b"\xc0", verdict="reject")
