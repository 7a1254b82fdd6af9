"""xz files: Python's lzma (liblzma)."""
import lzma

from makers.common import save
from makers.packing import junk, small_tar, text


def make():
    words = text(2500)
    whole = lzma.compress(words)
    # A stream that ends at a sector boundary (tests/unit/test_carver_chain.c).
    even = next(stream for stream in (lzma.compress(junk(size)) for size in range(900, 1030)) if len(stream) == 1024)
    save("xz", "sector-chain.xz", even + lzma.compress(junk(700)), sequence="yes")
    save("xz", "words.xz", whole, extension="xz", why="")
    for name, check in (("none", lzma.CHECK_NONE), ("crc32", lzma.CHECK_CRC32), ("sha256", lzma.CHECK_SHA256)):
        save("xz", f"check-{name}.xz", lzma.compress(words[:600], check=check))
    save("xz", "empty.xz", lzma.compress(b""), length=32)
    save("xz", "random.xz", lzma.compress(junk(300)))
    filters = [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6}]
    save("xz", "filters.xz", lzma.compress(words[:600], filters=filters))
    save("xz", "small.txz", lzma.compress(small_tar()), extension="txz")
    one, two = lzma.compress(words[:900]), lzma.compress(words[900:])
    save("xz", "chain.xz", one + two, sequence="yes")
    save("xz", "chain-padded.xz", one + bytes(8) + two, sequence="yes")
    save("xz", "cut.xz", whole[:500], verdict="truncated", length=500)
    save("xz", "cut-random.xz", whole[:500] + junk(6000, 2), verdict="truncated", length_min=500, length_max=len(whole) + 100)
    save("xz", "cut-zeros.xz", whole[:500] + bytes(6000), verdict="truncated", length_min=480, length_max=520)
    save("xz", "cut-ff.xz", whole[:500] + b"\xff" * 6000, verdict="truncated", length_min=480, length_max=520)
    save("xz", "chain-cut.xz", one + two[:300], verdict="truncated", length=len(one) + 300)
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    save("xz", "footer-magic-wrong.xz", bytes(wrong), verdict="truncated", length_min=len(whole) - 12, length_max=len(whole))
    wrong = bytearray(whole)
    wrong[-13] ^= 1
    save("xz", "index-crc-wrong.xz", bytes(wrong), verdict="truncated", length_min=len(whole) - 20, length_max=len(whole) - 12)
    wrong = bytearray(whole)
    wrong[14] ^= 1
    save("xz", "block-header-wrong.xz", bytes(wrong), verdict="truncated", length_min=12, length_max=24)
    wrong = bytearray(whole)
    wrong[400] ^= 8
    save("xz", "data-damaged.xz", bytes(wrong), verdict="truncated", length_min=400, length_max=len(whole))
    wrong = bytearray(whole)
    wrong[8] ^= 1
    save("xz", "header-crc-wrong.xz", bytes(wrong), verdict="reject", why="no xz header at 0")
