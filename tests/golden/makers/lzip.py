"""lzip files: the stream by Python's lzma (liblzma), header and trailer by hand."""
import lzma, struct, zlib

from makers.common import save
from makers.packing import junk, small_tar, text


def member(data):
    raw = lzma.compress(data, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16, "lc": 3, "lp": 0, "pb": 2}])
    return b"LZIP\x01\x10" + raw + struct.pack("<IQQ", zlib.crc32(data), len(data), 6 + len(raw) + 20)


def make():
    words = text(2500)
    whole = member(words)
    save("lzip", "words.lz", whole, extension="lz", why="")
    save("lzip", "small.tar.lz", member(small_tar()), extension="tar.lz")
    save("lzip", "chain.lz", member(words[:800]) + member(words[800:]), sequence="yes")
    save("lzip", "empty.lz", member(b""), length=36)
    save("lzip", "cut.lz", whole[:500], verdict="truncated", length=500)
    save("lzip", "cut-zeros.lz", whole[:500] + bytes(4000), verdict="truncated", length_min=480, length_max=520)
    for name, at in (("crc", -20), ("size", -16), ("member-size", -8)):
        wrong = bytearray(whole)
        wrong[at] ^= 1
        save("lzip", f"{name}-wrong.lz", bytes(wrong), verdict="truncated", length_min=len(whole) - 20, length_max=len(whole))
    save("lzip", "version-2.lz", b"LZIP\x02" + whole[5:], verdict="reject", why="no lzip header at 0")
    save("lzip", "bad-dictionary.lz", b"LZIP\x01\x1f" + whole[6:], verdict="reject")
    save("lzip", "random-behind.lz", whole[:6] + b"\0" + junk(3000, 3), verdict="reject")
