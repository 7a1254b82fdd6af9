"""7z archives: the start header and the header by hand, streams by Python's lzma (liblzma)."""
import bz2, lzma, struct, zlib

from makers.common import save
from makers.packing import junk, text


def lzma2(data, **options):
    return lzma.compress(data, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6, **options}])


def archive(streams, header, at=None, crc=None):
    start = struct.pack("<QQI", len(streams) if at is None else at, len(header), zlib.crc32(header) if crc is None else crc)
    return b"7z\xbc\xaf\x27\x1c\0\x04" + struct.pack("<I", zlib.crc32(start)) + start + streams + header


def number(value):
    """As the header has it: as many high bits of the first byte as bytes follow."""
    for count in range(8):
        if value < 1 << 7 * (count + 1):
            mask = 0xFF00 >> count & 0xFF
            return bytes([mask | value >> 8 * count]) + (value & (1 << 8 * count) - 1).to_bytes(count, "little")
    return b"\xff" + value.to_bytes(8, "little")


def crcs(values):
    """Of those that are not None."""
    if None not in values:
        return b"\x01" + b"".join(struct.pack("<I", value) for value in values)
    bits = "".join("0" if value is None else "1" for value in values)
    bits = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    return b"\0" + bits + b"".join(struct.pack("<I", value) for value in values if value is not None)


def coder(method, properties=b"", inputs=1):
    flags = len(method) | (0x20 if properties else 0) | (0x10 if inputs > 1 else 0)
    return bytes([flags]) + method + (number(inputs) + b"\1" if inputs > 1 else b"") + (number(len(properties)) + properties if properties else b"")


def described(packed, folders, at=0, packed_crcs=None, part_crcs=True):
    """What a header says of streams. packed: their lengths; folders: (coders, bytes that follow them, lengths, CRC or None, parts)."""
    out = b"\x06" + number(at) + number(len(packed)) + b"\x09" + b"".join(map(number, packed))
    out += (b"\x0a" + crcs(packed_crcs) if packed_crcs else b"") + b"\0"
    out += b"\x07\x0b" + number(len(folders)) + b"\0" + b"".join(number(len(f[0])) + b"".join(f[0]) + f[1] for f in folders)
    out += b"\x0c" + b"".join(number(length) for f in folders for length in f[2])
    if any(f[3] is not None for f in folders):
        out += b"\x0a" + crcs([f[3] for f in folders])
    out += b"\0\x08"
    if any(len(f[4]) != 1 for f in folders):
        out += b"\x0d" + b"".join(number(len(f[4])) for f in folders) + b"\x09" + b"".join(number(len(part)) for f in folders for part in f[4][:-1])
    rest = [zlib.crc32(part) for f in folders if len(f[4]) != 1 or f[3] is None for part in f[4]]
    return out + (b"\x0a" + crcs(rest) if rest and part_crcs else b"") + b"\0\0"


def files(streams):
    return b"\x01\x04" + streams + b"\0"


class RangeCoder:
    """LZMA's, of bits with probabilities."""

    def __init__(self):
        self.low, self.range, self.cache, self.pending, self.out, self.of = 0, 0xFFFFFFFF, 0, 1, bytearray(), {}

    def shift(self):
        if self.low < 0xFF000000 or self.low >> 32:
            self.out += bytes([self.cache + (self.low >> 32) & 0xFF]) + bytes([0xFF + (self.low >> 32) & 0xFF]) * (self.pending - 1)
            self.cache, self.pending = self.low >> 24 & 0xFF, 0
        self.pending += 1
        self.low = self.low << 8 & 0xFFFFFFFF

    def put(self, key, bit):
        one = self.of.get(key, 1024)
        bound = (self.range >> 11) * one
        if bit:
            self.low, self.range = self.low + bound, self.range - bound
        else:
            self.range = bound
        self.of[key] = one - (one >> 5) if bit else one + (2048 - one >> 5)
        while self.range < 1 << 24:
            self.range <<= 8
            self.shift()

    def end(self):
        for _ in range(5):
            self.shift()
        return bytes(self.out)


def bcj2(program):
    """The four streams of a program: those of calls are converted, but every third, and jumps to near places."""
    code, calls, jumps, coder, at, before, count = bytearray(), b"", b"", RangeCoder(), 0, 0, 0
    while at < len(program):
        byte = program[at]
        code.append(byte)
        at += 1
        if byte & 0xFE == 0xE8 or before == 0x0F and byte & 0xF0 == 0x80:
            if at == len(program):
                break
            count += 1
            near = at + 4 <= len(program) and count % 3 > 0
            coder.put(before if byte == 0xE8 else 256 if byte == 0xE9 else 257, near)
            if near:
                step = int.from_bytes(program[at:at + 4], "little")
                target = (step + at + 4 & 0xFFFFFFFF).to_bytes(4, "big")
                calls, jumps = (calls + target, jumps) if byte == 0xE8 else (calls, jumps + target)
                at += 4
                before = program[at - 1]
                continue
        before = byte
    return bytes(code), calls, jumps, coder.end()


def joined(lzma1, properties):
    """Archives of a program in the four streams of BCJ2, of which one is packed further."""
    program = junk(200, 7) + b"".join(
        (b"\x55\xe8" if i % 3 else b"\xe9" if i % 2 else b"\x0f\x84") + struct.pack("<i", 900 - 9 * i) + b"\x90\xc3" for i in range(120)) + b"\xe8"
    code, calls, jumps, bits = bcj2(program)
    streams = [lzma.compress(code, format=lzma.FORMAT_RAW, filters=[lzma1]), calls, jumps, bits]
    coders = [coder(b"\3\3\1\x1b", inputs=4), coder(b"\3\1\1", properties)]
    folder = (coders, b"\0\1" + b"\4\1\2\3", [len(program), len(code)], zlib.crc32(program), [program])
    header = files(described(list(map(len, streams)), [folder]))
    save("sevenzip", "real-joined.7z", archive(b"".join(streams), header), why="", unverified="none")
    at = 32 + len(streams[0])
    wrong = bytearray(b"".join(streams))
    wrong[at - 32 + 5] ^= 0x10
    save("sevenzip", "real-joined-damaged.7z", archive(bytes(wrong), header), verdict="unverified", length=32 + len(wrong) + len(header),
         why="the compressed stream at 32 is invalid, or a CRC of its content wrong")


def real():
    """Archives whose streams can be checked."""
    words, more = text(900), junk(250, 5)
    raw = lambda data, filters: lzma.compress(data, format=lzma.FORMAT_RAW, filters=filters)
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    lzma1 = {"id": lzma.FILTER_LZMA1, "preset": 6, "dict_size": 65536}
    properties = b"\x5d" + struct.pack("<I", 65536)
    program = b"".join(b"\x55\xe8" + struct.pack("<i", 900 - 9 * i) + b"\x90\xc3\x90" for i in range(90))
    crc = zlib.crc32
    kinds = [
        ("lzma2", raw(words, [{"id": lzma.FILTER_LZMA2, "preset": 6}]), [coder(b"\x21", b"\x10")], b"", [words], words),
        ("lzma", raw(words, [lzma1]), [coder(b"\3\1\1", properties)], b"", [words], words),
        ("copy", more, [coder(b"\0")], b"", [more], more),
        ("deflate", deflater.compress(words) + deflater.flush(), [coder(b"\4\1\x08")], b"", [words], words),
        ("bzip2", bz2.compress(words), [coder(b"\4\2\2")], b"", [words], words),
        ("filtered", raw(program, [{"id": lzma.FILTER_X86}, lzma1]), [coder(b"\3\3\1\3"), coder(b"\3\1\1", properties)], b"\0\1", [program], program),
    ]
    for name, packed, coders, pairs, parts, content in kinds:
        folder = (coders, pairs, [len(content)] * len(coders), crc(content), parts)
        header = files(described([len(packed)], [folder]))
        save("sevenzip", f"real-{name}.7z", archive(packed, header), why="", unverified="none")
        wrong = bytearray(packed)
        wrong[len(packed) // 2] ^= 0x10
        save("sevenzip", f"real-{name}-damaged.7z", archive(bytes(wrong), header), verdict="unverified", length=32 + len(packed) + len(header),
             why="the compressed stream at 32 is invalid, or a CRC of its content wrong")
    joined(lzma1, properties)
    # Several parts of a folder, with CRCs of their own; a gap; a folder that nothing unpacks here, once with a CRC of its packed stream.
    parts = [words[:300], words[300:301], words[301:]]
    packed = raw(words, [{"id": lzma.FILTER_LZMA2, "preset": 6}])
    solid = ([coder(b"\x21", b"\x10")], b"", [len(words)], None, parts)
    secret = ([coder(b"\6\xf1\7\1", b"\x13\0")], b"", [250], crc(words), [words[:250]])
    header = files(described([len(packed), len(more)], [solid, secret], at=40))
    save("sevenzip", "real-solid.7z", archive(bytes(40) + packed + more, header), why="",
         unverified=f"32-72 {72 + len(packed)}-{72 + len(packed) + len(more)}")
    header = files(described([len(packed), len(more)], [solid, secret], packed_crcs=[None, crc(more)]))
    save("sevenzip", "real-packed-crc.7z", archive(packed + more, header), why="", unverified="none")
    header = files(described([len(packed), len(more)], [solid, secret], packed_crcs=[None, crc(more) ^ 1]))
    save("sevenzip", "real-packed-crc-wrong.7z", archive(packed + more, header), verdict="unverified", length=32 + len(packed + more + header),
         why=f"the compressed stream at {32 + len(packed)} is invalid, or a CRC of its content wrong")
    # Lengths given twice; they are not places in a table.
    once = described([len(packed)], [solid])
    at = once.index(b"\x0c" + number(len(words)))
    lens = once[at:at + 1 + len(number(len(words)))]
    save("sevenzip", "real-lengths-twice.7z", archive(packed, files(once[:at] + lens + once[at:])), why="", unverified="none")
    header = files(described([len(packed)], [solid], part_crcs=False))
    save("sevenzip", "real-no-crc.7z", archive(packed, header), why="", unverified=f"32-{32 + len(packed)}")
    # A packed header.
    header = files(described([len(packed)], [solid]))
    squeezed = raw(header, [lzma1])
    outer = b"\x17" + described([len(squeezed)], [([coder(b"\3\1\1", properties)], b"", [len(header)], crc(header), [header])], at=len(packed))
    save("sevenzip", "real-packed-header.7z", archive(packed + squeezed, outer), why="", unverified="none")


def make():
    real()
    words = text(1800)
    header = b"\x01\x04\x06\x00\x01\x09" + text(120, 9) + b"\0"
    streams = lzma2(words) + lzma2(words[:500], lc=0, lp=2)
    whole = archive(streams, header)
    first = 32 + len(lzma2(words))
    save("sevenzip", "two.7z", whole, why="", extension="", unverified=f"32-{32 + len(streams)}")
    save("sevenzip", "stored.7z", archive(junk(300), header))
    save("sevenzip", "empty.7z", archive(b"", b""), length=32)
    save("sevenzip", "gap.7z", archive(streams + bytes(100), header))
    save("sevenzip", "cut.7z", whole[:700], verdict="truncated", length=700)
    save("sevenzip", "cut-random.7z", whole[:first + 100] + junk(2500, 2), verdict="truncated", length_min=first + 100, length_max=first + 300,
         why=f"the header's CRC is wrong at {32 + len(streams)}")
    save("sevenzip", "cut-zeros.7z", whole[:first + 100] + bytes(2500), verdict="truncated", length_min=first + 90, length_max=first + 120)
    save("sevenzip", "first-cut.7z", whole[:300] + junk(2500, 3), verdict="truncated", length_min=300, length_max=600)
    save("sevenzip", "stored-cut.7z", archive(junk(300), header)[:200] + junk(900, 4), verdict="truncated", length=32)
    wrong = bytearray(whole)
    wrong[-20] ^= 1
    save("sevenzip", "header-damaged.7z", bytes(wrong), verdict="truncated", length_min=first, length_max=32 + len(streams))
    wrong = bytearray(whole)
    wrong[12] ^= 1
    save("sevenzip", "start-damaged.7z", bytes(wrong), verdict="reject", why="the start header's CRC is wrong at 8")
    save("sevenzip", "lengths.7z", archive(streams, header, at=1 << 63), verdict="reject", why="impossible lengths at 12")
    save("sevenzip", "version-1.7z", whole[:6] + b"\1" + whole[7:], verdict="reject", why="no signature at 0")
