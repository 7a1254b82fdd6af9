"""FLAC: an encoder made for it, with all kinds of subframes; and the flac program's, where it is installed (package flac)."""
import shutil, struct, subprocess

from makers.common import PNG, save
from makers.sound import comments, id3v1, id3v2, noise, samples, text_frame


class Bits:
    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value, width):
        self.value = self.value << width | (value & (1 << width) - 1)
        self.count += width

    def bytes(self):
        self.put(0, -self.count % 8)
        return self.value.to_bytes(self.count // 8, "big")


def crc(data, polynomial, width):
    value = 0
    for byte in data:
        value ^= byte << width - 8
        for _ in range(8):
            value = value << 1 ^ (polynomial | 1 << width if value >> width - 1 else 0)
    return value


def rice(bits, values, parameter, wide=False):
    bits.put(parameter, 5 if wide else 4)
    for value in values:
        folded = value * 2 if value >= 0 else -value * 2 - 1
        bits.put(1, (folded >> parameter) + 1)
        bits.put(folded, parameter)


def subframe(bits, kind, values, depth):
    if kind == "constant":
        bits.put(0, 8)
        bits.put(values[0], depth)
    elif kind == "verbatim":
        bits.put(1 << 1, 8)
        for value in values:
            bits.put(value, depth)
    elif kind == "wasted":
        bits.put(1 << 1 | 1, 8)
        bits.put(1, 2)
        for value in values:
            bits.put(value >> 2, depth - 2)
    else:
        steps = [b - a for a, b in zip(values, values[1:])]
        if kind == "fixed":
            bits.put(9 << 1, 8)
            bits.put(values[0], depth)
        else:  # linear prediction of the first order that does the same
            bits.put(32 << 1, 8)
            bits.put(values[0], depth)
            bits.put(3, 4)
            bits.put(0, 5)
            bits.put(1, 4)
        half = len(values) // 2
        bits.put(1 if kind == "wide" else 0, 2)
        bits.put(1, 4)
        rice(bits, steps[:half - 1], 5, kind == "wide")
        if kind == "escape":
            bits.put(15, 4)
            bits.put(12, 5)
            for step in steps[half - 1:]:
                bits.put(step, 12)
        else:
            rice(bits, steps[half - 1:], 5, kind == "wide")


def utf8(value):
    return chr(value).encode()


def frame(number, left, right, kinds=("fixed", "fixed"), variable=False, channels=1, size=None):
    size = size or (6 if len(left) <= 256 else 7)
    head = bytes([0xFF, 0xF8 | variable, size << 4 | 9, channels << 4 | 4 << 1]) + utf8(number)
    head += {6: bytes([len(left) - 1 & 0xFF]), 7: struct.pack(">H", len(left) - 1)}.get(size, b"")
    bits = Bits()
    for byte in head + bytes([crc(head, 7, 8)]):
        bits.put(byte, 8)
    subframe(bits, kinds[0], left, 16 + (channels == 9))
    subframe(bits, kinds[1], right, 16 + (channels in (8, 10)))
    body = bits.bytes()
    return body + struct.pack(">H", crc(body, 0x8005, 16))


def block(kind, data, last=False):
    return bytes([kind | last << 7]) + len(data).to_bytes(3, "big") + data


def streaminfo(total, last=False, size=192):
    return b"fLaC" + block(0, struct.pack(">HH", size, size) + bytes(6) + struct.pack(">Q", 44100 << 44 | 1 << 41 | 15 << 36 | total) +
                           bytes(16), last)


def make():
    sound = samples(192)
    left, right = sound[::2], sound[1::2]
    kinds = [("constant", "verbatim"), ("fixed", "linear"), ("wide", "escape"), ("wasted", "fixed"), ("linear", "wide")]
    # A channel of differences has a bit more, whatever it holds.
    parts = [frame(i, left, right, kinds[i], channels=(1, 8, 9, 10, 1)[i], size=1) for i in range(5)]
    frames, total = b"".join(parts), 5 * 192
    text = block(4, comments(TITLE="Golden hour", DATE="2024-02-29"))
    padding = block(1, bytes(100), True)
    whole = streaminfo(total) + text + padding + frames
    gold = dict(extension="flac", title="Golden hour", time=1709164800)
    flac = lambda name, data, **expected: save("flac", name, data, **{"extension": "flac", **expected})
    flac("kinds.flac", whole, **gold)
    flac("bare.flac", streaminfo(total, True) + frames)
    picture = struct.pack(">II", 3, 9) + b"image/png" + struct.pack(">IIIIII", 0, 1, 1, 24, 0, len(PNG)) + PNG
    illustrated = streaminfo(total) + block(6, picture) + padding + frames
    flac("picture.flac", illustrated, embedded=illustrated.index(PNG))
    flac("reserved.flac", streaminfo(total) + text + block(126, b"") + padding + frames, **gold)
    variable = b"".join(frame(i * 192, left, right, variable=True) for i in range(12))
    flac("variable.flac", streaminfo(12 * 192, True) + variable)
    many = b"".join(frame(i, left[:16], right[:16]) for i in range(140))
    flac("numbers.flac", streaminfo(140 * 16, True) + many)
    short = frames + frame(5, left[:100], right[:100])
    flac("short-last.flac", streaminfo(total + 100, True) + short)
    flac("id3v1.flac", whole + id3v1(), sequence="yes", **gold)
    if shutil.which("flac"):
        raw = struct.pack(f"<{len(sound)}h", *sound) * 4
        out = subprocess.run(["flac", "-s", "-c", "-8", "--force-raw-format", f"--input-size={len(raw)}", "--endian=little", "--sign=signed", "--channels=2",
                              "--bps=16", "--sample-rate=44100", "-T", "TITLE=Encoded", "--no-padding", "-"], input=raw, capture_output=True)
        flac("encoder.flac", out.stdout, title="Encoded")
    unknown = streaminfo(0, True) + frames
    flac("no-total.flac", unknown, verdict="unverified", length=len(unknown))
    flac("no-total-followed.flac", unknown + noise(500), verdict="unverified", length=len(unknown))
    flac("no-total-tagged.flac", unknown + id3v1(), title="Golden hour")
    tagged = id3v2(text_frame(b"TIT2", "Gold")) + whole
    save("mp3", "flac.flac", tagged, title="Gold", extension="flac")

    at = len(whole) - len(parts[4])
    cut = whole[:-40]
    flac("cut.flac", cut, verdict="truncated", length=len(cut))
    flac("cut-zeros.flac", cut + bytes(3000), verdict="truncated", length_min=at, length_max=len(cut))
    for name, junk in (("random", noise(3000, 3)), ("ones", b"\xff" * 3000), ("other", whole)):
        flac(f"cut-{name}.flac", cut + junk, verdict="truncated", length=at, why=f"corrupt frame at {at}")
    bad = bytearray(whole)
    bad[at - 30] ^= 4
    flac("crc.flac", bytes(bad), verdict="truncated", length=at - len(parts[3]))
    flac("order.flac", streaminfo(total, True) + parts[0] + parts[2], verdict="truncated", length=42 + len(parts[0]))
    flac("few.flac", streaminfo(total + 1, True) + frames + noise(50), verdict="truncated", length=42 + len(frames))
    head = streaminfo(total) + text
    flac("padding.flac", head + block(1, bytes(50) + noise(2000), True), verdict="truncated", length=len(head) + 54)
    # Zeros of another file in it, after which further blocks seem to be empty.
    short, rest = streaminfo(total) + block(1, bytes(500)), block(4, comments(TITLE="Golden hour", DATE="2024-02-29"), True) + frames
    flac("padding-first.flac", short + rest, **gold)
    flac("padding-longer.flac", short + bytes(512) + rest, verdict="truncated", length=len(short))
    flac("metadata-cut.flac", (head + padding)[:-50], verdict="truncated", length=len(head) + 54)
    flac("metadata.flac", head + b"\x33" + noise(100), verdict="truncated", length=len(head))
    flac("start.flac", streaminfo(total, True) + noise(200), verdict="reject")
    save("flac", "streaminfo.flac", b"fLaC" + block(4, comments()) + frames, verdict="reject", why="STREAMINFO does not come first at 0")
