"""Entries of Chromium's simple cache, stream by stream."""
import struct, zlib

from makers.common import PNG, save
from makers.packing import junk, text

KEY = b"1/0/_dk_https://example.org https://example.org https://example.org/golden.png"


def end(data, flags=1):
    return struct.pack("<QIIII", 0xf4fa6f45970d41d8, flags, zlib.crc32(data) if flags & 1 else 0, len(data), 0)


def entry(content, http, digest=True, flags=1):
    out = struct.pack("<QIIII", 0xfcfb6d1ba7725c30, 5, len(KEY), 0x1234567, 0) + KEY + content + end(content, flags)
    return out + http + (junk(32, 5) if digest else b"") + end(http, flags | 2 * digest) if http is not None else out


def make():
    content, http = PNG + junk(3000, 1), struct.pack("<II", 900, 0x13c03) + text(800)
    whole = entry(content, http)
    start, at = 24 + len(KEY), 24 + len(KEY) + len(content)
    hashed = at + 24 + len(http)
    save("simplecache", "picture.cache", whole, title=KEY.decode(), unchecked=8, unverified=f"{start}-{at} {hashed}-{hashed + 32}", why="")
    save("simplecache", "old.cache", entry(b"", http, False), unchecked=8)
    bare = entry(content, http, flags=0)
    save("simplecache", "no-sums.cache", bare, verdict="unverified", length=len(bare), why="a stream without a checksum")
    alone = entry(content, None)
    save("simplecache", "alone.cache", alone + junk(900, 2), verdict="unverified", length=len(alone), why=f"no second stream ends after {len(alone)}, which another kind of entry lacks")
    inside = entry(content + end(b"other") + content, http)
    save("simplecache", "end-inside.cache", inside, unchecked=8)
    save("simplecache", "cut.cache", whole[:2000], verdict="truncated", length=start, why=f"no end of the content that begins at {start}")
    save("simplecache", "other.cache", whole[:2000] + whole, verdict="truncated", length=start, why=f"no end of the content that begins at {start}")
    damaged = whole[:2000] + junk(100, 3) + whole[2100:]
    save("simplecache", "damaged.cache", damaged, verdict="truncated", length=start)
    save("simplecache", "key.cache", whole[:30] + b"\1" + whole[31:], verdict="reject", why="no key at 30")
    save("simplecache", "length.cache", whole[:12] + bytes(4) + whole[16:], verdict="reject", why="no header at 0")
