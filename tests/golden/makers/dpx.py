"""DPX, by hand: pixels of a smooth picture, all unverified."""
import struct

from makers.common import picture, save
from makers.sound import noise


def dpx(pixels, width, height, bits=8, order=">", kind=50, packing=0, length=None):
    head = (b"SDPX" if order == ">" else b"XPDS") + struct.pack(order + "I8sI", 2048, b"V1.0", 2048 + len(pixels) if length is None else length)
    image = struct.pack(order + "HHII", 0, 1, width, height)
    element = bytes(20) + bytes([kind, 2, 2, bits]) + struct.pack(order + "HHIII", packing, 0, 2048, 0, 0)
    return (head.ljust(768, b"\xff") + image + element).ljust(2048, b"\xff") + pixels


def make():
    pixels = picture("RGB", (100, 60)).tobytes()
    why = "nothing verifies the data from 2048 on"
    whole = dpx(pixels, 100, 60)
    save("dpx", "big.dpx", whole, verdict="unverified", length=len(whole), why=why)
    save("dpx", "little.dpx", dpx(pixels, 100, 60, order="<") + noise(50, 1), verdict="unverified", length=len(whole), why=why)
    words = b"".join(struct.pack(">I", pixels[i] << 24 | pixels[i + 1] << 14 | pixels[i + 2] << 4) for i in range(0, len(pixels), 3))
    save("dpx", "ten.dpx", dpx(words, 100, 60, 10, packing=1), verdict="unverified", length=2048 + len(words))
    save("dpx", "no-length.dpx", dpx(pixels, 100, 60, length=0xffffffff) + noise(50, 2), verdict="unverified", length=len(whole))
    # ImageMagick counts 8 bits a value, and no padding.
    magick = lambda data: data[:160] + b"https://imagemagick.org".ljust(100, b"\0") + data[260:]
    odd = picture("RGB", (99, 60)).tobytes()
    rows = b"".join(odd[i:i + 297] + bytes(3) for i in range(0, len(odd), 297))
    narrow = dict(verdict="unverified", length=2048 + len(rows), why=why)
    save("dpx", "magick.dpx", magick(dpx(rows, 99, 60, length=2048 + len(odd))) + noise(50, 4), **narrow)
    sixteen = b"".join(bytes([v, v]) for v in pixels)
    save("dpx", "magick-16.dpx", magick(dpx(sixteen, 100, 60, 16, length=2048 + len(pixels))), verdict="unverified", length=2048 + len(sixteen), why=why)
    save("dpx", "magick-10.dpx", magick(dpx(words, 100, 60, 10, packing=1, length=2048 + len(pixels))), verdict="unverified", length=2048 + len(words))
    cut = whole[:9000]
    save("dpx", "cut.dpx", cut, verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    for name, junk in (("zeros", bytes(len(whole))), ("random", noise(len(whole), 3)), ("text", b"nothing but words\n" * 1200)):
        save("dpx", name + ".dpx", whole[:8192] + junk, verdict="truncated", length_min=8100, length_max=8200)
    save("dpx", "short.dpx", dpx(pixels, 100, 61), verdict="reject", why="a length that is too short for the pixels")
    save("dpx", "nothing.dpx", dpx(pixels, 0, 60), verdict="reject", why="no picture is described at 768")
