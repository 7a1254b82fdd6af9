"""WOFF and WOFF2: tables from makers/sfnt.py, packed by Python's zlib; WOFF2's tables are words, packed by Brotli (python3-brotli)."""
import random, struct, zlib

import brotli

from makers.common import save
from makers.sfnt import CREATED, sums, tables


def woff(made, metadata=b"", private=b"", wrong=(), pack=True, stretch=0):
    count = len(made)
    at, directory, body = 44 + 20 * count, b"", b""
    for tag, data in made.items():
        packed = zlib.compress(data) if pack else data
        packed = packed if len(packed) < len(data) else data
        directory += tag + struct.pack(">IIII", at + len(body), len(packed), len(data), sums(tag, data) ^ (tag in wrong))
        body += packed + bytes(-len(packed) % 4)
    places = []
    for part in (zlib.compress(metadata) if metadata else b"", private):
        places += [at + len(body) if part else 0, len(part)]
        body += part + (bytes(-len(part) % 4) if part is not private else b"")
    size = at + len(body) + stretch
    head = b"wOFF\0\1\0\0" + struct.pack(">IHHIHH", size, count, 0, 9999, 1, 0)
    return head + struct.pack(">IIIII", places[0], places[1], len(metadata), places[2], places[3]) + directory + body


def base128(value):
    out = [value & 127]
    while value > 127:
        value >>= 7
        out.insert(0, value & 127 | 128)
    return bytes(out)


def woff2(flavor=b"\0\1\0\0", fonts=b"", length=3000, directory=None, told=0, private=b""):
    rng = random.Random(4)
    lengths = [300, length, 200, 70]
    if directory is None:
        directory = bytes([0]) + base128(300) + bytes([10]) + base128(40000) + base128(length + told) + bytes([11]) + base128(200) + base128(200)
        directory += bytes([63]) + b"Mine" + base128(70)
    made = b"".join(b"%d %s\n" % (rng.randint(0, 1 << 30), rng.choice([b"curve", b"line", b"move"])) for i in range(sum(lengths)))[:sum(lengths)]
    packed = brotli.compress(made)
    body = directory + fonts + packed
    body += bytes(-(48 + len(body)) % 4)
    place = 48 + len(body) if private else 0
    return b"wOF2" + flavor + struct.pack(">IHHIIHHIIIII", 48 + len(body + private), 4, 0, 50000, len(packed), 1, 0, 0, 0, 0, place, len(private)) + body + private


def make():
    about = dict(extension="woff", title="Golden Prüfung", time=CREATED)
    plain = woff(tables())
    save("woff", "plain.woff", plain, **about)
    save("woff", "stored.woff", woff(tables(), pack=False), **about)
    save("woff", "metadata.woff", woff(tables(), b"<metadata/>" * 9), **about)
    private = woff(tables(), b"<metadata/>" * 9, bytes(range(50)))
    save("woff", "private.woff", private, unchecked=len(private) - 50, **about)
    large = woff(tables(length=4000))
    at = large.index(zlib.compress(tables(length=4000)[b"glyf"]))
    rng = random.Random(1)
    for kind, junk in (("random", rng.randbytes(3000)), ("zeros", bytes(3000)), ("text", b"nothing but words, " * 160)):
        save("woff", f"cut-{kind}.woff", large[:at + 300] + junk, verdict="truncated", length_min=at - 4, length_max=at)
    save("woff", "cut.woff", plain[:-50], verdict="truncated", length_min=len(plain) - 120, length_max=len(plain) - 50)
    bad = woff(tables(), wrong=(b"head",))
    where = bad.index(zlib.compress(tables()[b"head"]))
    save("woff", "checksum.woff", bad, verdict="truncated", length_min=where - 4, length_max=where, why=f"wrong checksum of the table at {where}")
    longer = woff(tables(), stretch=40)
    save("woff", "longer.woff", longer + bytes(40), verdict="truncated", length_min=len(longer) - 4, length_max=len(longer))
    made = tables()
    save("woff", "first.woff", woff(made, wrong=(next(iter(made)),)), verdict="truncated", length=44 + 20 * len(made))
    entry = bytearray(woff(made, wrong=(next(iter(made)),)))
    entry[44 + 20 * 2] = 1
    save("woff", "entry.woff", bytes(entry), verdict="reject")
    short = bytearray(plain)
    struct.pack_into(">I", short, 8, 60)
    save("woff", "short.woff", bytes(short), verdict="reject", why="impossible lengths at 8")

    second = woff2()
    save("woff", "plain.woff2", second, extension="woff2")
    fonts = struct.pack(">I", 0x10000) + b"\1\2" + b"\0\1\0\0" + b"\0\3"
    save("woff", "collection.woff2", woff2(b"ttcf", fonts), extension="woff2")
    more = woff2(private=b"private data, " * 3)
    save("woff", "private.woff2", more, verdict="unverified", length=len(more))
    other = woff2(told=1)
    save("woff", "told.woff2", other, verdict="truncated", length_min=1000, length_max=len(other))
    huge = woff2(told=1 << 27)
    save("woff", "huge.woff2", huge, verdict="unverified", length=len(huge))
    long = woff2(length=12000)
    cut = len(long) // 2
    for name, junk in (("zeros", bytes(6000)), ("random", rng.randbytes(6000)), ("text", b"nothing but words, " * 300)):
        save("woff", f"{name}.woff2", long[:cut] + junk, verdict="truncated", length_min=cut - 1500, length_max=len(long))
    save("woff", "cut.woff2", second[:-9], verdict="truncated", length=len(second) - 9, why=f"the image ends at {len(second) - 9}, before the file does")
    save("woff", "directory.woff2", woff2(directory=b"\0\x80\1" * 8), verdict="reject", why="no table directory at 49")
