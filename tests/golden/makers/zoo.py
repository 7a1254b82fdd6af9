"""zoo archives, entry by entry; packed data are noise."""
import struct

from makers.common import save
from makers.packing import junk, text

TAG = 0xfdc4a7dc
DATE = ((2024 - 1980) << 9 | 2 << 5 | 29, 23 << 11 | 59 << 5 | 29)


def crc(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xa001 if value & 1 else 0)
    return value


def entry(kind, following, at, data=b"", size=0, method=0, name=b"", comment=(0, 0), wrong=0, long=None):
    when = DATE if name else (0, 0)
    out = struct.pack("<IBBIIHHHIIBBBBIH13s", TAG, kind, method, following, at, *when, crc(data) ^ wrong if name else 0, len(data), size,
                      2 if name else 0, 0, 0, 0, *comment, name)
    if kind < 2:
        return out
    names = bytes((len(long), 0)) + long if long is not None else bytes(2)
    out += struct.pack("<HBH", len(names), 127, 0) + names
    return out[:54] + struct.pack("<H", crc(out)) + out[56:]


def archive(members, kind=2, comment=b"", head=42, member_comment=b""):
    """members: name, content, method, what is kept of it or None, what is wrong with its CRC."""
    out = b"ZOO 2.10 Archive.\x1a".ljust(20, b"\0") + struct.pack("<IIIBB", TAG, head, 2 ** 32 - head, 2, 0)
    out = (out + b"\1" if head > 34 else out).ljust(head, b"\0")
    for name, data, method, kept, wrong in members:
        kept = data if kept is None else kept
        room = len(entry(kind, 1, 1, long=name if kind == 2 else None))
        at = len(out) + room + 5
        place = (at + len(kept), len(member_comment)) if member_comment else (0, 0)
        out += entry(kind, at + len(kept) + len(member_comment), at, data, len(kept), method, name[:12], place, wrong, name if kind == 2 else None)
        out += b"@)#(\0" + kept + member_comment
    out += entry(kind, 0, 0)
    if comment:
        out = out[:35] + struct.pack("<IH", len(out), len(comment)) + out[41:] + comment
    return out


def make():
    first, second = text(700), text(900, 2)
    plain = [(b"a.txt", first, 0, None, 0), (b"a longer name.txt", second, 0, None, 0)]
    packed = plain[:1] + [(b"b.txt", second, 2, junk(400, 3), 0), (b"c.txt", second[:300], 1, junk(150, 4), 0)]
    whole = archive(plain)
    data = 42 + 56 + 2 + 5 + 5
    later = data + 700 + 56 + 2 + 17 + 5
    save("zoo", "stored.zoo", whole, extension="", time=1709251198, why="", unverified=f"34-42 {data - 5}-{data} {later - 5}-{later}",
         embedded=f"{data} {later}")
    whole_packed = archive(packed)
    save("zoo", "packed.zoo", whole_packed)
    save("zoo", "old.zoo", archive(plain, kind=1, head=34))
    save("zoo", "comments.zoo", archive(packed, member_comment=b"a comment"))
    noted = archive(packed, comment=b"the archive's comment")
    save("zoo", "noted.zoo", noted, verdict="unverified", length=len(noted), why=f"nothing verifies the comments at {len(noted) - 21}")
    save("zoo", "cut.zoo", whole[:data + 300], verdict="truncated", length=data + 300)
    for name, other in (("random", junk(3000, 7)), ("zeros", bytes(3000)), ("text", text(3000, 3))):
        save("zoo", f"cut-{name}.zoo", whole[:data + 300] + other, verdict="truncated", length=data - 5, why=f"no entry at {data + 700}")
    save("zoo", "no-end.zoo", whole[:-58] + junk(3000, 8), verdict="truncated", length=len(whole) - 58, why=f"no entry at {len(whole) - 58}")
    wrong = archive([plain[0][:4] + (1,), plain[1]])
    save("zoo", "crc.zoo", wrong, verdict="unverified", length=len(wrong), why=f"data at {data} have another CRC")
    save("zoo", "entry.zoo", whole[:90] + b"\1" + whole[91:], verdict="reject", why="no entry of a member at 42")
    save("zoo", "header.zoo", whole[:28] + b"\1" + whole[29:], verdict="reject", why="no header at 0")
    save("zoo", "empty.zoo", archive([]), verdict="reject", why="no entry of a member at 42")
