"""DirectDraw surfaces: headers by hand, and noise for pixels."""
import random, struct

from makers.common import save


def header(width, height, code=b"DXT1", bits=0, depth=0, mipmaps=0, caps2=0, dx10=None):
    flags = 0x1007 | (0x800000 if depth else 0) | (0x20000 if mipmaps else 0)
    if dx10:
        code = b"DX10"
    head = b"DDS " + struct.pack("<7I", 124, flags, height, width, 0, depth, mipmaps) + bytes(44)
    head += struct.pack("<II4s5I", 32, 4 if code else 0x40, code or bytes(4), bits, 0xff, 0xff00, 0xff0000, 0)
    head += struct.pack("<5I", 0x1000, caps2, 0, 0, 0)
    return head + (struct.pack("<5I", *dx10) if dx10 else b"")


def make():
    rng = random.Random(1)
    tiny = header(8, 8) + rng.randbytes(32)
    save("dds", "tiny.dds", tiny, verdict="unverified", length=len(tiny))
    for name, head, length in (
            ("dxt1", header(30, 18), 8 * 5 * 8), ("dxt5", header(16, 16, b"DXT5"), 256), ("rgb", header(7, 5, None, 24), 7 * 3 * 5),
            ("mipmaps", header(16, 8, mipmaps=5), (8 + 2 + 1 + 1 + 1) * 8), ("cube", header(8, 8, caps2=0xfe00), 32 * 6),
            ("half-cube", header(8, 8, caps2=0x2a00 & ~0x400 | 0x200), 32 * 2), ("volume", header(8, 8, None, 8, depth=4, mipmaps=2, caps2=0x200000), 8 * 8 * 4 + 4 * 4 * 2),
            ("bc7-array", header(8, 4, dx10=(98, 3, 0, 3, 0)), 2 * 16 * 3), ("dx10-cube", header(4, 4, dx10=(28, 3, 4, 1, 0)), 64 * 6),
            ("float", header(4, 4, struct.pack("<I", 116)), 256), ("packed", header(6, 4, dx10=(68, 3, 0, 1, 0)), 48)):
        data = head + rng.randbytes(length)
        save("dds", name + ".dds", data, verdict="unverified", length=len(data), why=f"the last {length} bytes cannot be verified")
        if name in ("mipmaps", "cube"):
            save("dds", name + "-followed.dds", data + rng.randbytes(500), verdict="unverified", length=len(data))
    cut = header(64, 64) + rng.randbytes(1000)
    save("dds", "cut.dds", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    for name, at, value, why in (("header", 4, b"\x7b", "no header at 0"), ("width", 16, bytes(4), "an impossible size at 12"),
                                 ("format", 76, b"\x21", "no pixel format at 76"), ("code", 84, b"ABCD", "an unknown pixel format at 84"),
                                 ("faceless", 112, b"\0\2\0\0", "a cube without faces at 112")):
        save("dds", name + ".dds", tiny[:at] + value + tiny[at + len(value):], verdict="reject", why=why)
    save("dds", "dxgi.dds", header(8, 8, dx10=(500, 3, 0, 1, 0)) + bytes(64), verdict="reject", why="an impossible extended header at 128")
    save("dds", "bits.dds", header(8, 8, None, 0) + bytes(64), verdict="reject", why="an impossible pixel format at 76")
    long = header(64, 64) + rng.randbytes(2048)
    words = (b"what comes after a picture that was cut are words and more words " * 40)[:1024]
    save("dds", "text.dds", long[:1536] + words[:640], verdict="truncated", length=1536, why="text instead of pixels at 1536")
    save("dds", "zeros.dds", long[:1536] + bytes(640), verdict="truncated", length=1536, why="zeros instead of pixels at 1536")
    one = header(8, 8, dx10=(82, 3, 0, 0, 0)) + bytes(range(64))
    save("dds", "no-surfaces.dds", one, verdict="unverified", length=len(one), why="the last 64 bytes cannot be verified")
