"""MATLAB's files of level 5, element by element; compressed by Python's zlib."""
import random, struct, zlib

from makers.common import save


def element(order, kind, data):
    return struct.pack(order + "II", kind, len(data)) + data + bytes(-len(data) % 8 if kind != 15 else 0)


def matrix(order, name, values):
    small = struct.pack(order + "I", len(name) << 16 | 1) + name.ljust(4, b"\0") if len(name) <= 4 else element(order, 1, name)
    body = element(order, 6, struct.pack(order + "II", 6, 0)) + element(order, 5, struct.pack(order + "ii", 1, len(values))) + small \
        + element(order, 9, struct.pack(f"{order}{len(values)}d", *values))
    return element(order, 14, body)


def mat(order, *elements):
    return b"MATLAB 5.0 MAT-file, made by hand".ljust(116) + bytes(8) + (b"\0\1IM" if order == "<" else b"\1\0MI") + b"".join(elements)


def make():
    values = [i / 3 for i in range(300)]
    plain = mat("<", matrix("<", b"a", values), matrix("<", b"longer", values[:20]))
    save("mat", "plain.mat", plain, verdict="unverified", length=len(plain), title="MATLAB 5.0 MAT-file, made by hand")
    big = mat(">", matrix(">", b"b", values))
    save("mat", "big-endian.mat", big + bytes(60), verdict="unverified", length=len(big), why=f"no element at {len(big)}, and the number of elements is not stored")
    packed = mat("<", *(element("<", 15, zlib.compress(matrix("<", name, values))) for name in (b"a", b"b")))
    save("mat", "packed.mat", packed, verdict="unverified", length=len(packed))
    more = 8
    lengths = bytearray(mat("<", matrix("<", b"a", values[:1]), matrix("<", b"wavedata", values)).replace(b"made by hand ", b"by libsndfile"))
    second = lengths.index(struct.pack("<I", 14), 140)
    struct.pack_into("<I", lengths, second + 4, len(lengths) - second - 8 + more)
    lengths = bytes(lengths)
    save("mat", "libsndfile.mat", lengths + random.Random(2).randbytes(900), verdict="unverified", length=len(lengths))
    save("mat", "too-long.mat", lengths.replace(b"libsndfile", b"lobsndfile") + random.Random(2).randbytes(900), verdict="truncated")
    save("mat", "zeros.mat", big[:1024] + bytes(len(big) - 1024), verdict="truncated", length=1024, why="zeros instead of data at 1024")
    save("mat", "cut.mat", plain[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does")
    save("mat", "random.mat", plain[:1000] + random.Random(1).randbytes(4000), verdict="unverified", length_min=2000)
    second = len(packed) - len(element("<", 15, zlib.compress(matrix("<", b"b", values))))
    save("mat", "stream.mat", packed[:second + 100] + bytes(4000), verdict="truncated", length=second, why=f"no intact stream at {second}")
    save("mat", "order.mat", plain[:126] + b"XX" + plain[128:], verdict="reject", why="no header at 0")
