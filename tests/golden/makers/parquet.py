"""Parquet: made-up columns and descriptions."""
import random, struct

from makers.common import save


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(step, value):
    """A field of 64 bits, `step` after the last one."""
    return bytes([step << 4 | 6]) + varint(2 * value)


def struct_of(*fields):
    return b"".join(fields) + b"\0"


def column(at, length, dictionary=0, index=(0, 0)):
    meta = struct_of(b"\x15\x02", b"\x19\x25\x00\x06", b"\x19\x18\x04name", b"\x15\x02", number(1, 5), number(1, length + 9), number(1, length),
                     number(2, at + dictionary), number(2, at) if dictionary else b"")
    return struct_of(number(2, at), b"\x1c" + meta, number(1, index[0]) + b"\x15" + varint(2 * index[1]) if index[1] else b"")


def page(data, kind=0):
    """Its kind, the lengths of its data before and after compression, and a structure for its kind."""
    return struct_of(b"\x15" + bytes([2 * kind]), b"\x15" + varint(2 * len(data) + 18), b"\x15" + varint(2 * len(data)), b"\x2c" + struct_of(b"\x15\x0a")) + data


def parquet(version=2, inside=b"", index=b"", moved=0, short=0):
    dictionary = page(random.Random(6).randbytes(30), 2)
    first = dictionary + page(random.Random(1).randbytes(250))
    pages = first + page(random.Random(7).randbytes(450)) + page(inside + random.Random(2).randbytes(300))[:-short or None]
    at = 4 + len(pages) + moved
    columns = column(4, len(first), len(dictionary)), column(4 + len(first), at - 4 - len(first), index=(at, len(index)))
    group = struct_of(b"\x19\x2c" + b"".join(columns), number(1, 4000), number(1, 5))
    schema = struct_of(b"\x48\x06schema", b"\x15\x02"), struct_of(b"\x15\x02", b"\x25\x02", b"\x18\x04name")
    description = struct_of(b"\x15" + bytes([version]), b"\x19\x2c" + b"".join(schema), number(1, 5), b"\x19\x1c" + group,
                            b"\x19\x1c" + struct_of(b"\x18\x01a", b"\x18\x50" + random.Random(3).randbytes(80)), b"\x28\x04made")
    return b"PAR1" + pages + index + description + struct.pack("<I", len(description)) + b"PAR1"


def make():
    whole = parquet()
    save("parquet", "table.parquet", whole, unchecked=4, unverified=f"4-{len(whole) - 8 - struct.unpack_from('<I', whole, len(whole) - 8)[0]}")
    save("parquet", "index.parquet", parquet(index=random.Random(5).randbytes(60)), unchecked=4)
    for name, moved in ("other", -100), ("another", 5000):  # the description of another file
        other = parquet(moved=moved)
        at = len(other) - 8 - struct.unpack_from("<I", other, len(other) - 8)[0]
        save("parquet", name + ".parquet", other, verdict="unverified", length=len(other), why=f"the description at {at} lists columns up to {at + moved}")
    short = parquet(short=9)
    at = short.index(page(random.Random(7).randbytes(450)))
    save("parquet", "pages.parquet", short, verdict="unverified", length=len(short), why=f"pages do not fill the column at {at}")
    joined = parquet(inside=b"abc" * 9)
    joined = joined[:20] + random.Random(9).randbytes(300) + joined[320:]
    save("parquet", "other-pages.parquet", joined, verdict="unverified", length=len(joined), why="pages do not fill the column at 4")
    far = whole[:600] + bytes((256 << 10) + 1) + whole[600:]
    save("parquet", "far.parquet", far, verdict="truncated", length=4, why=f"another file's description at {len(far) - 8 - struct.unpack_from('<I', far, len(far) - 8)[0]}")
    save("parquet", "version-2.parquet", parquet(4), unchecked=4)
    save("parquet", "inside.parquet", parquet(inside=b"PAR1 and \x40\0\0\0PAR1"), unchecked=4)
    gz = b"\x1f\x8b\x08\0" + bytes(6) + b"not unpacked"
    coded = parquet(inside=gz)
    save("parquet", "coded.parquet", coded, unchecked=4, embedded=coded.index(gz))
    for name, junk in (("cut", b""), ("zeros", bytes(900)), ("random", random.Random(4).randbytes(900))):
        cut = whole[:600] + junk
        save("parquet", f"{name}.parquet", cut, verdict="truncated", length=4, why=f"no description before {len(cut) - 3}")
    save("parquet", "column.parquet", b"PAR1\x25" + whole[5:], verdict="reject", why="no column at 4")
