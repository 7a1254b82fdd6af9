"""Chrome's extensions: a header by hand, then an archive of Python's zipfile."""
import io, struct, zipfile

from makers.common import save
from makers.packing import junk
from makers.zip import WORDS, archive

MEMBERS = [("manifest.json", b'{"manifest_version": 3, "name": "golden", "version": "1"}'), ("b.js", WORDS), ("i.png", junk(300, 3))]
KEY = bytes.fromhex("30820122300d06092a864886f70d01010105000382010f00") + junk(270, 1)


def number(value):
    return bytes((value & 0x7f | 0x80,)) + number(value >> 7) if value > 0x7f else bytes((value,))


def field(tag, data):
    return number(tag << 3 | 2) + number(len(data)) + data


FIELDS = field(2, field(1, KEY) + field(2, junk(256, 2))) + field(10000, field(1, junk(16, 4)))


def second(data, key=KEY):
    return b"Cr24" + struct.pack("<III", 2, len(key), 128) + key + junk(128, 5) + data


def third(data, fields=FIELDS):
    return b"Cr24" + struct.pack("<II", 3, len(fields)) + fields + data


def shifted(data, by):
    """The archive with offsets that count `by` bytes before it."""
    at = struct.unpack("<I", data[-6:-2])[0]
    table = bytearray(data[at:-22])
    where = 0
    while where < len(table):
        start, = struct.unpack_from("<I", table, where + 42)
        struct.pack_into("<I", table, where + 42, start + by)
        where += 46 + sum(struct.unpack_from("<HHH", table, where + 28))
    return data[:at] + bytes(table) + data[-22:-6] + struct.pack("<I", at + by) + data[-2:]


def make():
    data = archive(MEMBERS)
    whole, start = third(data), 12 + len(FIELDS)
    save("crx", "third.crx", whole, extension="", time=1709251198, why="", unverified="none")
    save("crx", "second.crx", second(data), time=1709251198)
    save("crx", "streamed.crx", third(archive(MEMBERS, pipe=True)))
    save("crx", "hashes.crx", third(data, FIELDS + field(4, junk(700, 6)) + field(3, junk(200, 7))))
    save("crx", "from-the-file.crx", third(shifted(data, start)))
    save("crx", "from-elsewhere.crx", third(shifted(data, 7)))
    # The end record alone counts from elsewhere.
    at = start + data.index(b"PK\1\2")
    save("crx", "end.crx", third(data[:-6] + struct.pack("<I", at - start + 7) + data[-2:]), verdict="unverified", length=len(whole),
         why=f"the directory at {at} does not match the members before it")
    stored = archive([("inner.zip", archive(MEMBERS[:1]))] + MEMBERS, zipfile.ZIP_STORED)
    members = [(start + info.header_offset, 30 + len(info.filename)) for info in zipfile.ZipFile(io.BytesIO(stored)).infolist()]
    save("crx", "cut.crx", third(stored)[:sum(members[-1]) + 100], verdict="truncated", length=sum(members[-1]) + 100,
         embedded=" ".join(f"{at} {at + head}" for at, head in members))
    save("crx", "damaged.crx", third(data[:150] + junk(900, 8)), verdict="truncated", length_max=start + 250)
    save("crx", "random.crx", third(data)[:start + 12] + junk(3000, 9), verdict="reject")
    save("crx", "field.crx", third(data, FIELDS + field(5, b"a")), verdict="reject", why="no header at 0")
    save("crx", "fields.crx", third(data, FIELDS + b"\x12\x7f"), verdict="reject", why="no header at 0")
    save("crx", "key.crx", second(data, b"\x31" + KEY[1:]), verdict="reject", why="no header at 0")
    save("crx", "no-archive.crx", third(junk(600, 10)), verdict="reject", why=f"no archive at {start}")
    save("crx", "header.crx", whole[:200], verdict="reject")
