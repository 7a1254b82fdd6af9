"""LZ4 files: python3-lz4 (liblz4), the legacy format and skippable frames by hand."""
import struct

import lz4.block
import lz4.frame

from makers.common import save
from makers.packing import junk, small_tar, text


def packed(data, **options):
    return lz4.frame.compress(data, **options)


def legacy(data):
    out = b"\x02\x21\x4c\x18"
    for at in range(0, len(data), 8 << 20):
        block = lz4.block.compress(data[at:at + (8 << 20)], store_size=False)
        out += struct.pack("<I", len(block)) + block
    return out


def make():
    words = text(2500)
    whole = packed(words, content_checksum=True)
    save("lz4", "words.lz4", whole, extension="lz4", why="")
    save("lz4", "block-checksums.lz4", packed(words[:800], block_checksum=True, block_linked=False, store_size=False))
    save("lz4", "no-checksum.lz4", packed(words[:800], store_size=False))
    save("lz4", "raw-block.lz4", packed(junk(200), content_checksum=True))
    save("lz4", "empty.lz4", packed(b"", content_checksum=True))
    save("lz4", "small.tar.lz4", packed(small_tar()), extension="tar.lz4")
    blocks = packed(words * 60, block_size=lz4.frame.BLOCKSIZE_MAX64KB, content_checksum=True)[:]
    save("lz4", "blocks.lz4", blocks)
    # A frame that ends at a sector boundary (tests/unit/test_carver_chain.c).
    even = next(frame for frame in (packed(junk(size), content_checksum=True) for size in range(900, 1030)) if len(frame) == 1024)
    save("lz4", "sector-chain.lz4", even + packed(junk(700), content_checksum=True), sequence="yes")
    skippable = struct.pack("<II", 0x184D2A5F, 5) + b"five!"
    first = len(packed(words[:700])) + 8
    save("lz4", "chain.lz4", packed(words[:700]) + skippable + packed(words[700:1400], content_checksum=True), sequence="yes",
         unverified=f"{first}-{first + 5}")
    save("lz4", "legacy.lz4", legacy(words[:900]), extension="lz4", why="")
    save("lz4", "legacy-tar.lz4", legacy(small_tar()), extension="tar.lz4")

    header = 7 + 8
    first = header + 4 + struct.unpack("<I", blocks[header:header + 4])[0]
    save("lz4", "cut.lz4", whole[:500], verdict="truncated", length=500)
    save("lz4", "cut-random.lz4", blocks[:first + 30] + junk(4000, 2), verdict="truncated", length_min=first, length_max=first + 4)
    save("lz4", "cut-zeros.lz4", blocks[:first] + bytes(4000), verdict="truncated", length_min=first, length_max=first + 4)
    save("lz4", "first-block-damaged.lz4", whole[:200] + junk(4000, 2), verdict="truncated", length=header + 4)
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    save("lz4", "checksum-wrong.lz4", bytes(wrong), verdict="truncated", length_min=len(whole) - 8, length_max=len(whole) - 4)
    wrong = bytearray(whole)
    wrong[14] ^= 1
    save("lz4", "header-checksum-wrong.lz4", bytes(wrong), verdict="reject", why="no LZ4 frame at 0")
    save("lz4", "version.lz4", whole[:4] + bytes([whole[4] ^ 0xC0]) + whole[5:], verdict="reject")
    save("lz4", "random-behind.lz4", whole[:header] + junk(3000, 3), verdict="reject")
    save("lz4", "legacy-image-ends.lz4", legacy(words[:900])[:300], verdict="truncated", length=300)
    save("lz4", "legacy-random.lz4", b"\x02\x21\x4c\x18" + struct.pack("<I", 900) + junk(3000, 4), verdict="reject", why="no LZ4 block at 4")
