"""Debian packages, by hand; their contents packed by Python's gzip, lzma, bz2 and python3-zstandard."""
import bz2, gzip, lzma

import zstandard

from makers.ar import member
from makers.common import save
from makers.packing import junk, small_tar


def package(form, data, extra=b""):
    return b"!<arch>\n" + member(b"debian-binary", b"2.0\n") + member(b"control.tar.gz", gzip.compress(small_tar()[:512], mtime=0)) \
        + member(b"data.tar" + form, data) + extra


def make():
    tar = small_tar()
    whole = package(b".xz", lzma.compress(tar))
    save("deb", "xz.deb", whole, time=1709251198, why="")
    save("deb", "gz.deb", package(b".gz", gzip.compress(tar, mtime=0)))
    save("deb", "bz2.deb", package(b".bz2", bz2.compress(tar)))
    save("deb", "zst.deb", package(b".zst", zstandard.compress(tar)))
    save("deb", "lzma.deb", package(b".lzma", lzma.compress(tar, format=lzma.FORMAT_ALONE)))
    save("deb", "bare.deb", package(b"", tar))
    save("deb", "signed.deb", package(b".xz", lzma.compress(tar), member(b"_gpgorigin", junk(90))), sequence="yes")
    data = whole.index(b"data.tar.xz") + 60
    save("deb", "cut.deb", whole[:data + 200], verdict="truncated", length=data + 200, embedded=data)
    save("deb", "cut-random.deb", whole[:data + 200] + junk(900, 2), verdict="truncated", length_min=data + 200, length_max=len(whole))
    save("deb", "cut-zeros.deb", whole[:data + 200] + bytes(900), verdict="truncated", length_min=data + 180, length_max=data + 230)
    save("deb", "no-data.deb", whole[:data - 60] + junk(300, 3), verdict="truncated", length=data - 61)
    wrong = bytearray(whole)
    wrong[data + 100] ^= 1
    save("deb", "data-damaged.deb", bytes(wrong), verdict="truncated", length_min=data + 100, length_max=len(whole))
    control = bytearray(whole)
    at = control.index(b"control.tar.gz")
    control[at + 60 + 30] ^= 1
    save("deb", "control-damaged.deb", bytes(control), verdict="unverified", length=len(whole), why=f"the member at {at} is not a whole archive")
    save("deb", "longer.deb", package(b".xz", lzma.compress(tar) + b"more"), verdict="truncated", length=len(whole))
    save("deb", "library.deb", b"!<arch>\n" + member(b"a.o/", junk(80)), verdict="reject", why="no debian-binary at 8")
