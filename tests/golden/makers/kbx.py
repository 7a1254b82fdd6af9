"""GnuPG's keyboxes, blob by blob."""
import hashlib, random, struct

from makers.common import save

HEADER = struct.pack(">IBBH4sIIIII", 32, 1, 1, 2, b"KBXf", 0, 1700000000, 1700000000, 0, 0)


def blob(key, kind=2, old=False, version=1):
    body = struct.pack(">BBHII", kind, version, 0, 40, len(key)) + bytes(24) + key
    body = struct.pack(">I", 4 + len(body) + 20) + body
    return body + (bytes(4) + hashlib.md5(body + bytes(4)).digest() if old else hashlib.sha1(body).digest())


def make():
    rng = random.Random(9)
    first, second = blob(b"\x98\x8d\4" + rng.randbytes(300)), blob(b"0\x82" + rng.randbytes(700), 3)
    guess = lambda at: dict(verdict="unverified", length=at, why=f"no blob at {at}, and the number of blobs is not stored")
    whole = HEADER + first + second
    save("kbx", "two.kbx", whole, embedded=f"{32 + 40} {32 + len(first) + 40}", **guess(len(whole)))
    save("kbx", "followed.kbx", whole + rng.randbytes(300), **guess(len(whole)))
    save("kbx", "header.kbx", HEADER, **guess(32))
    old = HEADER + blob(b"\x99\1" + rng.randbytes(100), old=True)
    save("kbx", "old.kbx", old, **guess(len(old)))
    deleted = HEADER + blob(b"", 0) + first
    save("kbx", "deleted.kbx", deleted, **guess(len(deleted)))
    save("kbx", "cut.kbx", whole[:500], verdict="truncated", length=500, why="the image ends at 500, before the file does")
    start = 32 + len(first)
    wrong = dict(verdict="truncated", length=start, why=f"wrong checksum of the blob at {start}")
    save("kbx", "random.kbx", whole[:500] + rng.randbytes(900), **wrong)
    save("kbx", "zeros.kbx", whole[:-40] + bytes(40), verdict="truncated", length=start)
    save("kbx", "version.kbx", HEADER + blob(b"\x99\1" + rng.randbytes(100), version=3), **guess(32))
    save("kbx", "magic.kbx", HEADER.replace(b"KBXf", b"KBXg") + first, verdict="reject", why="no header blob at 0")
