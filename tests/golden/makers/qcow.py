"""QCOW version 1: clusters of 512 bytes, tables of 64 entries, packed clusters; the data are made up."""
import struct

from makers.common import save
from makers.elf import code

CLUSTER = 512


def head(disk=100 * CLUSTER, name=b"", crypt=0, l1=48):
    return b"QFI\xfb" + struct.pack(">IQIIQBBHIQ", 1, 48 if name else 0, len(name), 0, disk, 9, 6, 0, crypt, l1) + name.ljust(l1 - 48, b"\0")


def made(entries, data, l1=48, **options):
    """A disk of two tables, of which the first is there: behind it its clusters' data."""
    tables = struct.pack(">QQ", l1 + 512, 0).ljust(512, b"\0")
    return head(l1=l1, **options) + tables + b"".join(struct.pack(">Q", e) for e in entries).ljust(512, b"\0") + data


def make():
    def unverified(name, data, junk=b""):
        save("qcow", name, data + junk, verdict="unverified", length=len(data), why=f"the tables agree, but the data up to {len(data)} cannot be verified")
    start = 48 + 1024
    plain = made([start + i * CLUSTER if i != 2 else 0 for i in range(5)], code(5 * CLUSTER))
    unverified("plain.qcow", plain)
    unverified("followed.qcow", plain, code(900))
    unverified("empty.qcow", head() + bytes(512))
    unverified("bare-table.qcow", head() + bytes(16), code(900)[:600].replace(b"\0", b"\1"))
    unverified("backing.qcow", made([start + 16], code(CLUSTER), 64, name=b"base.img"))
    unverified("packed.qcow", made([1 << 63 | 300 << 54 | start, 1 << 63 | 77 << 54 | start + 300], code(377)))
    save("qcow", "cut.qcow", plain[:-100], verdict="truncated", length=len(plain) - 100, why=f"the image ends at {len(plain) - 100}, before the file does")
    wrong = bytearray(plain)
    struct.pack_into(">Q", wrong, 48 + 512 + 8, 100)
    save("qcow", "cluster.qcow", bytes(wrong), verdict="truncated", length_min=48, length_max=48 + 520,
         why=f"an impossible offset of a table or cluster at {48 + 520}")
    wrong = bytearray(plain)
    struct.pack_into(">Q", wrong, 48, 1 << 63)
    save("qcow", "table.qcow", bytes(wrong), verdict="reject", why="an impossible offset of a table at 48")
    for where, value, why in ((7, 4, "no magic and version"), (32, 20, "impossible sizes"), (33, 2, "impossible sizes"), (16, 9, "an impossible name of a backing file"),
                              (40, 9, "an impossible disk")):
        wrong = bytearray(plain)
        wrong[where] = value
        save("qcow", f"head-{where}.qcow", bytes(wrong), verdict="reject", why=why + " at 0")
