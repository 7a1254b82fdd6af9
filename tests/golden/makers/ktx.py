"""KTX 1 and 2: headers by hand around noise."""
import random, struct

from makers.common import save


def one(sizes, order="<", faces=1, array=0, keys=b""):
    head = b"\xabKTX 11\xbb\r\n\x1a\n" + struct.pack(order + "13I", 0x04030201, 0, 1, 0, 0x8d64, 0x1907, 16, 16, 0, array, faces, len(sizes), len(keys)) + keys
    rng = random.Random(1)
    for size in sizes:
        count = faces if not array else 1
        head += struct.pack(order + "I", size) + (rng.randbytes(size) + bytes(-size % 4)) * count
    return head


def two(levels, extra=b""):
    rng = random.Random(2)
    at = 80 + 24 * len(levels)
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 37, 1, 16, 16, 0, 0, 1, len(levels), 0)
    head += struct.pack("<4I2Q", at, 44, at + 44, 20, at + 64 if extra else 0, len(extra))
    at += 64 + len(extra)
    index, data = b"", b""
    for size in reversed(levels):
        index = struct.pack("<3Q", at + len(data), size, size) + index
        data += rng.randbytes(size)
    return head + index + bytes(64) + extra + data


def make():
    for name, data in (("plain.ktx", one([128])), ("mipmaps.ktx", one([128, 32, 9, 3], keys=b"\4\0\0\0a\0b\0")), ("big-endian.ktx", one([128, 32], ">")),
                       ("cube.ktx", one([30, 10], faces=6)), ("array.ktx", one([60], faces=6, array=2)), ("plain.ktx2", two([128])),
                       ("mipmaps.ktx2", two([128, 32, 8])), ("global.ktx2", two([128], bytes(40)))):
        save("ktx", name, data, verdict="unverified", length=len(data), extension=name.split(".")[1],
             why=f"the pixels before {len(data)} cannot be verified")
    data = one([128, 32])
    save("ktx", "cut.ktx", data[:150], verdict="truncated", length=150, why="the image ends at 150, before the file does")
    save("ktx", "size.ktx", one([128]) [:64] + bytes(500), verdict="truncated", length=64, why="a mipmap with an impossible size at 64")
    save("ktx", "mark.ktx", data[:12] + b"\2" + data[13:], verdict="reject", why="an impossible header at 12")
    save("ktx", "faces.ktx", data[:52] + b"\5" + data[53:], verdict="reject", why="an impossible header at 12")
    new = two([128])
    save("ktx", "scheme.ktx2", new[:44] + b"\x63" + new[45:], verdict="reject", why="an impossible header at 12")
    save("ktx", "place.ktx2", new[:80] + b"\xff" * 8 + new[88:], verdict="reject", why="an impossible offset of pixels at 80")
    save("ktx", "identifier.ktx", b"\0" + data[1:], verdict="reject", why="no KTX identifier at 0")
