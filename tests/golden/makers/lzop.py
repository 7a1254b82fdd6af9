"""lzop, by hand: every kind of LZO1X's instructions."""
import random, struct, zlib

from makers.common import save

CONTENT, COMPRESSED, CRC = 1, 2, 0x100
END = b"\x11\0\0"


def zeros(count, more):
    """A length that does not fit into an instruction: `more` and 255 for each zero byte, and the last one."""
    count -= more
    return bytes((count - 1) // 255) + bytes([(count - 1) % 255 + 1])


class Lzo:
    """Instructions and what they give."""

    def __init__(self, first):
        self.code, self.content = bytes([17 + len(first)]) + first, first

    def literals(self, data):
        """At least 4, where no literals precede."""
        count = len(data) - 3
        self.code += (bytes([count]) if count < 16 else b"\0" + zeros(count, 15)) + data
        self.content += data

    def match(self, code, distance, count, data=b""):
        self.code += code + data
        for _ in range(count):
            self.content += self.content[-distance:][:1]
        self.content += data

    def short(self, distance, data=b""):  # after 1 to 3 literals: two bytes
        self.match(bytes([(distance - 1 & 3) << 2 | len(data), distance - 1 >> 2]), distance, 2, data)

    def short_far(self, distance, data=b""):  # after 4 literals or more: three bytes
        self.match(bytes([(distance - 2049 & 3) << 2 | len(data), distance - 2049 >> 2]), distance, 3, data)

    def near(self, distance, count, data=b""):  # 3 to 8 bytes
        top = 64 | (count - 3) << 5 if count < 5 else 128 | (count - 5) << 5
        self.match(bytes([top | (distance - 1 & 7) << 2 | len(data), distance - 1 >> 3]), distance, count, data)

    def middle(self, distance, count, data=b""):
        length = bytes([32 | count - 2]) if count <= 33 else b"\x20" + zeros(count - 2, 31)
        self.match(length + struct.pack("<H", distance - 1 << 2 | len(data)), distance, count, data)

    def far(self, distance, count, data=b""):
        bits = distance - 16384
        top = 16 | bits >> 14 << 3
        length = bytes([top | count - 2]) if count <= 9 else bytes([top]) + zeros(count - 2, 7)
        self.match(length + struct.pack("<H", (bits & 0x3fff) << 2 | len(data)), distance, count, data)


def sample(seed):
    rng = random.Random(seed)
    lzo = Lzo(rng.randbytes(12))
    lzo.near(5, 4, b"ab")
    lzo.short(3, b"c")
    lzo.middle(12, 300)
    lzo.literals(rng.randbytes(900))
    lzo.near(500, 7)
    lzo.literals(rng.randbytes(1500))
    lzo.short_far(2060, b"xyz")
    lzo.middle(2500, 20)
    lzo.literals(rng.randbytes(16000))
    lzo.far(16390, 8, b"q")
    lzo.far(17000, 400)
    return lzo.code + END, lzo.content


def header(name=b"golden.txt", version=0x1030, flags=CONTENT, method=1, wrong=0):
    recent = version >= 0x940
    fields = struct.pack(">HH", version, 0x20a0) + (struct.pack(">H", 0x940) if recent else b"") + bytes([method]) + (b"\5" if recent else b"")
    fields += struct.pack(">III", flags, 0o100644, 1700000000) + (bytes(4) if recent else b"") + bytes([len(name)]) + name
    return b"\x89LZO\0\r\n\x1a\n" + fields + struct.pack(">I", (zlib.crc32(fields) if flags & 0x1000 else zlib.adler32(fields)) + wrong)


def block(code, content, flags=CONTENT):
    sums = b""
    for adler, crc, data in ((1, 0x100, content), (2, 0x200, code if code != content else None)):
        if flags & adler and data is not None:
            sums += struct.pack(">I", zlib.adler32(data))
        if flags & crc and data is not None:
            sums += struct.pack(">I", zlib.crc32(data))
    return struct.pack(">II", len(content), len(code)) + sums + code


def make():
    facts = dict(title="golden.txt", time=1700000000)
    first, second = sample(1), sample(2)
    rng = random.Random(4)
    stored = rng.randbytes(600)
    whole = header() + block(*first) + block(*second) + block(stored, stored) + bytes(4)
    save("lzop", "plain.lzo", whole, **facts)
    both = CONTENT | COMPRESSED
    save("lzop", "sums.lzo", header(flags=both) + block(*first, flags=both) + block(stored, stored, both) + bytes(4), **facts)
    crcs = CRC | 2 * CRC | 0x1000
    save("lzop", "crc.lzo", header(flags=crcs) + block(*first, flags=crcs) + bytes(4), **facts)
    save("lzop", "none.lzo", header(flags=0) + block(*first, flags=0) + bytes(4), unchecked=60, **facts)
    save("lzop", "old.lzo", header(version=0x930) + block(*first) + bytes(4), **facts)
    save("lzop", "empty.lzo", header() + bytes(4), **facts)
    save("lzop", "two.lzo", whole + whole, sequence="yes", **facts)
    save("lzop", "cut.lzo", whole[:9000], verdict="truncated", length=9000, why="the image ends at 9000, before the file does")
    at = len(header() + block(*first))
    for name, junk in (("random", rng.randbytes(30000)), ("zeros", bytes(30000)), ("text", b"nothing but words, " * 1600)):
        save("lzop", name + ".lzo", whole[:at + 2000] + junk, verdict="truncated", length=at, why=f"an invalid block at {at}")
    wrong = bytearray(whole)
    wrong[at + 13] ^= 1
    save("lzop", "sum.lzo", bytes(wrong), verdict="truncated", length=at)
    start = len(header())
    save("lzop", "first.lzo", header() + rng.randbytes(400), verdict="reject", why=f"no valid block at {start}")
    save("lzop", "header.lzo", header(wrong=1) + block(*first), verdict="reject", why="a header with a wrong checksum at 0")
    save("lzop", "method.lzo", header(method=9) + block(*first), verdict="reject", why="an unknown method at 0")
