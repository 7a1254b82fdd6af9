"""Qt's compiled translations, section by section."""
import struct

from makers.common import save
from makers.packing import junk, text


def make():
    section = lambda kind, data: bytes((kind,)) + struct.pack(">I", len(data)) + data
    hashes = b"".join(struct.pack(">II", i * 0x3000000 + 5, i * 40) for i in range(50))
    messages = b"".join(b"\3" + struct.pack(">I", 60) + text(30, i).decode().encode("utf-16-be") + b"\1" for i in range(50)) + b"<html><body>Golden</body></html>"
    whole = b"\x3c\xb8\x64\x18\xca\xef\x9c\x95\xcd\x21\x1c\xbf\x60\xa1\xbd\xdd" + section(0xa7, b"de_DE") + section(0x42, hashes) + section(0x69, messages) + section(0x88, b"\1\2")
    gold = dict(verdict="unverified", length=len(whole), why=f"no section at {len(whole)}, and the number of sections is not stored")
    save("qm", "golden.qm", whole, **gold)
    save("qm", "random.qm", whole + b"\1" + junk(900, 1), **gold)
    save("qm", "zeros.qm", whole + bytes(900), **gold)
    start = whole.index(b"\x69" + struct.pack(">I", len(messages)))
    save("qm", "cut.qm", whole[:2000], verdict="truncated", length=2000, why="the image ends at 2000, before the file does")
    save("qm", "order.qm", whole[:60] + junk(200, 2) + whole[260:], verdict="truncated", length=26, why="hashes out of order at 26")
    save("qm", "no-messages.qm", whole[:start] + junk(900, 3), verdict="reject", why=f"no messages up to {start}")
    save("qm", "signature.qm", b"\x3d" + whole[1:], verdict="reject", why="no signature at 0")
