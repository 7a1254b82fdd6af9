"""PBM, PGM, PPM and PAM: Pillow's encoder, and by hand."""
import random

from makers.common import encoded, picture, save


def make():
    raw = lambda name, data, at, **more: save("pnm", name, data, verdict="unverified", length=len(data), unverified=f"{at}-{len(data)}",
                                              why=f"nothing verifies the data from {at} on", **more)
    colour = encoded(picture("RGB"), format="PPM")
    at = colour.index(b"255") + 4
    raw("colour.ppm", colour, at, extension="ppm")
    grey = b"P5\n# a golden picture\n#\n48 40\t65535 " + bytes(i * 7 % 251 for i in range(48 * 40 * 2))
    raw("deep.pgm", grey, grey.index(b"65535") + 6, extension="pgm")
    bits = b"P4\n20 30\n" + bytes(range(90))
    raw("bits.pbm", bits, 9, extension="pbm")
    pam = b"P7\nWIDTH 48\nHEIGHT 40\n# four channels\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    raw("alpha.pam", pam + bytes(i * 5 % 256 for i in range(48 * 40 * 4)), len(pam), extension="pam")
    text = b"P3\n4 3\n255\n" + b"\n".join(b" ".join(b"%d" % (i * j % 256) for j in range(12)) for i in range(3, 6)) + b"\n"
    save("pnm", "text.ppm", text, extension="ppm", unchecked=3, unverified="none", sequence="yes")
    save("pnm", "text.pbm", b"P1\n# bits\n6 4\n010101\n111000 0 0 1 1 0 0\n110011\n", extension="pbm", unchecked=3, sequence="yes")
    save("pnm", "blank.pgm", b"P2 6 2 9\n0 1 2 3 4 5 \n9 8 7 6 5 4  \n\n", extension="pgm", unchecked=3, sequence="yes")
    save("pnm", "text.pgm", b"P2 6 2 9\r\n0 1 2 3 4 5\r\n9 8 7 6 5 4\r\n", extension="pgm", unchecked=3, sequence="yes")
    save("pnm", "cut.ppm", colour[:2000], extension="ppm", verdict="truncated", length=2000, why="the image ends at 2000, before the file does")
    rng = random.Random(6)
    large = b"P6\n100 100\n255\n" + b"".join(bytes((x + y, y * 2, x + 30)) for y in range(100) for x in range(100))
    save("pnm", "random.ppm", large[:9000] + rng.randbytes(30000), verdict="truncated", length_min=8000, length_max=10100)
    save("pnm", "words.ppm", large[:10240] + (b"nothing but words " * 2000)[:len(large) - 10240], verdict="truncated", length=10240,
         why="text instead of data at 10240")
    save("pnm", "other.ppm", large[:8192] + b"".join(bytes((255 - i % 7, 0xc0, i * i % 251)) for i in range(7275))[:len(large) - 8192], verdict="truncated", length=8192,
         why="bytes unlike the pixels before at 8192")
    save("pnm", "value.ppm", text[:40] + b"256 1 2 3", verdict="truncated", length_min=30, length_max=40)
    for name, data in (("kind", b"P8\n4 4\n255\n"), ("width", b"P5\n0 4\n255\n"), ("height", b"P6\n4 x\n255\n"), ("maximum", b"P6\n4 4\n65536\n"),
                       ("words", b"P3 and P4 are papers of 1990"), ("pam", b"P7\nWIDTH 4\nHEIGHT 4\nENDHDR\n")):
        save("pnm", name + ".ppm", data + bytes(300), verdict="reject")
