"""7z archives: the start header and the header by hand, streams by Python's lzma (liblzma)."""
import lzma, struct, zlib

from makers.common import save
from makers.packing import junk, text


def lzma2(data, **options):
    return lzma.compress(data, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6, **options}])


def archive(streams, header, at=None, crc=None):
    start = struct.pack("<QQI", len(streams) if at is None else at, len(header), zlib.crc32(header) if crc is None else crc)
    return b"7z\xbc\xaf\x27\x1c\0\x04" + struct.pack("<I", zlib.crc32(start)) + start + streams + header


def make():
    words = text(1800)
    header = b"\x01\x04\x06\x00\x01\x09" + text(120, 9) + b"\0"
    streams = lzma2(words) + lzma2(words[:500], lc=0, lp=2)
    whole = archive(streams, header)
    first = 32 + len(lzma2(words))
    save("sevenzip", "two.7z", whole, why="", extension="", unverified=f"32-{32 + len(streams)}")
    save("sevenzip", "stored.7z", archive(junk(300), header))
    save("sevenzip", "empty.7z", archive(b"", b""), length=32)
    save("sevenzip", "gap.7z", archive(streams + bytes(100), header))
    save("sevenzip", "cut.7z", whole[:700], verdict="truncated", length=700)
    save("sevenzip", "cut-random.7z", whole[:first + 100] + junk(2500, 2), verdict="truncated", length_min=first + 100, length_max=first + 300,
         why=f"the header's CRC is wrong at {32 + len(streams)}")
    save("sevenzip", "cut-zeros.7z", whole[:first + 100] + bytes(2500), verdict="truncated", length_min=first + 90, length_max=first + 120)
    save("sevenzip", "first-cut.7z", whole[:300] + junk(2500, 3), verdict="truncated", length_min=300, length_max=600)
    save("sevenzip", "stored-cut.7z", archive(junk(300), header)[:200] + junk(900, 4), verdict="truncated", length=32)
    wrong = bytearray(whole)
    wrong[-20] ^= 1
    save("sevenzip", "header-damaged.7z", bytes(wrong), verdict="truncated", length_min=first, length_max=32 + len(streams))
    wrong = bytearray(whole)
    wrong[12] ^= 1
    save("sevenzip", "start-damaged.7z", bytes(wrong), verdict="reject", why="the start header's CRC is wrong at 8")
    save("sevenzip", "lengths.7z", archive(streams, header, at=1 << 63), verdict="reject", why="impossible lengths at 12")
    save("sevenzip", "version-1.7z", whole[:6] + b"\1" + whole[7:], verdict="reject", why="no signature at 0")
