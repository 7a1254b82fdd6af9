"""Flash, tag by tag; packed by Python's zlib and lzma."""
import lzma, struct, zlib

from makers.bmff import noise
from makers.common import PNG, save


def tag(code, data, long=False):
    if long or len(data) >= 63:
        return struct.pack("<HI", code << 6 | 63, len(data)) + data
    return struct.pack("<H", code << 6 | len(data)) + data


def body(*more):
    rect = b"\x78\0\x05\x5f\0\0\x0f\xa0\0"
    return rect + b"\0\x0c\1\0" + tag(69, bytes(4)) + tag(9, b"\xff\xff\xff") + tag(20, noise(600, 1)) + b"".join(more) + tag(1, b"") + tag(0, b"")


def make():
    data = body(tag(2, noise(40, 2)), tag(77, b"<x/>\0", True))
    head = lambda kind, d=data: kind + b"\x0a" + struct.pack("<I", len(d) + 8)
    plain = head(b"FWS") + data
    save("swf", "plain.swf", plain, extension="swf")
    illustrated = body(tag(6, b"\1\0" + PNG))
    illustrated = head(b"FWS", illustrated) + illustrated
    save("swf", "picture.swf", illustrated, extension="swf", embedded=illustrated.index(PNG))
    endless = data[:-2]
    save("swf", "no-end.swf", head(b"FWS", endless) + endless, verdict="unverified", length=len(endless) + 8, extension="swf")
    save("swf", "no-end-cut.swf", head(b"FWS", endless) + endless[:-9], verdict="truncated", length=len(endless) - 1,
         why=f"the image ends at {len(endless) - 1}, before the file does")
    # The head of a last tag, whose data the image does not hold any more.
    last = head(b"FWS", plain[8:-2] + b"\2\0\0\0") + plain[8:-2] + b"\2\0"
    save("swf", "last-cut.swf", last, verdict="truncated", length=len(last), why=f"the image ends at {len(last)}, before the file does")
    save("swf", "no-end-random.swf", head(b"FWS", endless) + endless + noise(900, 9), verdict="unverified", length=len(endless) + 8, extension="swf")
    packed = zlib.compress(data, 9)
    save("swf", "zlib.swf", head(b"CWS") + packed, extension="swf")
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 6}]
    alone = lzma.compress(data, lzma.FORMAT_ALONE, filters=filters)
    stream = alone[13:]
    xz = head(b"ZWS") + struct.pack("<I", len(stream)) + alone[:5] + stream
    save("swf", "lzma.swf", xz, verdict="unverified", length=len(xz), extension="swf")
    large = head(b"CWS", data * 9) + zlib.compress(data * 9)
    cut = len(large) // 2
    save("swf", "zlib-cut.swf", large[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    save("swf", "zlib-random.swf", large[:cut] + noise(2000, 5), verdict="truncated", length_min=cut - 50)
    save("swf", "zlib-length.swf", head(b"CWS", data + b"1") + packed, verdict="unverified", length=len(packed) + 8)
    place = plain.index(struct.pack("<H", 77 << 6 | 63)) - 20
    for name, junk in (("random", noise(2000, 6)), ("text", b"Now for something different. " * 60)):
        save("swf", name + ".swf", plain[:place] + junk, verdict="truncated", length_max=place)
    save("swf", "cut.swf", plain[:place], verdict="truncated", length=place, why=f"the image ends at {place}, before the file does")
    save("swf", "lzma-cut.swf", xz[:-20], verdict="truncated", length=len(xz) - 20)
    save("swf", "noise.swf", b"FWS\x0a" + struct.pack("<I", 5000) + b"\x78" + b"\xff" * 600, verdict="reject")
    save("swf", "no-stream.swf", head(b"CWS") + noise(500, 7), verdict="reject", why="no zlib stream at 8")
    save("swf", "version.swf", b"FWS\0" + plain[4:], verdict="reject", why="no head of a Flash file at 0")
