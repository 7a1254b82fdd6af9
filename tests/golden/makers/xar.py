"""xar archives, by hand; the table by Python's zlib."""
import bz2, gzip, hashlib, lzma, struct, zlib

from makers.common import save
from makers.packing import junk, text

TABLE = """<?xml version="1.0" encoding="UTF-8"?>
<xar><toc><creation-time>2024-02-29T23:59:58</creation-time><checksum style="sha1"><offset>0</offset><size>20</size></checksum>
<file id="1"><data><length>%d</length><encoding style="application/octet-stream"/><offset>20</offset><size>400</size></data><name>a.txt</name></file>
<file id="2"><data><offset>%d</offset><size>300</size><length>%d</length></data><type>file</type><name>b2.txt</name></file></toc></xar>
"""
LAST = text(900, 2)


def archive(first=text(400), header=28, version=1, table=None, extra=0, shift=0, last=zlib.compress(LAST)):
    table = (table or TABLE % (len(first), 20 + len(first) + shift, len(last))).encode()
    packed = zlib.compress(table)
    head = struct.pack(">4sHHQQI", b"xar!", header, version, len(packed), len(table) + extra, 1) + bytes(header - 28)
    return head + packed + hashlib.sha1(packed).digest() + first + last


def make():
    whole = archive()
    last = len(zlib.compress(LAST))
    heap = len(whole) - 420 - last
    save("xar", "two.xar", whole, extension="", why="", unchecked=heap, unverified=f"{heap}-{heap + 420}")
    save("xar", "long-header.xar", archive(header=64), unchecked=heap)
    save("xar", "gap.xar", archive(zlib.compress(text(400))), unchecked=heap)
    for name, packed in ("gz", gzip.compress(LAST, mtime=0)), ("bz2", bz2.compress(LAST)), ("xz", lzma.compress(LAST)):
        save("xar", name + ".xar", archive(last=packed), unchecked=heap)
    bare = archive(last=LAST)
    save("xar", "bare.xar", bare, verdict="unverified", length=len(bare), why=f"nothing verifies the last piece, up to {len(bare)}")
    signed = archive(table="<xar><toc><checksum><size>20</size><offset>0</offset></checksum>"
                     "<signature style='RSA'><offset>20</offset><size>700</size></signature></toc></xar>")
    save("xar", "signed.xar", signed, verdict="unverified", length_max=len(signed), length_min=len(signed) - 300)
    save("xar", "cut.xar", whole[:heap + 100], verdict="truncated", length=heap + 100)
    save("xar", "cut-in-table.xar", whole[:150], verdict="truncated", length=150)
    save("xar", "table-broken.xar", whole[:150] + junk(2000, 2), verdict="truncated", length_min=150, length_max=heap)
    save("xar", "table-longer.xar", archive(extra=3), verdict="truncated", length=heap)
    save("xar", "no-table.xar", whole[:28] + junk(2000, 3), verdict="reject", why="no table of contents at 28")
    save("xar", "not-xml.xar", archive(table=text(600).decode()), verdict="truncated")
    save("xar", "version-2.xar", archive(version=2), verdict="reject", why="no header at 0")
    save("xar", "short-header.xar", whole[:4] + b"\0\x10" + whole[6:], verdict="reject")
    save("xar", "sizes.xar", whole[:8] + b"\x7f" + whole[9:], verdict="reject")
    # As libarchive leaves it: the table's first bytes come again after the heap.
    repeated = whole + whole[28:48]
    save("xar", "repeated.xar", repeated, sequence="yes", unchecked=heap)
