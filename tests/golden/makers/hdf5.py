"""HDF5: superblocks around made-up data."""
import random, struct

from makers.common import save

MARK, NONE = b"\x89HDF\r\n\x1a\n", b"\xff" * 8


def hdf5(version, size, base=0, place=8):
    if version < 2:
        head = MARK + bytes([version, 0, 0, 0, 0, place, 8, 0]) + struct.pack("<HHI", 4, 16, 0) + (struct.pack("<HH", 32, 0) if version else b"")
        head += struct.pack("<Q", base) + NONE + struct.pack("<Q", size) + NONE
    else:
        head = MARK + bytes([version, place, 8, 0]) + struct.pack("<Q", base) + NONE + struct.pack("<QQI", size, 48, 7)
    return head.ljust(96, b"\0") + bytes(i * i % 251 // 2 for i in range(size - 96))


def make():
    for version in range(4):
        whole = hdf5(version, 3000)
        save("hdf5", f"version-{version}.h5", whole + bytes(90), verdict="unverified", length=3000, why="nothing verifies the data from 96 on")
    whole = hdf5(2, 20000)
    save("hdf5", "cut.h5", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    save("hdf5", "packed.h5", whole[:9000] + random.Random(1).randbytes(11000), verdict="unverified", length=20000)
    save("hdf5", "zeros.h5", whole[:10240] + bytes(20000), verdict="truncated", length=10240, why="zeros instead of data at 10240")
    matlab = b"MATLAB 7.3 MAT-file, golden".ljust(508) + b"\0\2IM" + hdf5(0, 3512, base=512)
    save("hdf5", "matlab.mat", matlab, verdict="unverified", length=3512, why="nothing verifies the data from 608 on", extension="mat")
    save("hdf5", "base.h5", hdf5(0, 3000, base=512), verdict="reject", why="no superblock at 0")
    save("hdf5", "places.h5", hdf5(2, 3000, place=4), verdict="reject", why="no superblock at 0")
    save("hdf5", "end.h5", whole[:28] + bytes(8) + whole[36:], verdict="reject", why="an impossible end in the superblock")
