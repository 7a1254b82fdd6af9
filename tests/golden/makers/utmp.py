"""Logins, record by record."""
import random, struct

from makers.common import save


def record(kind, line, user, host, time):
    return struct.pack("<HHI32s4s32s256sHHIII16s20s", kind, 0, 0 if kind == 2 else 4000, line, b"ts/0", user, host, 0, 0, 0, time, 500, b"\x7f\0\0\1", b"")


def make():
    whole = record(2, b"~", b"reboot", b"6.1.0-golden", 1700000000) + b"".join(record(7 + i % 2, b"pts/0", b"ann", b"192.0.2.7", 1700000100 + i) for i in range(9))
    why = f"no record at {len(whole)}, and the number of records is not stored"
    save("utmp", "wtmp", whole, verdict="unverified", length=len(whole), why=why, time=1700000000)
    save("utmp", "zeros", whole + bytes(900), verdict="unverified", length=len(whole), why=why, time=1700000000)
    save("utmp", "random", whole + random.Random(1).randbytes(900), verdict="unverified", length=len(whole), why=why, time=1700000000)
    save("utmp", "cut", whole[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does")
    save("utmp", "one", whole[:384] + bytes(500), verdict="reject", why="no record at 384")
    save("utmp", "text", whole[:50] + b"\1" + whole[51:], verdict="reject", why="no record at 0")
