"""Tables of LevelDB, block by block; Snappy's pieces by hand."""
import struct

from makers.common import save
from makers.leveldb import crc32c
from makers.sound import noise


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def entries(pairs):
    out, last = b"", b""
    for key, value in pairs:
        shared = 0
        while shared < min(len(key), len(last)) and key[shared] == last[shared]:
            shared += 1
        out += number(shared) + number(len(key) - shared) + number(len(value)) + key[shared:] + value
        last = key
    return out + struct.pack("<II", 0, 1)


def literal(data):
    return (bytes([len(data) - 1 << 2]) if len(data) <= 60 else b"\xf4" + struct.pack("<H", len(data) - 1)) + data


def snappy(data):
    """Literals, and a copy of each kind where data repeat."""
    out, at = number(len(data)), 0
    while at < len(data):
        end = min(at + 200, len(data))
        out += literal(data[at:end])
        at = end
        if data[at:at + 6] == data[at - 6:at]:
            out, at = out + bytes([6 - 4 << 2 | 1, 6]), at + 6
        elif at >= 100 and at + 20 <= len(data) and data[at:at + 20] == data[at - 100:at - 80]:
            out, at = out + bytes([20 - 1 << 2 | 2, 100, 0]), at + 20
        elif at >= 30 and at + 12 <= len(data) and data[at:at + 12] == data[at - 30:at - 18]:
            out, at = out + bytes([12 - 1 << 2 | 3]) + struct.pack("<I", 30), at + 12
    return out


def block(data, packed):
    data = (snappy(data) + b"\1") if packed else data + b"\0"
    crc = crc32c(data)
    return data + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def key(text, sequence):
    return text + struct.pack("<Q", sequence << 8 | 1)


def table(packed, blocks=4, value=b"value of a page, "):
    out, index = b"", []
    for n in range(blocks):
        first = [(key(b"META:https://a.example", 1), b"\x08\1")] if not n else []
        pairs = first + [(key(b"_https://site.example\0\1key%d-%02d" % (n, i), 100 * n + i), b"\1" + value * (i % 9 + 1)) for i in range(20)]
        data = block(entries(pairs), packed)
        index.append((pairs[-1][0], number(len(out)) + number(len(data) - 5)))
        out += data
    data_end = len(out)
    meta_at, meta = len(out), block(entries([]), False)
    out += meta
    index_at, data = len(out), block(entries(index), packed)
    out += data
    handles = number(meta_at) + number(len(meta) - 5) + number(index_at) + number(len(data) - 5)
    return out + handles.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db"), data_end


def make():
    plain, end = table(False)
    save("leveldb_table", "plain.ldb", plain)
    packed, end = table(True)
    save("leveldb_table", "snappy.ldb", packed)
    save("leveldb_table", "repeats.ldb", table(True, 3, b"abcabc" * 30)[0])
    first = table(True, 1)[1]
    broken = bytearray(packed)
    broken[first + 40] ^= 1
    save("leveldb_table", "crc.ldb", bytes(broken), verdict="truncated", length=first, why=f"wrong CRC of the block at {first}")
    save("leveldb_table", "cut.ldb", packed[:-60] + noise(3000), verdict="reject", why="no table starts at 0 and ends")
    save("leveldb_table", "index.ldb", packed[:-50] + bytes(2) + packed[-48:], verdict="reject")
    save("leveldb_table", "shifted.ldb", b"\0" * 3 + plain, verdict="reject")
    other = plain[:3000] + plain
    save("leveldb_table", "other.ldb", other, verdict="reject", why="no table starts at 0 and ends")
    inside = "0 is inside a table that starts before it"
    save("leveldb_table", "inside.ldb", packed[first:] + plain, verdict="reject", why=inside)
    save("leveldb_table", "index_inside.ldb", packed[packed.rindex(b"\0&\3_https"):] + plain, verdict="reject", why=inside)
