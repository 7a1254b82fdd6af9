"""OneNote: revision stores and packages with made-up content."""
import random, struct

from makers.common import save

SECTION = bytes.fromhex("e4525c7b8cd8a74daeb15378d02996d3")
CONTENTS = bytes.fromhex("a12fff43d9ef764c9ee210ea5722765f")
STORE = bytes.fromhex("3fdd9a101b91f549a5d01791edc8aed8")
PACKAGE = bytes.fromhex("2fe98d63d4a6c14b9a36b3fc2511a5b7")
START, END = struct.pack("<Q", 0xa4567ab1f5f7f4c4), struct.pack("<Q", 0x8bc215c38233ba4b)
NIL = (2**64 - 1, 0)


def node(number, kind, at=None, size=0, form=0):
    if at is None:
        data = b"data of a node"
    elif form:  # places in two bytes, lengths in one, both in units of 8
        data = struct.pack("<HB", at // 8, size // 8)
    else:
        data = struct.pack("<QI", at, size)
    header = number | (4 + len(data)) << 10 | kind << 27 | 1 << 31
    if form:
        header |= 2 << 23 | 2 << 25
    return struct.pack("<I", header) + data


def fragment(nodes, size, following=NIL):
    body = START + struct.pack("<II", 16, 0) + b"".join(nodes)
    return body.ljust(size - 20, b"\0") + struct.pack("<QI", *following) + END


GUID = bytes.fromhex("e716e3bd65261145a4c48d4d0b7a9eac")


def store(kind=SECTION, length=None, child_at=1536, end=END, tail=b""):
    """tail: bytes that no list describes."""
    content = GUID + struct.pack("<QQ", 204, 0) + random.Random(1).randbytes(208)
    root = fragment([node(4, 0), node(8, 2, child_at, 256), node(0x94, 1, 2048, 240), node(8, 2, 2288, 256)], 256, (1280, 256))
    second = fragment([node(8, 2, 1792, 256, form=1)], 256)
    child = fragment([node(8, 1, 2048, 240, form=1), node(0xff, 0)], 256)
    last = fragment([], 256)
    body = root + second + child + last + content + fragment([], 256) + tail
    total = 1024 + len(body)
    header = kind + bytes(16) + bytes(16) + STORE
    header = header.ljust(148, b"\0") + struct.pack("<QI", *NIL) + struct.pack("<QI", *NIL) + struct.pack("<QI", 1024, 256)
    header = header.ljust(196, b"\0") + struct.pack("<Q", total if length is None else length)
    return header.ljust(1024, b"\0") + body


def start(kind, size, holds=False, wide=False):
    if wide:
        return struct.pack("<I", 2 | holds << 2 | kind << 3 | size << 17)
    return struct.pack("<H", holds << 2 | kind << 3 | size << 9)


def package():
    rng = random.Random(2)
    out = start(0x7a, 33, True, True) + rng.randbytes(33) + start(0x15, 1, True) + b"\0"
    out += start(0x20, 12, wide=True) + rng.randbytes(12) + start(1, 20, True) + rng.randbytes(20) + start(2, 90) + rng.randbytes(90)
    out += struct.pack("<B", 1 << 2 | 1)
    long = rng.randbytes(700)
    out += start(0x16, 32767, wide=True) + struct.pack("<H", len(long) << 2 | 2) + long
    return SECTION + bytes(32) + PACKAGE + bytes(4) + out + bytes([0x15 << 2 | 1]) + struct.pack("<H", 0x7a << 2 | 3)


def make():
    whole = store()
    save("one", "store.one", whole, extension="one", unchecked=2048, embedded=2048 + 36, unverified="2048-2288")
    save("one", "zeros.one", store(tail=bytes(40)), extension="one", unchecked=2048, unverified="2048-2288 2544-2584")
    longer = store(tail=b"data that no list describes")
    save("one", "tail.one", longer, verdict="unverified", length=len(longer), why="nothing verifies the data after 2544")
    save("one", "contents.onetoc2", store(CONTENTS), extension="onetoc2", unchecked=2048)
    packed = package()
    save("one", "package.one", packed, extension="one")
    save("one", "cut.one", whole[:1500], verdict="truncated", length=1500)
    save("one", "short.one", whole[:2200], verdict="truncated", length=2200, why="the image ends at 2200, before the file does")
    save("one", "overwritten.one", whole[:1400] + random.Random(3).randbytes(1500), verdict="truncated", length=1280)
    far = store(child_at=999999)
    save("one", "far.one", far, verdict="reject")
    save("one", "list.one", store(child_at=1528), verdict="truncated", length=2544, why="no start mark of a list at 1528")
    save("one", "length.one", store(length=100), verdict="reject", why="an impossible length at 196")
    save("one", "package-cut.one", packed[:300], verdict="truncated", length=300)
    save("one", "package-overwritten.one", packed[:200] + b"\xff" * 900, verdict="truncated", length_min=68, length_max=260)
    save("one", "package-wiped.one", packed[:-3] + bytes(900), verdict="truncated", length=len(packed) - 3)
    save("one", "form.one", whole[:48] + bytes(16) + whole[64:], verdict="reject", why="an unknown file format at 48")
    save("one", "kind.one", bytes(16) + whole[16:], verdict="reject", why="no OneNote file type at 0")
