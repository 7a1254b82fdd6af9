"""LZMA files from before xz: Python's lzma (liblzma)."""
import lzma, struct

from makers.common import save
from makers.packing import junk, small_tar, text


def make():
    words = text(2500)
    whole = lzma.compress(words, format=lzma.FORMAT_ALONE)
    save("lzma", "words.lzma", whole, extension="lzma", why="")
    for lc, lp, pb, size in ((0, 0, 0, 1 << 23), (3, 0, 4, 3 << 20), (1, 3, 1, 1 << 12)):
        filters = [{"id": lzma.FILTER_LZMA1, "lc": lc, "lp": lp, "pb": pb, "dict_size": size}]
        save("lzma", f"properties-{lc}{lp}{pb}.lzma", lzma.compress(words, format=lzma.FORMAT_ALONE, filters=filters))
    raw = lzma.compress(words, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 6}])
    # The size instead of the mark at the end, and both, as other programs write them.
    save("lzma", "sized-and-marked.lzma", whole[:5] + struct.pack("<Q", len(words)) + whole[13:])
    save("lzma", "small.tlz", lzma.compress(small_tar(), format=lzma.FORMAT_ALONE), extension="tlz")
    save("lzma", "empty.lzma", lzma.compress(b"", format=lzma.FORMAT_ALONE))
    assert raw == whole[13:]
    save("lzma", "cut.lzma", whole[:500], verdict="truncated", length=500)
    save("lzma", "cut-zeros.lzma", whole[:500] + bytes(5000), verdict="truncated", length_min=480, length_max=520)
    save("lzma", "cut-random.lzma", whole[:500] + junk(5000, 2), verdict="truncated", length_min=500, length_max=6000)
    save("lzma", "size-too-small.lzma", whole[:5] + struct.pack("<Q", len(words) - 1) + whole[13:], verdict="truncated",
         length_min=600, length_max=len(whole))
    save("lzma", "bad-dictionary.lzma", whole[:1] + b"\1\2\3\4" + whole[5:], verdict="reject", why="no lzma header at 0")
    save("lzma", "bad-properties.lzma", b"\xff" + whole[1:], verdict="reject")
    save("lzma", "bad-size.lzma", whole[:5] + b"\xff" * 7 + b"\x7f" + whole[13:], verdict="reject")
    save("lzma", "bad-coder.lzma", whole[:13] + b"\1" + whole[14:], verdict="reject")
    save("lzma", "random-behind.lzma", whole[:14] + junk(3000, 3), verdict="reject", why="no lzma stream at 0")
