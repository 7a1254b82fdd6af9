"""ASF, object by object; packets are noise behind their heads."""
import struct

from makers.bmff import noise
from makers.common import PNG, save

TAIL = bytes.fromhex("8e66cf11a6d900aa0062ce6c")
HEADER, DATA, DESCRIPTION = (bytes.fromhex(h) + TAIL for h in ("3026b275", "3626b275", "3326b275"))
PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
STREAM = bytes.fromhex("9107dcb7b7a9cf118ee600c00c205365")
VIDEO = bytes.fromhex("c0ef19bc4d5bcf11a8fd00805f5c442b")
SOUND = bytes.fromhex("409e69f84d5bcf11a8fd00805f5c442b")
INDEX = bytes.fromhex("90080033b1e5cf1189f400a0c90349cb")
EXTENDED = bytes.fromhex("40a4d0d207e3d21197f000a0c95ea850")
PACKET = 120


def obj(guid, *parts):
    data = b"".join(parts)
    return guid + struct.pack("<Q", len(data) + 24) + data


def packet(i, plain):
    """With error correction, as Microsoft writes them, or with lengths of their own, as GStreamer does; a time and a duration."""
    head = struct.pack("<BBHHIH", 0x51, 0x5d, PACKET, 0, 40 * i, 40) if plain else b"\x82\0\0" + struct.pack("<BBBIH", 8, 0x5d, 0, 40 * i, 40)
    return head + noise(PACKET - len(head), i)


def padded(i, padding):
    """One whose last bytes are zeros, as it says."""
    head = b"\x82\0\0" + struct.pack("<BBBIH", 8, 0x5d, padding, 40 * i, 40)
    return head + noise(PACKET - len(head) - padding, i) + bytes(padding)


def asf(kind=VIDEO, packets=20, index=True, flags=2, size=None, more=b"", plain=False, entries=b"", last=b""):
    filetime = (1700000000 + 11644473600) * 10**7
    title = "Café".encode("utf-16-le") + b"\0\0"
    data = obj(DATA, bytes(16), struct.pack("<Q", packets), b"\1\1", *[packet(i, plain) for i in range(packets)], last)
    behind = obj(INDEX, bytes(32), entries) if index else b""
    for _ in range(2):
        properties = obj(PROPERTIES, bytes(16), struct.pack("<QQQQQQIIII", size or 0, filetime, packets, 0, 0, 0, flags, PACKET, PACKET, 1000))
        inner = properties + obj(DESCRIPTION, struct.pack("<HHHHH", len(title), 0, 0, 0, 0), title) + obj(STREAM, kind, bytes(38)) + more
        head = obj(HEADER, struct.pack("<I", 3), b"\1\2", inner)
        size = size or len(head + data + behind)
    return head + data + behind


def make():
    known = dict(title="Café", time=1700000000)
    film = asf()
    save("asf", "film.wmv", film, extension="wmv", unchecked=len(film) - 60, **known)
    sound = asf(SOUND, 30, index=False)
    save("asf", "sound.wma", sound, verdict="unverified", length=len(sound), extension="wma", why="the last 108 bytes cannot be verified", **known)
    for name, padding, verdict in (("padded", 60, "complete"), ("padded-little", 9, "unverified")):
        tidy = asf(SOUND, 29, index=False, last=padded(29, padding))
        save("asf", name + ".wma", tidy, verdict=verdict, length=len(tidy), extension="wma", unchecked=len(tidy) - 130, **known)
    tidy = asf(SOUND, 29, index=False, last=padded(29, 60))
    for name, junk in (("random", noise(90, 98)), ("zeros", bytes(90))):
        save("asf", f"padding-{name}.wma", tidy[:-90] + junk, verdict="unverified", length=len(tidy), extension="wma")
    illustrated = asf(SOUND, more=obj(EXTENDED, bytes(40), PNG))
    save("asf", "cover.wma", illustrated, extension="wma", unchecked=len(illustrated) - 60, embedded=illustrated.index(PNG), **known)
    few = asf(packets=2, index=False)
    save("asf", "few.wmv", few, verdict="unverified", length=len(few), why="the last 108 bytes cannot be verified")
    live = asf(flags=1)
    save("asf", "live.wmv", live, verdict="unverified", length=len(live), why="written live, without a size")
    at = film.index(DATA) + 50 + 9 * PACKET
    cut = at + 30
    save("asf", "cut.wmv", film[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    for name, junk in (("random", noise(3000, 99)), ("zeros", bytes(3000)), ("text", b"Now for something different. " * 100)):
        save("asf", name + ".wmv", film[:cut] + junk, verdict="truncated", length=at + PACKET, why=f"no packet at {at + PACKET}")
    plain = asf(plain=True)
    save("asf", "plain.wmv", plain, extension="wmv", unchecked=len(plain) - 60, **known)
    at = plain.index(DATA) + 50 + 9 * PACKET
    save("asf", "plain-random.wmv", plain[:at + 30] + noise(3000, 99), verdict="truncated", length=at + PACKET, why=f"no packet at {at + PACKET}")
    # Numbers of packets only rise in an index: zeros from some entry on are a wiped cluster.
    entries = b"".join(struct.pack("<IH", i // 3, 1) for i in range(60))
    wiped = asf(entries=entries[:180] + bytes(180))
    save("asf", "index.wmv", asf(entries=entries), extension="wmv", unchecked=len(wiped) - 390, **known)
    save("asf", "index-wiped.wmv", wiped, verdict="truncated", length=len(wiped) - 180, why=f"an index goes back in time at {len(wiped) - 180}")
    longer = asf(size=len(film) + 500)
    save("asf", "index-missing.wmv", longer, verdict="truncated", length=len(longer))
    shorter = asf(size=1000)
    save("asf", "size.wmv", shorter, verdict="unverified", length=len(shorter))
    head = film.index(DATA)
    save("asf", "no-data.wmv", film[:head] + noise(500, 3), verdict="truncated", length=head, why=f"no data object at {head}")
    # A shorter header was written over a longer one. The next file's data are not this one's.
    late = film[:head] + "the label".encode("utf-16-le") * 9 + film[head:]
    save("asf", "displaced.wmv", late, verdict="unverified", length=len(late), why=f"the header ends at {head}, long before the data")
    save("asf", "headers.wmv", film[:head] + film[:-1], verdict="truncated", length=head, why=f"no data object at {head}")
    save("asf", "noise.wmv", film[:30] + noise(500, 4), verdict="reject", why="no object at 30")
    save("asf", "reserved.wmv", film[:28] + b"\3" + film[29:], verdict="reject", why="no ASF header at 0")
