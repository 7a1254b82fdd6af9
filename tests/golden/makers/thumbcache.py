"""Thumbnail caches of Windows, entry by entry. Their pictures are noise behind a magic."""
import random, struct

from makers.common import save


def entry(version, number, data, size=0):
    text = ("%x" % (0x482d656ee647f25e + number)).encode("utf-16-le") if data else b""
    head = struct.pack("<Q", number * 0x1234567)
    head += "jpg\0".encode("utf-16-le") if version == 20 else b""
    head += struct.pack("<III", len(text), 2 if data else 0, len(data)) + bytes(4) + (bytes(8) if version >= 26 else b"") + bytes(16)
    body = head + text + (b"\0\0" if data else b"") + data
    body = body.ljust(size - 8, b"\0")
    return b"CMMM" + struct.pack("<I", len(body) + 8) + body


def cache(version, count=4, rest=1000, extra=b""):
    rng = random.Random(version)
    entries = b"".join(entry(version, n + 1, (b"\xff\xd8\xff\xe0", b"BM\0\0", b"\x89PNG")[n % 3] + rng.randbytes(200)) for n in range(count))
    first = 24 + len(extra)
    head = b"CMMM" + struct.pack("<II", version, 2) + extra + struct.pack("<III", first, first + len(entries), count)
    return head + entries + (entry(version, 0, b"", rest) if rest else b""), first, len(entries) // count


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    for version in (20, 21, 30, 32):
        data, _, _ = cache(version)
        save("thumbcache", f"version{version}.db", data)
    save("thumbcache", "eight.db", cache(28, extra=bytes(4))[0])
    full, first, size = cache(32, rest=0)
    save("thumbcache", "full.db", full, verdict="unverified", length=len(full), why="no available entry at the end; 4 entries are valid")
    data, first, size = cache(32)
    at = first + 2 * size
    save("thumbcache", "cut.db", data[:at + 100], verdict="truncated", length=at + 100, why=f"the image ends at {at + 100}, before the file does")
    for name, fill in (("random", random.Random(1).randbytes(3000)), ("wiped", bytes(3000)), ("erased", b"\xff" * 3000)):
        save("thumbcache", name + ".db", data[:at + 100] + fill, verdict="truncated", length=at + size)
    save("thumbcache", "entry.db", patched(data, at, b"c"), verdict="truncated", length=at,
         why=f"no entry at {at}, before the first available one at {first + 4 * size}")
    save("thumbcache", "lengths.db", patched(data, at + 25, b"\xff"), verdict="truncated", length=at)
    save("thumbcache", "identifier.db", patched(data, at + 56, b"\1"), verdict="truncated", length=at)
    save("thumbcache", "picture.db", patched(data, at + 56 + 34, b"\1"), verdict="truncated", length=at)
    save("thumbcache", "available.db", patched(data, len(data) - 5, b"\1"), verdict="unverified", length=len(data),
         why=f"the available entry at {first + 4 * size} is not zeros")
    later = data[:12] + bytes(4) + data[12:20] + data[24:]
    starts = [n for n in range(len(later)) if later[n:n + 4] in (b"\xff\xd8\xff\xe0", b"BM\0\0", b"\x89PNG")]
    save("thumbcache", "later.db", later, embedded=" ".join(map(str, starts)))
    save("thumbcache", "later-left.db", patched(later, len(later) - 5, b"\1"), verdict="unverified", length=len(later),
         why=f"the available entry at {first + 4 * size} is not zeros")
    save("thumbcache", "version.db", patched(data, 4, b"\x63"), verdict="reject", why="an impossible version or type")
    save("thumbcache", "nothing.db", patched(data, first, b"x"), verdict="reject", why="no entry after the header")
