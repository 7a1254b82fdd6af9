"""Matroska and WebM, element by element; frames are noise."""
import struct, zlib

from makers.bmff import noise
from makers.common import PNG, save

EBML, SEGMENT, SEEK, INFO, TRACKS, CUES, CLUSTER, TAGS = ("1a45dfa3", "18538067", "114d9b74", "1549a966", "1654ae6b", "1c53bb6b", "1f43b675",
                                                          "1254c367")


def element(name, *parts, width=0, live=False):
    data = b"".join(parts)
    if live:
        return bytes.fromhex(name) + b"\1" + b"\xff" * 7 + data
    width = width or (1 if len(data) < 127 else 2 if len(data) < 16383 else 4)
    return bytes.fromhex(name) + (len(data) | 1 << 7 * width).to_bytes(width, "big") + data


def checked(name, *parts):
    data = b"".join(parts)
    return element(name, element("bf", struct.pack("<I", zlib.crc32(data))), data)


def head(kind=b"matroska"):
    return element(EBML, element("4286", b"\1"), element("42f7", b"\1"), element("4282", kind), element("4287", b"\4"))


def block(track, count, seed, group=False):
    data = bytes([0x80 | track]) + struct.pack(">hB", seed, 0x80) + noise(count, seed)
    return element("a0", element("a1", data), element("9b", b"\x28")) if group else element("a3", data)


def cluster(number, live=False, group=False, make=element, track=1):
    parts = [element("e7", struct.pack(">H", number * 100))]
    parts += [block(track if i == 2 else 1 + i % 2, 50 + 13 * i, number * 10 + i, group) for i in range(5)]
    return element(CLUSTER, *parts, live=True) if live else make(CLUSTER, *parts)


def info(make=element):
    return make(INFO, element("2ad7b1", b"\x0f\x42\x40"), element("4461", struct.pack(">q", (1700000000 - 978307200) * 10**9)),
                element("7ba9", "Café".encode()))


def tracks(kinds=(1, 2)):
    return element(TRACKS, *[element("ae", element("d7", bytes([i + 1])), element("83", bytes([k]))) for i, k in enumerate(kinds)])


def make():
    cues = element(CUES, element("bb", element("b3", b"\0"), element("b7", element("f7", b"\1"), element("f1", b"\x40"))))
    parts = [element("ec", bytes(90)), info(), tracks(), cluster(0), cluster(1), cluster(2)]
    known = dict(title="Café", time=1700000000)
    whole = head() + element(SEGMENT, *parts, cues, width=8)
    save("mkv", "film.mkv", whole, extension="mkv", **known)
    save("mkv", "film.webm", head(b"webm") + element(SEGMENT, *parts, cues), extension="webm", **known)
    save("mkv", "sound.mka", head() + element(SEGMENT, info(), tracks((2, 2)), cluster(0), cues), extension="mka", **known)
    save("mkv", "groups.mkv", head() + element("ec", bytes(30)) + element(SEGMENT, info(), tracks(), cluster(0, group=True), cluster(1, group=True), cues),
         extension="mkv", **known)
    save("mkv", "checked.mkv", head() + element(SEGMENT, info(checked), tracks(), cluster(0, make=checked), cluster(1, make=checked), cues),
         extension="mkv", **known)
    attached = head() + element(SEGMENT, *parts, element("1941a469", element("61a7", element("466e", b"a.png"), element("465c", PNG))), cues)
    save("mkv", "attached.mkv", attached, extension="mkv", embedded=attached.index(PNG), **known)
    frame = b"\xff\xfb\x10\x40" + bytes(100)
    sound = head() + element(SEGMENT, info(), tracks((2, 2)), element(CLUSTER, element("e7", b"\0"), element("a3", b"\x81\0\0\x80", frame)), cues)
    save("mkv", "mp3.mka", sound, extension="mka", embedded=sound.index(frame), **known)
    save("mkv", "padded.mkv", head() + element(SEGMENT, *parts, element("ec", bytes(2000))), extension="mkv", **known)
    live = head() + element(SEGMENT, info(), tracks(), cluster(0, live=True), cluster(1, live=True), live=True)
    save("mkv", "live.webm", live, verdict="unverified", length=len(live), extension="mkv", **known)
    save("mkv", "live-chance.webm", live + b"\xbf\x79" + noise(30000, 4), verdict="unverified", length=len(live))
    save("mkv", "live-random.webm", live + noise(2000, 4), verdict="unverified", length=len(live))
    many = head() + element(SEGMENT, info(), tracks(), element(CLUSTER, element("e7", b"\0"), block(1, 900, 7)))
    save("mkv", "one-block.mkv", many, verdict="unverified", length=len(many), why="the last 904 bytes cannot be verified")
    bare = head() + element(SEGMENT, info(), tracks())
    save("mkv", "no-clusters.mkv", bare, verdict="unverified", length=len(bare), why=f"no clusters before {len(bare)}")

    # Damage.
    half = whole.index(bytes.fromhex(CLUSTER)) + 500
    save("mkv", "cut.mkv", whole[:half], verdict="truncated", length=half, why=f"the image ends at {half}, before the file does")
    for name, junk in (("random", noise(3000, 9)), ("zeros", bytes(3000)), ("ff", b"\xff" * 3000), ("text", b"Now for something different. " * 100)):
        save("mkv", name + "-behind.mkv", whole[:half] + junk, verdict="truncated", length_min=half - 200, length_max=half)
    wrong = head() + element(SEGMENT, info(), tracks(), cluster(0), cluster(1, track=9), cues)
    save("mkv", "track.mkv", wrong, verdict="truncated", length_max=len(wrong) - 300)
    crc = bytearray(head() + element(SEGMENT, info(), tracks(), cluster(0, make=checked), cues))
    crc[crc.index(bytes.fromhex(CLUSTER)) + 40] ^= 1
    last = bytearray(head() + element(SEGMENT, info(), tracks(), cluster(0), cluster(1, make=checked)))
    last[-9] ^= 1
    at = last.rindex(bytes.fromhex(CLUSTER))
    save("mkv", "crc-last.mkv", bytes(last), verdict="truncated", length=at, why=f"wrong CRC of the last element at {at}")
    save("mkv", "crc.mkv", bytes(crc), verdict="unverified", length=len(crc))
    odd = head() + element(SEGMENT, info(), tracks(), cluster(0), element("99", bytes(20)), cues)
    save("mkv", "element.mkv", odd, verdict="truncated")
    save("mkv", "other-type.mkv", head(b"something") + whole[len(head()):], verdict="reject", why="the document type at 16 is neither matroska nor webm")
    save("mkv", "no-segment.mkv", head() + noise(400, 3), verdict="reject", why=f"no segment at {len(head())}")
    save("mkv", "empty.mkv", head() + element(SEGMENT, element("ec", bytes(100))), verdict="reject", why=f"no known element in the segment at {len(head())}")
    save("mkv", "head.mkv", whole[:20], verdict="reject", why="no EBML head at 0")
