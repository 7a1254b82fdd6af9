"""dBase tables, field by field."""
import random, struct

from makers.common import save

FIELDS = [(b"NAME", b"C", 30, 0), (b"BORN", b"D", 8, 0), (b"HEIGHT", b"N", 7, 2), (b"ALIVE", b"L", 1, 0)]


def dbf(version, count, end=b"\x1a", extra=b"", fields=FIELDS, address=bytes(4)):
    table = b"".join(name.ljust(11, b"\0") + kind + address + bytes([size, places]) + bytes(14) for name, kind, size, places in fields)
    record_len = 1 + sum(field[2] for field in fields)
    head = struct.pack("<4BIHH", version, 124, 11, 23, count, 33 + len(table) + len(extra), record_len).ljust(32, b"\0")
    rows = b"".join((b" *"[i % 9 == 0:][:1] + b"Person %d" % i).ljust(31) + b"19800229" + b"%7.2f" % (150 + i) + b"T" for i in range(count))
    return head + table + b"\x0d" + extra + rows + end


def make():
    whole = dbf(3, 60)
    save("dbf", "people.dbf", whole, verdict="unverified", length=len(whole), why="nothing verifies the data from 161 on", unverified=f"161-{len(whole)}")
    fox = dbf(0x30, 20, b"", bytes(263))
    save("dbf", "fox.dbf", fox + bytes(40), verdict="unverified", length=len(fox))
    place = dbf(3, 20, address=b"\x07\x00\x5a\x38")
    save("dbf", "address.dbf", place, verdict="unverified", length=len(place))
    save("dbf", "none.dbf", dbf(0x83, 0), verdict="unverified", length=162)
    save("dbf", "cut.dbf", whole[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does")
    save("dbf", "random.dbf", whole[:1000] + random.Random(1).randbytes(4000), verdict="truncated", length_min=161, length_max=1100)
    save("dbf", "zeros.dbf", whole[:1000] + bytes(4000), verdict="truncated", length_max=1050)
    save("dbf", "month.dbf", whole[:2] + b"\x0d" + whole[3:], verdict="reject", why="no header at 0")
    save("dbf", "field.dbf", whole[:43] + b"?" + whole[44:], verdict="reject", why="no fields at 32")
    save("dbf", "record.dbf", whole[:10] + b"\x20" + whole[11:], verdict="reject", why="no fields at 32")
