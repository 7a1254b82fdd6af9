"""HDF5: by h5py (the HDF Group's library), and superblocks and root groups around made-up data."""
import io, random, struct

import h5py

from makers.common import save

MARK, NONE = b"\x89HDF\r\n\x1a\n", b"\xff" * 8


def lookup3(data):
    """Bob Jenkins' hash, as the format uses it."""
    turn, mask = lambda x, n: (x << n | x >> 32 - n) & 0xffffffff, 0xffffffff
    a = b = c = 0xdeadbeef + len(data) & mask
    while len(data) > 12:
        x, y, z = struct.unpack("<3I", data[:12])
        a, b, c, data = a + x & mask, b + y & mask, c + z & mask, data[12:]
        a = (a - c & mask) ^ turn(c, 4); c = c + b & mask
        b = (b - a & mask) ^ turn(a, 6); a = a + c & mask
        c = (c - b & mask) ^ turn(b, 8); b = b + a & mask
        a = (a - c & mask) ^ turn(c, 16); c = c + b & mask
        b = (b - a & mask) ^ turn(a, 19); a = a + c & mask
        c = (c - b & mask) ^ turn(b, 4); b = b + a & mask
    if data:
        x, y, z = struct.unpack("<3I", data.ljust(12, b"\0"))
        a, b, c = a + x & mask, b + y & mask, c + z & mask
        for one, two, n in ("c", "b", 14), ("a", "c", 11), ("b", "a", 25), ("c", "b", 16), ("a", "c", 4), ("b", "a", 14), ("c", "b", 24):
            values = {"a": a, "b": b, "c": c}
            values[one] = (values[one] ^ values[two]) - turn(values[two], n) & mask
            a, b, c = values["a"], values["b"], values["c"]
    return c


def group():
    """A root group's header of version 2: a message without content."""
    head = b"OHDR\2\0" + bytes((7,)) + b"\0\3\0\0" + b"abc"
    return head + struct.pack("<I", lookup3(head))


def library(version):
    """What the library writes: a group, an array, an attribute."""
    out = io.BytesIO()
    with h5py.File(out, "w", libver=version, track_order=False) as file:
        file.create_group("golden")["numbers"] = range(40)
        file.attrs["title"] = "golden"
    return out.getvalue()


def hdf5(version, size, base=0, place=8):
    if version < 2:
        head = MARK + bytes([version, 0, 0, 0, 0, place, 8, 0]) + struct.pack("<HHI", 4, 16, 0) + (struct.pack("<HH", 32, 0) if version else b"")
        head += struct.pack("<Q", base) + NONE + struct.pack("<Q", size) + NONE + struct.pack("<QQII", 0, 104, 1, 0) + struct.pack("<QQ", 160, 200)
        head = head.ljust(104, b"\0") + struct.pack("<BBHII", 1, 0, 1, 1, 24) + bytes(44) + b"TREE".ljust(40, b"\0") + b"HEAP"
    else:
        head = MARK + bytes([version, place, 8, 0]) + struct.pack("<Q", base) + NONE + struct.pack("<QQ", size, 48)
        head += struct.pack("<I", lookup3(head)) + group()
    head = head.ljust(208, b"\0")
    return head + bytes(i * i % 251 // 2 for i in range(size - base - len(head)))


def make():
    for version in range(4):
        whole = hdf5(version, 3000)
        save("hdf5", f"version-{version}.h5", whole + bytes(90), verdict="unverified", length=3000, why="nothing verifies the data from 96 on")
    for version in ("earliest", "latest"):
        made = library(version)
        save("hdf5", f"library-{version}.h5", made + bytes(90), verdict="unverified", length=len(made), why="nothing verifies the data from 96 on")
        save("hdf5", f"library-{version}-cut.h5", made[:600], verdict="truncated", length=600, why="the image ends at 600, before the file does")
    whole = hdf5(2, 20000)
    save("hdf5", "checksum.h5", whole[:30] + b"\1" + whole[31:], verdict="reject", why="a wrong checksum in the superblock at 0")
    save("hdf5", "group-checksum.h5", whole[:60] + b"\1" + whole[61:], verdict="reject", why="no root group at 48")
    old = hdf5(0, 20000)
    save("hdf5", "tree.h5", old.replace(b"TREE", b"FREE"), verdict="truncated", length=160, why="no root group at 160")
    save("hdf5", "heap.h5", old.replace(b"HEAP", b"LEAP"), verdict="truncated", length=200, why="no root group at 200")
    save("hdf5", "cut.h5", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    save("hdf5", "packed.h5", whole[:9000] + random.Random(1).randbytes(11000), verdict="unverified", length=20000)
    save("hdf5", "zeros.h5", whole[:10240] + bytes(20000), verdict="truncated", length=10240, why="zeros instead of data at 10240")
    words = b"the quick brown fox jumps over the lazy dog and so on "
    texts = b"The 12 NAMES of 34 PLACES AND 56 THINGS: " * 3 + words * 40
    save("hdf5", "text.h5", whole[:4000] + texts + whole[4000 + len(texts):], verdict="unverified", length=20000, why="nothing verifies the data from 96 on")
    foreign = whole[:8192] + (words * 400)[:11808]
    save("hdf5", "foreign.h5", foreign, verdict="truncated", length=8192, why="text instead of data at 8192")
    matlab = b"MATLAB 7.3 MAT-file, golden".ljust(508) + b"\0\2IM" + hdf5(0, 3512, base=512)
    save("hdf5", "matlab.mat", matlab, verdict="unverified", length=3512, why="nothing verifies the data from 608 on", extension="mat")
    save("hdf5", "base.h5", hdf5(0, 3000, base=512), verdict="reject", why="no superblock at 0")
    save("hdf5", "places.h5", hdf5(2, 3000, place=4), verdict="reject", why="no superblock at 0")
    save("hdf5", "end.h5", old[:40] + bytes(8) + old[48:], verdict="reject", why="an impossible end in the superblock at 0")
    block = b"# A user block\n".ljust(512, b"\0")
    save("hdf5", "block.h5", block + hdf5(0, 3512, base=512), verdict="unverified", length=3512, why="nothing verifies the data from 608 on")
    save("hdf5", "block-2.h5", block + hdf5(2, 3512, base=512), verdict="unverified", length=3512)
    save("hdf5", "block-base.h5", block + hdf5(0, 3512, base=1024), verdict="reject", why="no superblock at 512")
