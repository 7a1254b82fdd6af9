"""Zstandard files: python3-zstandard (libzstd), single blocks and skippable frames by hand."""
import struct

import zstandard

from makers.common import save
from makers.packing import junk, small_tar, text


def packed(data, **options):
    return zstandard.ZstdCompressor(**options).compress(data)


def streamed(data, pieces=2, **options):
    """A block each, and no content size."""
    packer = zstandard.ZstdCompressor(**options).compressobj()
    step = -(-len(data) // pieces)
    out = b"".join(packer.compress(data[i:i + step]) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for i in range(0, len(data), step))
    return out + packer.flush()


def make():
    words = text(2500)
    whole = packed(words, write_checksum=True)
    save("zst", "words.zst", whole, extension="zst", why="")
    save("zst", "no-checksum.zst", packed(words[:600]))
    save("zst", "streamed.zst", streamed(words, write_checksum=True))
    save("zst", "streamed-no-checksum.zst", streamed(words[:800]))
    save("zst", "raw-block.zst", packed(junk(200), write_checksum=True))
    save("zst", "runs.zst", packed(bytes(40000), write_checksum=True))
    save("zst", "empty.zst", packed(b"", write_checksum=True))
    save("zst", "small.tar.zst", packed(small_tar(), write_checksum=True), extension="tar.zst")
    # A frame that ends at a sector boundary (tests/unit/test_carver_chain.c).
    even = next(frame for frame in (packed(junk(size), write_checksum=True) for size in range(900, 1030)) if len(frame) == 1024)
    save("zst", "sector-chain.zst", even + packed(junk(700), write_checksum=True), sequence="yes")
    skippable = struct.pack("<II", 0x184D2A57, 12) + b"twelve bytes"
    save("zst", "chain.zst", packed(words[:700], write_checksum=True) + packed(words[700:], write_checksum=True), sequence="yes")
    chain = struct.pack("<III", 0x184D2A50, 4, len(whole)) + whole + skippable
    save("zst", "chain-skippable.zst", chain, sequence="yes", unverified=f"8-12 {len(chain) - 12}-{len(chain)}")
    # One raw block of 20 bytes behind a header that says nothing.
    save("zst", "unproved.zst", struct.pack("<IBB", 0xFD2FB528, 0, 0x50) + struct.pack("<I", 20 << 3 | 1)[:3] + junk(20),
         verdict="unverified", length=29, why="has no size, no checksum and no compressed block")
    # Raw blocks, with a size; the second ends with an empty one.
    raw = struct.pack("<IBBI", 0xFD2FB528, 0x80, 0x50, 40) + struct.pack("<I", 1 << 3 | 0)[:3] + b"x" + struct.pack("<I", 39 << 3 | 1)[:3] + junk(39)
    save("zst", "plain-end.zst", raw, verdict="unverified", length=len(raw), why=f"ends in bytes as they are, without a checksum, before {len(raw)}")
    empty = raw[:-42] + struct.pack("<I", 39 << 3)[:3] + junk(39) + b"\1\0\0"
    save("zst", "empty-end.zst", empty, unchecked=10)
    with_id = bytearray(whole)
    with_id[4] |= 1  # an id of one byte behind the window or size fields
    save("zst", "dictionary.zst", bytes(with_id[:5]) + b"\x07" + bytes(with_id[5:]), verdict="unverified", length=len(whole) + 1,
         why="needs a dictionary, so nothing was decompressed")

    two = streamed(words, write_checksum=True)
    first = 6 + 3 + (int.from_bytes(two[6:9], "little") >> 3)  # behind the first block
    save("zst", "skippable-end.zst", whole + struct.pack("<II", 0x184D2A50, 300) + junk(300), verdict="unverified", length=len(whole) + 308,
         why=f"ends in a frame to skip, at {len(whole)}")
    table = junk(300) + struct.pack("<I", 0x8F92EAB1)
    save("zst", "seek-table.zst", whole + struct.pack("<II", 0x184D2A5E, len(table)) + table, sequence="yes")
    save("zst", "cut.zst", whole[:500], verdict="truncated", length=500)
    save("zst", "cut-random.zst", two[:-200] + junk(3000, 2), verdict="truncated", length_min=first, length_max=first + 3)
    save("zst", "cut-zeros.zst", two[:first + 100] + bytes(3000), verdict="truncated", length_min=first, length_max=first + 3)
    save("zst", "first-block-damaged.zst", two[:40] + junk(3000, 2), verdict="truncated", length=9)
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    save("zst", "checksum-wrong.zst", bytes(wrong), verdict="truncated", length_min=9, length_max=len(whole) - 1)
    save("zst", "reserved-bit.zst", whole[:4] + bytes([whole[4] | 8]) + whole[5:], verdict="reject", why="no Zstandard frame at 0")
    save("zst", "reserved-block.zst", two[:6] + bytes([two[6] | 6]) + two[7:], verdict="reject")
    save("zst", "huge-block.zst", two[:6] + b"\xfd\xff\xff" + two[9:], verdict="reject")
    save("zst", "skippable-alone.zst", skippable + junk(300), verdict="reject", why="no Zstandard frame at 20")
