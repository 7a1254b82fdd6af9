"""Windows images, by hand; resources are text."""
import hashlib, struct

from makers.common import save
from makers.packing import junk, text

XML = "\ufeff<WIM><TOTALBYTES>700</TOTALBYTES></WIM>".encode("utf-16-le")


def place(at, length, flags=0):
    return struct.pack("<QQQ", length | flags << 56, at, length)


def image(integrity=False, beyond=0, xml=XML, packed=False):
    data = text(700)
    table = place(208, 400) + struct.pack("<HI", 1, 1) + hashlib.sha1(data[:400]).digest()
    table += place(608 + beyond, 300, 4) + struct.pack("<HI", 1, 1) + hashlib.sha1(data[400:]).digest()
    table = junk(77) if packed else table
    at = 208 + len(data)
    tail = table + xml
    check = struct.pack("<III", 12 + 20, 1, 10485760) + hashlib.sha1(data).digest() if integrity else b""
    head = b"MSWIM\0\0\0" + struct.pack("<IIII", 208, 0x10D00, 0, 0) + bytes(16) + struct.pack("<HHI", 1, 1, 1)
    head += place(at, len(table), 6 if packed else 2) + place(at + len(table), len(xml), 2) + bytes(24) + struct.pack("<I", 0)
    head += place(at + len(tail), len(check), 2 if integrity else 0) + bytes(60)
    assert len(head) == 208
    return head + data + tail + check


def make():
    whole = image()
    save("wim", "plain.wim", whole, why="")
    save("wim", "integrity.wim", image(True))
    save("wim", "packed-table.wim", image(packed=True))
    save("wim", "cut.wim", whole[:600], verdict="truncated", length=600)
    save("wim", "cut-random.wim", whole[:600] + junk(2000, 2), verdict="truncated", length=208, why=f"the tables that end at {len(whole)} are invalid")
    save("wim", "cut-zeros.wim", whole[:600] + bytes(2000), verdict="truncated", length=208)
    save("wim", "resource-outside.wim", image(beyond=5000), verdict="truncated", length=208)
    save("wim", "no-xml.wim", image(xml=junk(90)), verdict="truncated", length=208)
    save("wim", "xml-zeros.wim", image(xml=XML[:-20] + bytes(20)), verdict="truncated", length=208, why=f"the tables that end at {len(whole)} are invalid")
    save("wim", "xml-line.wim", image(xml=XML + b"\r\0\n\0\0\0"))
    wrong = bytearray(image(True))
    wrong[-32] ^= 1
    save("wim", "integrity-wrong.wim", bytes(wrong), verdict="truncated", length=208)
    save("wim", "header-length.wim", whole[:8] + b"\xd1" + whole[9:], verdict="reject", why="no header at 0")
    save("wim", "no-tables.wim", whole[:48] + bytes(160) + whole[208:], verdict="reject", why="no tables at 48")
    save("wim", "table-in-header.wim", whole[:56] + struct.pack("<Q", 9) + whole[64:], verdict="reject")
