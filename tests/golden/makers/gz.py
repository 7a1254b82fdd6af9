"""gzip files: Python's zlib, headers by hand."""
import struct, zlib

from makers.common import save
from makers.packing import SVG, junk, small_tar, text


def deflated(data, level=9):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def member(data, level=9, time=0, extra=None, name=None, comment=None, crc16=False, xfl=2, system=3):
    flags = (2 if crc16 else 0) | (4 if extra is not None else 0) | (8 if name is not None else 0) | (16 if comment is not None else 0)
    head = b"\x1f\x8b\x08" + struct.pack("<BIBB", flags, time, xfl, system)
    if extra is not None:
        head += struct.pack("<H", len(extra)) + extra
    for part in (name, comment):
        if part is not None:
            head += part + b"\0"
    if crc16:
        head += struct.pack("<H", zlib.crc32(head) & 0xffff)
    return head + deflated(data, level) + struct.pack("<II", zlib.crc32(data), len(data) & 0xffffffff)


def fsevents(version):
    """A page of macOS's .fseventsd: paths, each with the event's number and flags, and from version 2 on a node's number."""
    body = b"".join(path + b"\0" + struct.pack("<QI", 0x9b21f0 + i, 0x1000000) + (struct.pack("<Q", 8613 + i) if version > 1 else b"") +
                    (bytes(4) if version > 2 else b"") for i, path in enumerate(b"private/var/db/uuidtext/%02X" % i for i in range(9)))
    return b"%dSLD" % version + bytes(4) + struct.pack("<I", 12 + len(body)) + body


def make():
    words = text(3000)
    whole = member(words, time=1709251198, name=b"words.txt")
    save("gz", "named.gz", whole, extension="gz", title="words.txt", time=1709251198, why="")
    save("gz", "bare.gz", member(words), extension="gz", title="", time=0)
    save("gz", "stored.gz", member(junk(400), 0, xfl=4, system=11), extension="gz")
    save("gz", "empty.gz", member(b"", system=255), extension="gz", length=20)
    save("gz", "all-fields.gz", member(words[:300], extra=b"AB\2\0xy", name=b"n\xe4me", comment=b"two\nlines", crc16=True))
    save("gz", "small.tgz", member(small_tar(), name=b"a.tar"), extension="tgz", title="a.tar")
    save("gz", "picture.svgz", member(SVG), extension="svgz")
    save("gz", "newc.cpio.gz", member(b"070701" + b"0" * 104), extension="cpio.gz")
    pages = b"".join(fsevents(version) for version in (1, 2, 3))
    for name, data in (("first", pages[:len(fsevents(1))]), ("second", fsevents(2)), ("third", fsevents(3)), ("pages", pages)):
        save("gz", f"{name}.fsevents", member(data), extension="fsevents", title="")
    save("gz", "fourth.gz", member(b"4" + pages[1:]), extension="gz")
    save("gz", "short.gz", member(pages[:11]), extension="gz")
    save("gz", "cut-random.fsevents", member(pages)[:100] + junk(3000, 4), verdict="truncated", extension="fsevents", length_min=100, length_max=200)
    save("gz", "chain.gz", member(words[:300], name=b"one") + member(words[300:], name=b"two") + member(b""), title="one", sequence="yes")
    blocks = b"".join(member(words[i:i + 900], extra=b"BC\2\0\0\0") for i in range(0, 2700, 900))
    save("gz", "chain-blocks.gz", blocks, sequence="yes")

    data = 10 + len(b"words.txt") + 1
    save("gz", "cut.gz", whole[:600], verdict="truncated", length=600, title="words.txt")
    save("gz", "cut-random.gz", whole[:600] + junk(3000, 2), verdict="truncated", length_min=600, length_max=700)
    save("gz", "cut-zeros.gz", whole[:600] + bytes(3000), verdict="truncated", length_min=590, length_max=610)
    save("gz", "cut-ff.gz", whole[:600] + b"\xff" * 3000, verdict="truncated", length_min=590, length_max=640)
    save("gz", "cut-text.gz", whole[:600] + text(3000, 5), verdict="truncated", length_min=600, length_max=700)
    save("gz", "cut-other.gz", whole[:600] + member(words, name=b"other"), verdict="truncated", length_min=600, length_max=1403)
    # A member that ends at a sector boundary (tests/unit/test_carver_chain.c).
    even = member(words[:300], extra=b"AB" + struct.pack("<H", 600) + bytes(600))
    fill = 600 + -len(even) % 512
    even = member(words[:300], extra=b"AB" + struct.pack("<H", fill) + bytes(fill))
    assert len(even) == 1024
    save("gz", "sector-chain.gz", even + member(words), length=len(even + member(words)), why="", sequence="yes")
    save("gz", "chain-cut.gz", member(words[:300], name=b"one") + whole[:600], verdict="truncated",
         length=len(member(words[:300], name=b"one")) + 600)
    wrong = bytearray(whole)
    wrong[-8] ^= 1
    save("gz", "crc-wrong.gz", bytes(wrong), verdict="truncated", length_min=len(whole) - 8, length_max=len(whole))
    wrong = bytearray(whole)
    wrong[-1] ^= 1
    save("gz", "length-wrong.gz", bytes(wrong), verdict="truncated", length_min=len(whole) - 8, length_max=len(whole))
    wrong = bytearray(whole)
    wrong[data + 200] ^= 0x10
    save("gz", "data-damaged.gz", bytes(wrong), verdict="truncated", length_min=data + 200, length_max=len(whole))
    wrong = bytearray(member(words[:300], crc16=True))
    wrong[10] ^= 1
    save("gz", "header-crc-wrong.gz", bytes(wrong), verdict="reject", why="the header's CRC is wrong at 0")
    plain = member(words[:300])
    save("gz", "omnigraffle.gz", plain[:3] + bytes(5) + b"\3\0" + plain[10:], why="")
    save("gz", "reserved-flag.gz", b"\x1f\x8b\x08\x80" + whole[4:], verdict="reject", why="impossible flags or system at 0")
    save("gz", "bad-system.gz", whole[:9] + b"\x63" + whole[10:], verdict="reject")
    save("gz", "name-control.gz", member(words, name=b"a\1b"), verdict="reject", why="an impossible name at 0")
    save("gz", "random-behind.gz", b"\x1f\x8b\x08\0\0\0\0\0\2\3" + junk(2000, 3), verdict="reject", why="no deflate stream at 10")
