"""TGA: Pillow's encoder; by hand: without a footer, other kinds, an extension."""
import struct

from PIL import Image

from makers.common import encoded, picture, save
from makers.sound import noise


def head(kind, width, height, bits, alpha=0, palette=0):
    return struct.pack("<BBBHHBHHHHBB", 0, palette > 0, kind, 0, palette, 24 if palette else 0, 0, 0, width, height, bits, alpha)


def footer(extension=0, area=0):
    return struct.pack("<II", extension, area) + b"TRUEVISION-XFILE.\0"


def make():
    image = picture("RGB")
    coded = encoded(image, format="TGA", compression="tga_rle")
    # A pixel may have any value, a run any that leaves the others their number.
    save("tga", "coded.tga", coded, unchecked=12)
    stored = encoded(image, format="TGA")
    save("tga", "stored.tga", stored, unchecked=12, unverified=f"18-{len(stored) - 26}")
    save("tga", "grey.tga", encoded(picture("L"), format="TGA", compression="tga_rle"), unchecked=12)
    save("tga", "alpha.tga", encoded(image.convert("RGBA"), format="TGA", compression="tga_rle"), unchecked=12)
    save("tga", "palette.tga", encoded(image.quantize(256), format="TGA"), unchecked=12)
    pixels = bytes(range(48)) * 3
    body = head(2, 8, 6, 24) + pixels
    extended = body + struct.pack("<H", 495) + b"Nobody".ljust(493, b"\0") + footer(len(body))
    save("tga", "extension.tga", extended, unchecked=12)
    save("tga", "area.tga", body + b"a program's own bytes" + footer(0, len(body)), unchecked=12)
    # Version 1 has no footer: the pixels have to be like a picture's.
    for name, old in (("version-1", stored[:-26]), ("version-1-coded", coded[:-26])):
        save("tga", name + ".tga", old + noise(500, 8), verdict="unverified", length=len(old))
    # The first rows may be anything.
    wide = b"".join(bytes((x + y, x * 2 % 256, 90)) for y in range(60) for x in range(100))
    rough = head(2, 100, 60, 24) + noise(2400, 5) + wide[2400:]
    save("tga", "rough.tga", rough, verdict="unverified", length=len(rough))
    # Netpbm writes the file's name as a remark, and as many colours as there are.
    save("tga", "remark.tga", b"\x0a" + stored[1:18] + b"golden.tga" + stored[18:-26] + noise(500, 8), verdict="unverified", length=len(stored) - 16)
    save("tga", "remark-random.tga", b"\x0a" + stored[1:18] + noise(10, 3) + stored[18:-26], verdict="reject", why="no header at 0")
    words = "words of a program's own".encode("utf-16-le")
    save("tga", "remark-wide.tga", bytes([len(words)]) + stored[1:18] + words + stored[18:-26], verdict="reject", why="no header at 0")
    save("tga", "version-1-cut.tga", stored[:3072] + noise(3000, 9), verdict="truncated", length_min=2972, length_max=3172)
    save("tga", "noise.tga", head(2, 48, 40, 24) + noise(5760, 2), verdict="reject", why="no footer after 5778")
    save("tga", "black.tga", head(2, 48, 40, 24) + bytes(5760), verdict="reject", why="no footer after 5778")
    save("tga", "alpha-bits.tga", head(2, 48, 40, 24, 3) + stored[18:], verdict="reject", why="no header at 0")
    save("tga", "gap.tga", body + b"what nothing points to" + footer(), verdict="reject", why=f"no footer after {len(body)}")
    save("tga", "cut.tga", coded[:-60], verdict="truncated", length=len(coded) - 60, why=f"the image ends at {len(coded) - 60}, before the file does")
    save("tga", "random.tga", coded[:-900] + noise(4000), verdict="truncated", length_min=len(coded) - 1100, length_max=len(coded) - 700)
    save("tga", "run.tga", head(10, 2, 2, 24) + b"\x84abc" + footer(), verdict="reject", why="no pixels up to 18")
    save("tga", "bits.tga", head(2, 8, 6, 17) + pixels + footer(), verdict="reject", why="no header at 0")
