"""Ogg: pages by hand around noise; codecs, streams side by side and in a row."""
import struct

from makers.common import save
from makers.sound import comments, noise


def crc(data):
    value = 0
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value >> 31 else 0)) & 0xFFFFFFFF
    return value


def page(data, flags=0, serial=7, number=0, position=0):
    lacing = [255] * (len(data) // 255) + [len(data) % 255]
    head = b"OggS\0" + struct.pack("<BqII", flags, position, serial, number)
    rest = bytes([len(lacing)]) + bytes(lacing) + data
    return head + struct.pack("<I", crc(head + bytes(4) + rest)) + rest


def stream(first, second, serial=7, count=3):
    out = [page(first, 2, serial, 0), page(second, 0, serial, 1)]
    for i in range(count):
        out.append(page(noise(300 + i, serial + i), 4 if i == count - 1 else 0, serial, i + 2, i * 960))
    return out


def make():
    gold = comments(TITLE="Golden hour", date="2024-02-29")
    vorbis = stream(b"\1vorbis" + bytes(23), b"\3vorbis" + gold)
    whole = b"".join(vorbis)
    titled = dict(title="Golden hour", time=1709164800)
    ogg = lambda name, data, **expected: save("ogg", name, data, **{"extension": "ogg", **expected})
    ogg("vorbis.ogg", whole, **titled)
    ogg("opus.opus", b"".join(stream(b"OpusHead\1\2" + bytes(9), b"OpusTags" + gold)), extension="opus", **titled)
    ogg("speex.spx", b"".join(stream(b"Speex   1.2" + bytes(69), gold)), extension="spx", **titled)
    ogg("flac.oga", b"".join(stream(b"\x7fFLAC\1\0\0\1fLaC\0\0\0\x22" + bytes(34), b"\x84\0\0\x40" + gold)), extension="oga", **titled)
    theora = stream(b"\x80theora\3\2\1" + bytes(33), b"\x81theora" + gold, 9)
    pair = [vorbis[0], theora[0], vorbis[1], theora[1], vorbis[2], theora[2], vorbis[3], theora[3], vorbis[4], theora[4]]
    ogg("theora.ogv", b"".join(pair), extension="ogv", **titled)
    ogg("ogm.ogm", b"".join(stream(b"\1video\0\0\0" + bytes(40), b"\3vorbis" + gold)), extension="ogm", **titled)
    chained = whole + b"".join(stream(b"\1vorbis" + bytes(23), b"\3vorbis" + comments(), 11))
    ogg("chained.ogg", chained, sequence="yes", why=f"streams in a row: those from {len(whole)} on may be another file", **titled)
    ogg("unknown.ogg", b"".join(stream(b"Something", b"else")), extension="")

    cut = whole[:-100]
    at = len(whole) - len(vorbis[4])
    ogg("cut.ogg", cut, verdict="truncated", length=len(cut))
    for name, junk in (("zeros", bytes(3000)), ("random", noise(3000, 3)), ("other", whole)):
        ogg(f"cut-{name}.ogg", cut + junk, verdict="truncated", length=at, why=f"wrong CRC of the page at {at}")
    ogg("no-end.ogg", whole[:at] + noise(500), verdict="truncated", length=at,
        why=f"no page at {at}, and the last page is missing")
    ogg("other-stream.ogg", whole[:at] + theora[3], verdict="truncated", length=at,
        why=f"another file's page at {at}, and the last page is missing")
    wrong = bytearray(whole)
    wrong[len(vorbis[0]) + len(vorbis[1]) + 100] ^= 1
    ogg("crc.ogg", bytes(wrong), verdict="unverified", length=len(whole),
        why=f"wrong CRC of the page at {len(vorbis[0]) + len(vorbis[1])}")
    gap = b"".join(vorbis[:2] + vorbis[3:])
    ogg("gap.ogg", gap, verdict="unverified", length=len(gap))
    save("ogg", "first-crc.ogg", b"OggS\0\2" + bytes(40), verdict="reject", why="no first page with a matching CRC at 0")
    save("ogg", "middle.ogg", b"".join(vorbis[2:]), verdict="reject")
