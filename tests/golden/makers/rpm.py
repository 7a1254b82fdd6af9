"""RPM packages, by hand; payloads by Python's gzip, bz2, lzma and python3-zstandard."""
import bz2, gzip, hashlib, lzma, struct

import zstandard

from makers.common import save
from makers.cpio import archive, new
from makers.packing import junk

TIME = 1709251198


def section(entries):
    """entries: (tag, type, value)."""
    table, store = b"", b""
    for tag, kind, value in entries:
        if kind == 4:
            store += bytes(-len(store) % 4)
            data = struct.pack(">I", value)
        elif kind == 5:
            store += bytes(-len(store) % 8)
            data = struct.pack(">Q", value)
        elif kind == 7:
            data = value
        else:
            data = value + b"\0"
        table += struct.pack(">IIII", tag, kind, len(store), 1)
        store += data
    return struct.pack(">IIII", 0x8EADE801, 0, len(entries), len(store)) + table + store


def package(payload, size=True, wide=False, extra=0, source=0, major=3, summed=False, wrong=0):
    lead = struct.pack(">IBBHH66sHH16s", 0xEDABEEDB, major, 0, source, 1, b"name-1.0-1", 1, 5, b"")
    header = section([(1000, 6, b"name"), (1001, 6, b"1.0"), (1002, 6, b"1.fc"), (1006, 4, TIME)])
    total = len(header) + len(payload) + extra
    signature = section([(269, 6, b"0123456789abcdef")] + ([(270, 5, total) if wide else (1000, 4, total)] if size else [])
                        + ([(1004, 7, hashlib.md5(header + payload).digest()[wrong:] + bytes(wrong))] if summed else []))
    return lead + signature + bytes(-len(signature) % 8) + header + payload, len(lead + signature) + -len(signature) % 8


def make():
    words = archive(new)
    payload = gzip.compress(words, mtime=0)
    whole, header = package(payload)
    at = len(whole) - len(payload)
    save("rpm", "gz.rpm", whole, title="name-1.0-1.fc", time=TIME, why="")
    save("rpm", "source-xz.rpm", package(lzma.compress(words), source=1)[0])
    save("rpm", "zst-wide.rpm", package(zstandard.ZstdCompressor(write_checksum=True).compress(words), wide=True)[0])
    save("rpm", "bz2.rpm", package(bz2.compress(words), size=False)[0])
    save("rpm", "lzma-four.rpm", package(lzma.compress(words, format=lzma.FORMAT_ALONE), major=4)[0])
    save("rpm", "md5.rpm", package(payload, summed=True)[0])
    wrong = package(payload, summed=True, wrong=1)[0]
    save("rpm", "md5-wrong.rpm", wrong, verdict="unverified", length=len(wrong),
         why=f"another MD5 of the header and the payload, up to {len(wrong)}, than the signature has")
    bare = package(words)[0]
    save("rpm", "bare.rpm", bare, verdict="unverified", length=len(bare))
    save("rpm", "cut.rpm", whole[:at + 300], verdict="truncated", length=at + 300, embedded=at)
    save("rpm", "cut-random.rpm", whole[:at + 300] + junk(900, 2), verdict="truncated", length_min=at + 300, length_max=len(whole))
    save("rpm", "cut-zeros.rpm", whole[:at + 300] + bytes(900), verdict="truncated", length_min=at + 280, length_max=at + 320)
    save("rpm", "cut-in-header.rpm", whole[:at - 10] + junk(900, 3), verdict="truncated", length_max=at, title="", time=0)
    save("rpm", "no-header.rpm", whole[:header] + junk(900, 4), verdict="truncated", length=header, why=f"no header at {header}")
    other = package(payload, extra=50)[0]
    save("rpm", "size-differs.rpm", other + junk(200, 5), verdict="unverified", length=len(other))
    less = package(payload, extra=-len(payload) - 20)[0]
    save("rpm", "size-small.rpm", less, verdict="unverified", length=at)
    save("rpm", "version-9.rpm", whole[:4] + b"\x09" + whole[5:], verdict="reject", why="no lead at 0")
    save("rpm", "no-signature.rpm", whole[:96] + b"\0" + whole[97:], verdict="reject", why="no signature at 96")
    wrong = bytearray(whole)
    wrong[96 + 16 + 8] = 0x7f
    save("rpm", "offset-outside.rpm", bytes(wrong), verdict="reject", why="no signature at 96")
