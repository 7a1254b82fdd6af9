"""Cabinets, by hand; MSZIP by Python's zlib."""
import struct, zlib

from makers.common import save
from makers.packing import junk, text

DATE, TIME = 44 << 9 | 2 << 5 | 29, 23 << 11 | 59 << 5 | 29  # 2024-02-29 23:59:58


def checksum(data, seed=0):
    for at in range(0, len(data) - 3, 4):
        seed ^= struct.unpack_from("<I", data, at)[0]
    return seed ^ int.from_bytes(data[len(data) & ~3:], "big")


def block(data, unpacked, reserve=b"", summed=True):
    tail = struct.pack("<HH", len(data), unpacked) + reserve
    return struct.pack("<I", checksum(tail, checksum(data)) if summed else 0) + tail + data


def cabinet(folders, names, flags=0, reserve=b"", folder_reserve=b"", data_reserve=b"", texts=b"", length=0, summed=True):
    """folders: lists of (packed, unpacked length), one a block."""
    fixed = 36 + (4 + len(reserve) if flags & 4 else 0) + len(texts) + len(folders) * (8 + len(folder_reserve))
    files = b"".join(struct.pack("<IIHHHH", 10, 10 * i, 0, DATE, TIME, 0x20) + name + b"\0" for i, name in enumerate(names))
    table, data = b"", b""
    for blocks in folders:
        table += struct.pack("<IHH", fixed + len(files) + len(data), len(blocks), 1) + folder_reserve
        data += b"".join(block(packed, unpacked, data_reserve, summed) for packed, unpacked in blocks)
    head = struct.pack("<4sIIIIIBBHHHHH", b"MSCF", 0, fixed + len(files) + len(data) + length, 0, fixed, 0, 3, 1, len(folders), len(names), flags, 77, 0)
    if flags & 4:
        head += struct.pack("<HBB", len(reserve), len(folder_reserve), len(data_reserve)) + reserve
    return head + texts + table + files + data


def mszip(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"CK" + packer.compress(data) + packer.flush(), len(data)


def make():
    words = text(1200)
    stored = [(words[:600], 600), (words[600:1101], 501)]
    whole = cabinet([stored], [b"a.txt", b"b.txt"])
    second = len(whole) - 501 - 8
    save("cab", "stored.cab", whole, extension="cab", time=1709251198, why="")
    save("cab", "mszip.cab", cabinet([[mszip(words)], [mszip(words[:300])]], [b"a.txt", b"folder\\b.txt"]))
    save("cab", "unsummed.cab", cabinet([stored], [b"a.txt"], summed=False), verdict="unverified", length=len(whole) - 22, why="has data blocks without a checksum")
    save("cab", "reserves.cab", cabinet([stored], [b"a.txt"], flags=4, reserve=b"reserved", folder_reserve=b"four", data_reserve=b"xy"))
    save("cab", "part.cab", cabinet([stored], [b"a.txt"], flags=3, texts=b"one.cab\0disk 1\0three.cab\0disk 3\0"))
    save("cab", "notes.onepkg", cabinet([stored], [b"a.one", b"Open Notebook.onetoc2"]), extension="onepkg")
    plain = cabinet([stored], [b"a.txt"], flags=4, reserve=bytes(20))
    signature = b"\x30\x82\x01\x00\x06\x05" + junk(5) + b"\xa0\x81\xf6\x04\x81\xf3" + junk(243)
    signed = cabinet([stored], [b"a.txt"], flags=4, reserve=struct.pack("<IIIII", 0x100000, len(plain), len(signature), 0, 0)) + signature
    save("cab", "signed.cab", signed, sequence="yes")
    save("cab", "signature-other.cab", signed[:-250] + junk(250, 3), verdict="unverified", length=len(signed),
         why=f"the signature at {len(plain)} is not valid up to its end")
    save("cab", "signature-cut.cab", signed[:-200], verdict="truncated", length=len(signed) - 200)
    save("cab", "cut.cab", whole[:700], verdict="truncated", length=700)
    save("cab", "cut-random.cab", whole[:second + 90] + junk(1500, 2), verdict="truncated", length=second,
         why=f"no data block with its checksum at {second}")
    save("cab", "cut-zeros.cab", whole[:second + 90] + bytes(1500), verdict="truncated", length=second)
    save("cab", "cut-other.cab", whole[:second + 90] + whole, verdict="truncated", length=second)
    wrong = bytearray(whole)
    wrong[second - 10] ^= 1
    first = second - 608
    save("cab", "first-block-damaged.cab", bytes(wrong), verdict="truncated", length=first)
    save("cab", "length-small.cab", cabinet([stored], [b"a.txt"], length=-40), verdict="unverified", length=len(cabinet([stored], [b"a.txt"])))
    save("cab", "length-large.cab", cabinet([stored], [b"a.txt"], length=9000) + junk(9500), verdict="unverified", length=len(cabinet([stored], [b"a.txt"])))
    save("cab", "no-folders.cab", cabinet([], [b"a.txt"]), verdict="reject", why="impossible fields at 0")
    save("cab", "reserved.cab", whole[:4] + b"\1" + whole[5:], verdict="reject", why="no header at 0")
    save("cab", "version-2.cab", whole[:25] + b"\2" + whole[26:], verdict="reject")
    save("cab", "other-folder.cab", whole[:44 + 8] + b"\7\0" + whole[44 + 10:] + junk(300), verdict="reject", why="a file in no folder at 44")
    save("cab", "random-behind.cab", whole[:36] + junk(3000, 3), verdict="reject")
