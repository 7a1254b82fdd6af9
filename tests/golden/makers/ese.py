"""ESE databases: headers and pages with their checksums around noise, of each kind of page."""
import random, struct

from makers.common import save

SEED = 0x89abcdef


def words(data, start):
    for word, in struct.iter_unpack("<I", data):
        start ^= word
    return start


def header(size):
    body = struct.pack("<III", SEED, 0x620, 0).ljust(232, b"\0") + struct.pack("<I", size)
    body = body.ljust(size - 4, b"\0")
    return struct.pack("<I", words(body, SEED)) + body


def page(size, number, old=False):
    rng = random.Random(number)
    body = bytes(rng.randrange(200) for _ in range(100)) + bytes(size - 208) + bytes(rng.randrange(200) for _ in range(100))
    if old:
        body = struct.pack("<I", number) + body + bytes(size - 8 - len(body))
        return struct.pack("<I", words(body, SEED)) + body
    if size > 8192:
        body = body[:56] + struct.pack("<Q", number) + body[64:]
    body += bytes(size - 8 - len(body))
    covered = body[:size // 4 - 8] if size > 8192 else body
    return struct.pack("<II", words(covered, number), 0x5a5a5a5a) + body


def extents(size, number, rows, flags=0x23):
    """A page of the tree of extents: (last page, pages); in a page that is no leaf, (last page, page of the tree)."""
    records = [bytes(16)] + [struct.pack("<H", 4) + struct.pack(">I", last) + struct.pack("<I", count) for last, count in rows]
    tags, data = b"", b""
    for record in records:
        tags = struct.pack("<HH", len(record), len(data)) + tags
        data += record
    body = bytes(26) + struct.pack("<HI", len(records), flags) + data
    body = body.ljust(size - 8 - len(tags), b"\0") + tags
    return struct.pack("<II", words(body, number), 0x5a5a5a5a) + body


def database(size, pages, old=False):
    """None: zeros; bytes: that page."""
    return header(size) * 2 + b"".join(
        bytes(size) if n is None else n if isinstance(n, bytes) else page(size, n, old) for n in pages)


def counted(owned, free, pages, size=2048):
    return database(size, [1, extents(size, 2, owned), extents(size, 3, free)] + pages)


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    def why(count):
        return f"the number of pages is unknown; {count} are valid"

    new = database(2048, [1, 2, 3])
    save("ese", "new.edb", new, verdict="unverified", length=len(new), why=why(3))
    old = database(2048, [1, 2, 3], True)
    save("ese", "old.edb", old, verdict="unverified", length=len(old), why=why(3))
    unused = database(2048, [1, None, 3, None])
    save("ese", "unused.edb", unused, verdict="unverified", length=len(unused) - 2048, why=why(3))
    large = database(16384, [1])
    save("ese", "large.edb", large, verdict="unverified", length=len(large), why=why(1))
    at = 4 * 2048
    save("ese", "cut.edb", new[:at + 100], verdict="unverified", length=at, why=why(2))
    save("ese", "random.edb", new[:at + 100] + random.Random(1).randbytes(3000), verdict="unverified", length=at, why=why(2))
    save("ese", "checksum.edb", patched(old, at + 60, b"\xff"), verdict="truncated", length=at, why=f"the checksum of page 3 at {at} is wrong")
    save("ese", "number.edb", database(2048, [1, 2, 4, 5]), verdict="unverified", length=at)
    save("ese", "header.edb", patched(new, 300, b"\1"), verdict="reject", why="no header, or its checksum is wrong")
    save("ese", "copy.edb", patched(new, 2048 + 300, b"\1"), verdict="reject", why="no copy of the header after it")
    save("ese", "no-page.edb", database(2048, [7]), verdict="reject", why="no valid page after the headers")
    whole = counted([(3, 3), (8, 5)], [(8, 3)], [4, 5, None, None, None])
    save("ese", "counted.edb", whole)
    save("ese", "counted-last.edb", counted([(5, 5)], [(3, 1)], [4, 5]))
    more = counted([(4, 4)], [(4, 1)], [4, 5])
    save("ese", "counted-more.edb", more)
    save("ese", "counted-deep.edb", database(2048, [1, extents(2048, 2, [(6, 5)], 0x25), extents(2048, 3, [(2, 1)]), 4,
                                                    extents(2048, 5, [(2, 2), (6, 4)], 0x22), 6]))
    left = counted([(8, 8)], [(8, 3)], [4, 5, 9, None, None])
    save("ese", "counted-left.edb", left, verdict="unverified", length=len(left), why=f"nothing verifies the free pages from {7 * 2048} on")
    early = counted([(8, 8)], [(8, 3)], [4, None, None, None, None])
    save("ese", "counted-zeros.edb", early, verdict="unverified", length=len(early), why=f"zeros from {6 * 2048} on, in pages that are not free")
    # 40 pages, of which the last 10 are free and those from 26 on were never written.
    unwritten = counted([(40, 40)], [(40, 10)], list(range(4, 26)) + [random.Random(n).randbytes(2048) for n in range(15)])
    save("ese", "counted-unwritten.edb", unwritten, verdict="unverified", length=len(unwritten),
         why=f"from {27 * 2048} on pages that were never written, or overwritten")
    foreign = whole[:6 * 2048] + random.Random(3).randbytes(4 * 2048)
    save("ese", "counted-random.edb", foreign, verdict="truncated", length=6 * 2048, why=f"the checksum of page 5 at {6 * 2048} is wrong")
    save("ese", "counted-cut.edb", whole[:6 * 2048 + 100], verdict="truncated", length=6 * 2048 + 100)
