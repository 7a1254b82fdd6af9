"""QOI, by an encoder made for it."""
import random, struct

from makers.common import save

END = bytes(7) + b"\1"


def header(width, height, channels=3):
    return b"qoif" + struct.pack(">IIBB", width, height, channels, 0)


def chunks(pixels, rng, channels=3):
    """So many pixels, of all kinds of chunks."""
    out, last = b"", None
    while pixels:
        kind = rng.randrange(6 if channels == 4 else 5)
        if kind == 0:
            chunk = bytes([rng.randrange(64)])
            if chunk == last:
                continue
        elif kind == 1:
            chunk = bytes([0x40 | rng.randrange(64)])
        elif kind == 2:
            chunk = bytes([0x80 | rng.randrange(64), rng.randrange(256)])
        elif kind == 3:
            count = min(pixels, rng.randrange(1, 63))
            chunk = bytes([0xc0 | count - 1])
            pixels -= count - 1
        else:
            chunk = b"\xfe" + rng.randbytes(3) if kind == 4 else b"\xff" + rng.randbytes(4)
        out, last, pixels = out + chunk, chunk, pixels - 1
    return out


def make():
    rng = random.Random(1)
    data = chunks(48 * 200, rng)
    whole = header(48, 200) + data + END
    save("qoi", "rgb.qoi", whole)
    save("qoi", "rgba.qoi", header(30, 40, 4) + chunks(1200, rng, 4) + END)
    cut = whole[:len(whole) // 2 + 100]
    save("qoi", "cut.qoi", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("qoi", "random.qoi", cut + rng.randbytes(4000), verdict="truncated", length_min=len(cut), length_max=len(cut) + 3000)
    save("qoi", "wiped.qoi", cut + bytes(4000), verdict="truncated", length_min=len(cut) - 4, length_max=len(cut) + 4)
    save("qoi", "no-end.qoi", whole[:-1] + b"\2", verdict="truncated", length_min=len(whole) - 8, length_max=len(whole) - 1)
    save("qoi", "channels.qoi", whole[:12] + b"\5" + whole[13:], verdict="reject", why="no QOI header at 0")
    save("qoi", "width.qoi", whole[:4] + bytes(4) + whole[8:], verdict="reject", why="no QOI header at 0")
    save("qoi", "run.qoi", header(5, 1) + b"\xc9" + END, verdict="reject", why="no pixels at 15")
