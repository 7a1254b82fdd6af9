"""Parquet: made-up columns and descriptions."""
import random, struct

from makers.common import save


def parquet(version=2, inside=b""):
    pages = b"\x15\0\x15" + random.Random(1).randbytes(700) + inside + random.Random(2).randbytes(300)
    description = b"\x15" + bytes([version]) + b"\x19\x2c\x48\x06schema\x15\x02" + random.Random(3).randbytes(80) + b"\0"
    return b"PAR1" + pages + description + struct.pack("<I", len(description)) + b"PAR1"


def make():
    whole = parquet()
    save("parquet", "table.parquet", whole, unchecked=4, unverified=f"4-{len(whole) - 8 - 95}")
    save("parquet", "version-2.parquet", parquet(4), unchecked=4)
    save("parquet", "inside.parquet", parquet(inside=b"PAR1 and \x40\0\0\0PAR1"), unchecked=4)
    gz = b"\x1f\x8b\x08\0" + bytes(6) + b"not unpacked"
    coded = parquet(inside=gz)
    save("parquet", "coded.parquet", coded, unchecked=4, embedded=coded.index(gz))
    for name, junk in (("cut", b""), ("zeros", bytes(900)), ("random", random.Random(4).randbytes(900))):
        cut = whole[:600] + junk
        save("parquet", f"{name}.parquet", cut, verdict="truncated", length=4, why=f"no description before {len(cut) - 3}")
    save("parquet", "column.parquet", b"PAR1\x25" + whole[5:], verdict="reject", why="no column at 4")
