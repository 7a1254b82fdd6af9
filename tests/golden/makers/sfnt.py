"""Fonts of tables: TrueType, OpenType, collections; the tables' contents are made up but for head and name."""
import random, struct

from makers.common import save
from makers.elf import code

CREATED = 1100000000


def total(data):
    data += bytes(-len(data) % 4)
    return sum(struct.unpack(f">{len(data) // 4}I", data)) & 0xffffffff


def head():
    return struct.pack(">IIIIHHQQ", 0x10000, 0x10000, 0, 0x5f0f3cf5, 3, 1000, CREATED + 2082844800, CREATED + 2082844800).ljust(54, b"\1")


def name(text, mac=False):
    data = text.encode("latin-1" if mac else "utf-16-be")
    record = struct.pack(">HHHHHH", 1 if mac else 3, 0 if mac else 1, 0 if mac else 1033, 4, len(data), 0)
    return struct.pack(">HHH", 0, 1, 18) + record + data


def tables(title="Golden Prüfung", length=400, mac=False):
    made = {b"OS/2": code(96, 1), b"cmap": code(60, 2), b"glyf": code(length, 3), b"head": head(), b"hhea": code(36, 4), b"loca": code(21, 5),
            b"maxp": code(32, 6), b"name": name(title, mac), b"post": code(32, 7)}
    return made


def sums(tag, data):
    return (total(data) - (struct.unpack_from(">I", data, 8)[0] if tag == b"head" else 0)) & 0xffffffff


def font(made, version=b"\0\1\0\0", base=0, order=None, wrong=(), padding=b"\0"):
    count = len(made)
    power = 1 << count.bit_length() - 1
    directory = version + struct.pack(">HHHH", count, power * 16, power.bit_length() - 1, (count - power) * 16)
    at, places, body = base + 12 + 16 * count, {}, b""
    for tag in order or made:
        places[tag] = at + len(body)
        body += made[tag] + padding * (-len(made[tag]) % 4)
    for tag in sorted(made):
        directory += tag + struct.pack(">III", sums(tag, made[tag] + padding * (-len(made[tag]) % 4)) ^ (tag in wrong), places[tag], len(made[tag]))
    data = directory + body
    where = places[b"head"] + 8 - base
    return data[:where] + struct.pack(">I", (0xb1b0afba - total(data)) & 0xffffffff) + data[where + 4:]


def make():
    about = dict(title="Golden Prüfung", time=CREATED)
    save("sfnt", "plain.ttf", font(tables()), extension="ttf", **about)
    save("sfnt", "macintosh.ttf", font(tables(mac=True), b"true"), extension="ttf", **about)
    outlines = tables()
    outlines[b"CFF "] = outlines.pop(b"glyf")
    save("sfnt", "outlines.otf", font(outlines, b"OTTO"), extension="otf", **about)
    mixed = list(tables())
    random.Random(2).shuffle(mixed)
    save("sfnt", "other-order.ttf", font(tables(), order=mixed), extension="ttf", **about)
    blanks = font(tables(length=402), padding=b" ")
    save("sfnt", "blanks.ttf", blanks, extension="ttf", **about)
    odd = font(tables(), order=sorted(tables(), key=lambda tag: tag == b"post"), wrong=(b"post",))
    save("sfnt", "last-sum.ttf", odd, verdict="unverified", length=len(odd), extension="ttf", **about)
    save("sfnt", "last-sum-wiped.ttf", odd[:-20] + bytes(20), verdict="truncated")
    signed = tables()
    signed[b"DSIG"] = b"\0\0\0\1\0\0\0\0"
    save("sfnt", "signature.ttf", font(signed), **about)
    first = font(tables(), base=20)
    data = b"ttcf" + struct.pack(">III", 0x10000, 2, 20) + struct.pack(">I", 20 + len(first)) + first
    # The second font has all the tables of the first.
    data += first[:12 + 16 * 9]
    save("sfnt", "collection.ttc", data, extension="ttc", embedded=f"20 {20 + len(first)}", **about)
    second = b"ttcf" + struct.pack(">IIIIII", 0x20000, 1, 28, 0x44534947, 8, 28 + len(first)) + font(tables(), base=28) + b"\0\0\0\1\0\0\0\0"
    save("sfnt", "signed-collection.ttc", second, extension="ttc", unchecked=len(second) - 8, **about)

    wrong = font(tables(), wrong=(b"cmap",))
    at = 12 + 16 * 9 + 96
    save("sfnt", "one-wrong.ttf", wrong, verdict="unverified", length=len(wrong), why=f"wrong checksum of table cmap at {at}")
    large = font(tables(length=15000))
    at += 60
    for kind, junk in (("random", random.Random(1).randbytes(7000)), ("zeros", bytes(7000)), ("text", b"nothing but words, " * 369)):
        save("sfnt", f"cut-{kind}.ttf", large[:10000] + junk, verdict="truncated", length_min=8900, length_max=11100,
             why=f"wrong checksum of table glyf at {at}")
    plain = font(tables())
    save("sfnt", "cut.ttf", plain[:-40], verdict="truncated", length_min=len(plain) - 100, length_max=len(plain) - 40,
         why=f"the image ends at {len(plain) - 40}, before the file does")
    # A table is broken, and behind it the image ends.
    wrong = font(tables(), wrong={b"glyf"})
    at = wrong.index(tables()[b"glyf"])
    save("sfnt", "wrong-cut.ttf", wrong[:at + 420], verdict="truncated", length_max=at + 400, why=f"wrong checksum of table glyf at {at}")
    # Nothing's checksum is 0.
    empty = font({**tables(), b"DSIG": b""}, wrong=set(tables()))
    save("sfnt", "empty-right.ttf", empty, verdict="reject", why=f"no table checksum matches from {12 + 16 * 10} on")
    save("sfnt", "none-right.ttf", font(tables(), wrong=set(tables())), verdict="reject", why=f"no table checksum matches from {12 + 16 * 9} on")
    for where, value, why in ((1, 2, "no font at 0"), (5, 2, "an impossible number of tables at 0"), (28, 1, "a table without a tag at 0"),
                              (20, 0x90, "an impossible table offset at 0")):
        bad = bytearray(plain)
        bad[where] = value
        save("sfnt", f"head-{where}.ttf", bytes(bad), verdict="reject", why=why)
    bad = bytearray(data)
    struct.pack_into(">I", bad, 8, 0)
    save("sfnt", "no-fonts.ttc", bytes(bad), verdict="reject", why="no collection header at 0")
