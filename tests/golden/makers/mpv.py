"""MPEG video: headers by hand, slices of macroblocks in random words of the standard's codes."""
import random, struct

from makers.common import save
from makers.mpv_streams import FIELDS, WIDE

END = b"\0\0\1\xb7"


def noise(length, seed):
    rng = random.Random(seed)
    return bytes(rng.randrange(1, 256) for _ in range(length))


def sequence(width=48, height=32, second=False, matrix=False):
    out = b"\0\0\1\xb3" + struct.pack(">I", width << 20 | height << 8 | 0x13)[:4] + struct.pack(">I", 1000 << 14 | 1 << 13 | 20 << 3 | matrix << 1)
    out += bytes([8] * 64) if matrix else b""
    return out + (b"\0\0\1\xb5\x14\x8a\0\1\0\0" if second else b"")


def picture(number, kind, rows=(1, 2), second=False):
    """3 x 2 macroblocks, in a slice for each row, or for some of its macroblocks: (row, from, to). MPEG-2 intra alone."""
    kind = 1 if second else kind
    rng = random.Random(number * 4 + kind)
    out = b"\0\0\1\0" + packed(f"{number:010b}{kind:03b}" + "1" * 16 + {1: "0", 2: "0010" "0", 3: "0010" "0011" "0"}[kind])
    out += b"\0\0\1\xb5\x8f\xff\xf3\x41\x80" if second else b""
    for row in rows:
        row, first, last = row if isinstance(row, tuple) else (row, 0, 3)
        bits = "".join((("1", "011", "010")[first] if n == first else "1") + macroblock(rng, kind, second) for n in range(first, last))
        out += b"\0\0\1" + bytes([row]) + packed("01010" "0" + bits)
    return out


def video(second=False, groups=2, tail=END, user=b"", **options):
    out = b""
    for group in range(groups):
        out += sequence(second=second) + (b"\0\0\1\xb2" + user if user and not group else b"") + b"\0\0\1\xb8\0\x08\0\x40"
        out += b"".join(picture(n, 1 if n == 0 else 2 + n % 2, second=second, **options) for n in range(3))
    return out + tail


def macroblock(rng, kind, second=False):
    """One macroblock behind its distance: kind is 1, 2 or 3 for I, P and B."""
    words = WORDS[:-2] if second else WORDS
    block = lambda first: "".join(rng.choice(words) for _ in range(rng.randrange(9))) if not first else \
        rng.choice(("10", "11", "0110", "01001", "00100110" "1")) + block(False)
    # Each mean of luminance that rises falls again.
    means = [rng.choice((("100", "100"), ("001", "000"), ("0110", "0101"), ("101" "110", "101" "001"), ("1110" "10101", "1110" "01010"))) for _ in range(2)]
    intra = "".join((means[n // 2][n % 2] if n < 4 else rng.choice(("00", "011", "1011", "110" "010"))) + block(False) + "10" for n in range(6))
    if kind == 1:
        return rng.choice(("1", "01" "10001")) + intra
    motion = lambda more: "".join(rng.choice(("1", "010" + "1" * more, "0011" + "0" * more, "0000110" + "1" * more)) for _ in range(2))
    pattern, count = rng.choice((("111", 4), ("1101", 1), ("001100", 6), ("000000111", 5), ("01011", 1)))
    coded = pattern + "".join(block(True) + "10" for _ in range(count))
    if kind == 2:
        return rng.choice((lambda: "1" + motion(1) + coded, lambda: "01" + coded, lambda: "001" + motion(1), lambda: "00011" + intra,
                           lambda: "00001" "00111" + coded))()
    return rng.choice((lambda: "10" + motion(1) + motion(2), lambda: "11" + motion(1) + motion(2) + coded, lambda: "010" + motion(2),
                       lambda: "0011" + motion(1) + coded, lambda: "000001" "00011" + intra))()


# Run and level with its sign, of each length; two of them escaped.
WORDS = ("110", "0111", "01000", "01011", "001011", "001100", "0001100", "00001000", "001001110", "00000010110", "0000000111011",
         "00000000100111", "000000000101010", "0000000000110001", "00000000000101001", "000001" "000011" "00010000",
         "000001" "000001" "00000000" "11000011")


def real_picture(number, kind, rows=1, seed=3):
    """3 x 2 macroblocks, in slices of one row or in one slice."""
    rng = random.Random(number * 4 + kind + seed * 1000)
    start = number << 22 | kind << 19 | 0xffff << 3
    vectors = {1: "0", 2: "0010" "0", 3: "0010" "0011" "0"}[kind]
    head = f"{start >> 3:029b}" + vectors
    out = b"\0\0\1\0" + packed(head)
    for row in range(rows):
        bits = "01010" "0"
        places = 3 if rows > 1 else 6
        # The second macroblock may be left out.
        skip = kind > 1 and rng.random() < 0.5
        for n in range(places):
            if n != 1 or not skip:
                bits += ("011" if n == 2 and skip else "1") + macroblock(rng, kind)
        out += b"\0\0\1" + bytes([row + 1]) + packed(bits)
    return out


def packed(bits):
    return bytes(int(bits[at:at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8))


def make_slices():
    """Without an end code the last picture's macroblocks tell the end."""
    for rows in (1, 2):
        for last in (1, 2, 3):
            plain = sequence() + b"".join(real_picture(n, kind, rows) for n, kind in enumerate((1, 2, 3, last)))
            assert len(plain.split(b"\0\0\1")) == 2 + 4 * (1 + rows)
            at = plain.rindex(b"\0\0\1")
            save("mpv", f"slices-{rows}-{last}.m1v", plain + noise(2000, last), verdict="unverified", length=len(plain), extension="m1v",
                 why=f"no end code: the last start code is at {at}")
    # MPEG-2: interlaced, with the second table of runs; 4:2:2.
    for name, stream in (("fields", FIELDS), ("wide", WIDE)):
        save("mpv", f"slices-{name}.m2v", stream + noise(2000, 6), verdict="unverified", length=len(stream), extension="m2v",
             why="no end code: the last start code is at %d" % stream.rindex(b"\0\0\1"))
    # Start codes of something else behind the end.
    for name, code in (("packet", b"\xe0\x12\x34"), ("slice", b"\x02\x28"), ("picture", b"\0\0\x0f\xff\xf8")):
        save("mpv", f"slices-{name}.m1v", plain + noise(20, 3) + b"\0\0\1" + code + noise(4000, 4), verdict="unverified", length=len(plain))
    cut = plain[:plain.rindex(b"\0\0\1") + 8]
    save("mpv", "slices-cut.m1v", cut + noise(9000, 5), verdict="truncated", length_min=cut.rindex(b"\0\0\1"), length_max=len(cut) + 500)


def make():
    make_slices()
    save("mpv", "first.m1v", video(user=b"encoded by nobody"), extension="m1v")
    xing = video().replace(sequence(), sequence()[:7] + b"\x19" + sequence()[8:]).replace(b"\xb8\0\x08\0\x40", b"\xb8\0\0\0\0")
    save("mpv", "xing.m1v", xing, extension="m1v")
    save("mpv", "second.m2v", video(second=True), extension="m2v")
    save("mpv", "matrix.m1v", sequence(matrix=True) + picture(0, 1) + picture(1, 2) + END)
    save("mpv", "same-row.m1v", video(rows=((1, 0, 2), (1, 2, 3), 2)))
    save("mpv", "stuffed.m1v", video(tail=bytes(40) + END))
    save("mpv", "one-slice.m1v", sequence() + b"".join(real_picture(n, 1) for n in range(3)) + END)
    plain = video(tail=b"")
    last = plain.rindex(b"\0\0\1")
    lost = dict(verdict="unverified", extension="m1v", why=f"no end code: the last start code is at {last}")
    save("mpv", "no-end-zeros.m1v", plain + bytes(2000), length=len(plain), **lost)
    save("mpv", "no-end-random.m1v", plain + noise(9000, 5), length=len(plain), **lost)
    save("mpv", "next.m1v", plain + noise(-len(plain) % 512 + 512, 6) + video(), length=len(plain), **lost)
    # Foreign bytes in a slice, a slice twice, and pictures that lack slices.
    whole = video()
    second = [at for at in range(len(whole)) if whole[at:at + 4] == b"\0\0\1\2"][2]
    save("mpv", "foreign.m1v", whole[:second + 12] + noise(4096, 7) + whole[second + 12:], verdict="truncated", extension="m1v",
         length_min=second, length_max=second + 600, why=f"the picture breaks off in the slice at {second}")
    third = whole.index(b"\0\0\1", second + 4)
    save("mpv", "twice.m1v", whole[:third] + whole[second:], verdict="truncated", length=third)
    lacking = sequence() + picture(0, 1) + picture(1, 2, rows=(1,))
    save("mpv", "lacking.m1v", lacking + picture(2, 2) + END, verdict="truncated", length=len(lacking))
    save("mpv", "lacking-last.m1v", lacking + END, verdict="truncated", length=len(lacking))
    strange = b"".join(picture(n, 1, rows=()) + b"".join(b"\0\0\1" + bytes((row, 0x28)) + noise(90, n * 9 + row) for row in (1, 2)) for n in range(3))
    save("mpv", "unknown.m1v", sequence() + strange + END, verdict="unverified", length=len(sequence() + strange) + 4,
         why="its slices are of an unknown kind")
    save("mpv", "cut.m1v", plain[:-30], verdict="truncated", length=len(plain) - 30, why=f"the image ends at {len(plain) - 30}, before the file does")
    reserved = plain + b"\0\0\1\xb0" + noise(100, 7)
    save("mpv", "reserved.m1v", reserved, verdict="unverified", length=len(plain))
    save("mpv", "rows.m1v", plain + picture(3, 2, rows=(2, 1)), verdict="truncated", length=len(plain) + len(picture(3, 2, rows=())))
    save("mpv", "program.m2v", video(tail=b"\0\0\1\xba" + bytes.fromhex("21000100018000c1") + noise(50, 8)), verdict="reject")
    packet = b"\0\0\1\xe0" + struct.pack(">H", 60) + noise(60, 8)
    save("mpv", "packets.m2v", video(tail=packet + packet), verdict="reject")
    transport = bytearray(video(groups=8))
    transport[100::188] = b"\x47" * len(transport[100::188])
    save("mpv", "transport.m2v", bytes(transport), verdict="reject", why="packets of a transport stream at 0")
    for where, value in ((3, 0xb4), (4, 0), (7, 0), (10, 0)):
        bad = bytearray(video())
        bad[where] = value
        save("mpv", f"head-{where}.m1v", bytes(bad), verdict="reject", why="no sequence header at 0")
    bad = bytearray(video())
    bad[20 + 5] |= 0x38
    save("mpv", "picture.m1v", bytes(bad), verdict="reject", why="no video at 20")
    save("mpv", "random.m1v", sequence() + noise(3000, 9), verdict="reject")
