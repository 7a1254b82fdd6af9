"""bzip2 files: Python's bz2 (libbz2)."""
import bz2

from makers.common import save
from makers.packing import junk, small_tar, text


def make():
    words = text(2500)
    whole = bz2.compress(words)
    save("bz2", "words.bz2", whole, extension="bz2", why="")
    save("bz2", "level-1.bz2", bz2.compress(words, 1))
    save("bz2", "empty.bz2", bz2.compress(b""), length=14)
    save("bz2", "random.bz2", bz2.compress(junk(300)))
    save("bz2", "small.tbz2", bz2.compress(small_tar()), extension="tbz2")
    save("bz2", "chain.bz2", bz2.compress(words[:900]) + bz2.compress(words[900:]), sequence="yes")
    save("bz2", "chain-empty.bz2", bz2.compress(words[:900]) + bz2.compress(b""), sequence="yes")
    save("bz2", "cut.bz2", whole[:500], verdict="truncated", length=500)
    # What is sound lies before the block that broke: the header and the magic.
    save("bz2", "cut-random.bz2", whole[:500] + junk(6000, 2), verdict="truncated", length=10)
    save("bz2", "cut-zeros.bz2", whole[:500] + bytes(6000), verdict="truncated", length=10)
    save("bz2", "cut-text.bz2", whole[:500] + text(6000, 4), verdict="truncated", length=10)
    wrong = bytearray(whole)
    wrong[11] ^= 1
    save("bz2", "block-crc-wrong.bz2", bytes(wrong), verdict="truncated", length=10)
    wrong = bytearray(whole)
    wrong[-1] ^= 0x40
    save("bz2", "last-byte-wrong.bz2", bytes(wrong), verdict="truncated", length=10)
    wrong = bytearray(whole)
    wrong[300] ^= 4
    save("bz2", "data-damaged.bz2", bytes(wrong), verdict="truncated", length=10)
    save("bz2", "bad-level.bz2", whole[:3] + b"0" + whole[4:], verdict="reject", why="no bzip2 header at 0")
    save("bz2", "bad-magic.bz2", whole[:9] + b"X" + whole[10:], verdict="reject")
    save("bz2", "random-behind.bz2", whole[:10] + junk(3000, 3), verdict="reject", why="no bzip2 stream at 0")
