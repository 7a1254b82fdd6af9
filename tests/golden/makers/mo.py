"""gettext's compiled messages in both orders of bytes."""
import struct

from makers.common import save
from makers.packing import junk, text


def mo(order="<", hashes=0):
    words = text(4000).decode().split()
    pairs = sorted({(f"{word} {i} more".encode(), f"{word} {i} mehr, größer".encode()) for i, word in enumerate(words[:60])})
    pairs[0:0] = [(b"", b"Content-Type: text/plain; charset=UTF-8\n")]
    pairs[5] = (pairs[5][0] + b"\0" + pairs[5][0] + b"s", b"eins\0zwei")
    count = len(pairs)
    at = 28 + 16 * count + 4 * hashes
    tables, texts = b"", b""
    for side in (0, 1):
        for pair in pairs:
            tables += struct.pack(order + "II", len(pair[side]), at + len(texts))
            texts += pair[side] + b"\0"
    table = b"".join(struct.pack(order + "I", i % (count + 1)) for i in range(hashes))
    return struct.pack(order + "7I", 0x950412de, 0, count, 28, 28 + 8 * count, hashes, 28 + 16 * count) + tables + table + texts


def with_segments():
    """Revision 0.1: a text with a part that depends on the system."""
    plain = mo()
    count = struct.unpack_from("<I", plain, 8)[0]
    shift, ends = 20, (b" bytes\0", b" Bytes, so viel\0")
    tables = bytearray(plain[28:28 + 16 * count])
    for i in range(2 * count):
        length, place = struct.unpack_from("<II", tables, 8 * i)
        struct.pack_into("<II", tables, 8 * i, length, place + shift)
    body = plain[28 + 16 * count:]
    at = 48 + 16 * count + len(body)
    segments, lists = at, at + 8
    described = lists + 8
    statics = described + 2 * 20 + 4
    more = struct.pack("<II", 4, statics - 4) + struct.pack("<II", described, described + 20)
    place = statics
    texts = b""
    for last in ends:
        more += struct.pack("<IIIII", place + len(texts), 1, 0, len(last), 0xffffffff)
        texts += b"%" + last
    more += b"PRI\0" + texts
    head = struct.pack("<12I", 0x950412de, 1, count, 48, 48 + 8 * count, 0, 48 + 16 * count, 1, segments, 1, lists, lists + 4)
    return head + bytes(tables) + body + more


def make():
    save("mo", "segments.mo", with_segments())
    whole = mo(hashes=89)
    save("mo", "golden.mo", whole, why="")
    save("mo", "big-endian.mo", mo(">"))
    save("mo", "no-hashes.mo", mo())
    texts = struct.unpack_from("<I", whole, 32)[0]
    save("mo", "cut.mo", whole[:texts + 2000], verdict="truncated", length=texts + 2000, why=f"the image ends at {texts + 2000}, before the file does")
    for name, filler in (("random", junk(9000, 2)), ("zeros", bytes(9000)), ("words", text(9000, 3))):
        save("mo", f"{name}.mo", whole[:texts + 2000] + filler, verdict="truncated", length_min=texts + 1900, length_max=texts + 2000)
    save("mo", "place.mo", whole[:32] + bytes(4) + whole[36:], verdict="reject", why="no text as the entry at 28 says")
    count = struct.unpack_from("<I", whole, 8)[0]
    overlaid = whole[:28] + struct.pack("<II", 1500, texts) * (2 * count) + whole[28 + 16 * count:]
    save("mo", "overlaid.mo", overlaid, verdict="reject")
    save("mo", "hash.mo", whole[:28 + 16 * 61] + b"\xff\0\0\0" + whole[32 + 16 * 61:], verdict="reject")
    save("mo", "revision.mo", whole[:6] + b"\2" + whole[7:], verdict="reject", why="no header at 0")
