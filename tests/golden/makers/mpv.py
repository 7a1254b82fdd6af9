"""MPEG video: headers by hand, slices are noise without start codes."""
import random, struct

from makers.common import save

END = b"\0\0\1\xb7"


def noise(length, seed):
    rng = random.Random(seed)
    return bytes(rng.randrange(1, 256) for _ in range(length))


def sequence(width=48, height=32, second=False, matrix=False):
    out = b"\0\0\1\xb3" + struct.pack(">I", width << 20 | height << 8 | 0x13)[:4] + struct.pack(">I", 1000 << 14 | 1 << 13 | 20 << 3 | matrix << 1)
    out += bytes([8] * 64) if matrix else b""
    return out + (b"\0\0\1\xb5\x14\x8a\0\1\0\0" if second else b"")


def picture(number, kind, rows=(1, 2), second=False, length=90):
    out = b"\0\0\1\0" + struct.pack(">I", number << 22 | kind << 19 | 0xffff << 3)
    out += b"\0\0\1\xb5\x8f\xff\xf3\x41\x80" if second else b""
    return out + b"".join(b"\0\0\1" + bytes((row, 0x28)) + noise(length, number * 9 + row) for row in rows)


def video(second=False, groups=2, tail=END, user=b"", **options):
    out = b""
    for group in range(groups):
        out += sequence(second=second) + (b"\0\0\1\xb2" + user if user and not group else b"") + b"\0\0\1\xb8\0\x08\0\x40"
        out += b"".join(picture(n, 1 if n == 0 else 2 + n % 2, second=second, **options) for n in range(3))
    return out + tail


def make():
    save("mpv", "first.m1v", video(user=b"encoded by nobody"), extension="m1v")
    xing = video().replace(sequence(), sequence()[:7] + b"\x19" + sequence()[8:]).replace(b"\xb8\0\x08\0\x40", b"\xb8\0\0\0\0")
    save("mpv", "xing.m1v", xing, extension="m1v")
    save("mpv", "second.m2v", video(second=True), extension="m2v")
    save("mpv", "matrix.m1v", sequence(matrix=True) + picture(0, 1) + picture(1, 2) + END)
    save("mpv", "same-row.m1v", video(rows=(1, 1, 2)))
    save("mpv", "stuffed.m1v", video(tail=bytes(40) + END))
    save("mpv", "one-slice.m1v", sequence() + b"".join(picture(n, 1, rows=(1,)) for n in range(3)) + END)
    plain = video(tail=b"")
    last = plain.rindex(b"\0\0\1")
    lost = dict(verdict="unverified", extension="m1v", why=f"no end code: the last start code is at {last}")
    save("mpv", "no-end-zeros.m1v", plain + bytes(2000), length=len(plain), **lost)
    save("mpv", "no-end-random.m1v", plain + noise(9000, 5), length=last, **lost)
    save("mpv", "next.m1v", plain + noise(-len(plain) % 512 + 512, 6) + video(), length=last, **lost)
    save("mpv", "cut.m1v", plain[:-30], verdict="truncated", length=len(plain) - 30, why=f"the image ends at {len(plain) - 30}, before the file does")
    reserved = plain + b"\0\0\1\xb0" + noise(100, 7)
    save("mpv", "reserved.m1v", reserved, verdict="unverified", length=len(plain))
    save("mpv", "rows.m1v", plain + picture(3, 2, rows=(2, 1)), verdict="unverified", length=len(plain) + len(picture(3, 2, rows=(2,))))
    save("mpv", "program.m2v", video(tail=b"\0\0\1\xba" + noise(50, 8)), verdict="reject")
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
