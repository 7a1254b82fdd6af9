"""Core Audio Format, chunk by chunk: sines, and packets of noise."""
import math, random, struct

from makers.common import save


def chunk(kind, data, length=None):
    return kind + struct.pack(">q", len(data) if length is None else length) + data


def head(coding=b"lpcm", flags=2, packet=2, frames=1, channels=1, bits=16, rate=8000.0):
    return b"caff\0\1\0\0" + chunk(b"desc", struct.pack(">d4sIIIII", rate, coding, flags, packet, frames, channels, bits))


def sine(count=700, form="<h", scale=9000):
    return b"".join(struct.pack(form, int(scale * math.sin(i / 7))) for i in range(count))


def sound(data, length=None):
    return chunk(b"data", b"\0\0\0\0" + data, length)


def number(value):
    out = bytes((value & 0x7f,))
    while value >> 7:
        value >>= 7
        out = bytes((value & 0x7f | 0x80,)) + out
    return out


def packets(lengths, frames=None, entries=None):
    body = b"".join(number(n) + (number(frames) if frames else b"") for n in lengths)
    return chunk(b"pakt", struct.pack(">qqii", entries or len(lengths), 4096 * len(lengths), 0, 0) + body)


def texts(**pairs):
    return chunk(b"info", struct.pack(">I", len(pairs)) + b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in pairs.items()))


def make():
    rng = random.Random(4)
    title = texts(title="A golden sound", artist="Nobody")
    start = len(head() + title) + 16
    save("caf", "little.caf", head() + title + sound(sine()), title="A golden sound", unverified=f"{start}-{start + 1400}")
    save("caf", "big.caf", head(flags=0) + chunk(b"chan", struct.pack(">III", 100 << 16 | 1, 0, 0)) + sound(sine(form=">h")))
    save("caf", "float.caf", head(flags=3, packet=4, bits=32) + sound(b"".join(struct.pack("<f", math.sin(i / 9)) for i in range(400))) + title,
         title="A golden sound")
    save("caf", "free.caf", head() + chunk(b"free", bytes(100)) + sound(sine()) + chunk(b"free", bytes(60)), sequence="yes")
    lengths = [rng.randrange(90, 300) for _ in range(12)]
    coded = rng.randbytes(sum(lengths))
    aac = head(b"aac ", 0, 0, 1024, 2, 0, 44100.0) + chunk(b"kuki", rng.randbytes(39))
    save("caf", "coded.caf", aac + sound(coded) + packets(lengths))
    save("caf", "varying.caf", head(b"opus", 0, 0, 0, 1, 0) + sound(coded) + packets(lengths, 960))
    save("caf", "constant.caf", head(b"ima4", 0, 34, 64, 1, 0) + sound(coded[:340]) + chunk(b"pakt", struct.pack(">qqii", 10, 640, 0, 0)))
    lost = aac + packets(lengths) + sound(coded)
    save("caf", "packets-first.caf", lost, verdict="unverified", length=len(lost), why=f"the bytes before {len(lost)} cannot be verified")
    odd = aac + packets([1000]) + sound(coded[:1000])
    assert len(odd) % 2
    save("caf", "even.caf", odd + b"\0", verdict="unverified", length=len(odd) + 1, why=f"the bytes before {len(odd)} cannot be verified")
    save("caf", "zeros-behind.caf", odd + bytes(2), verdict="unverified", length=len(odd), why=f"the bytes before {len(odd)} cannot be verified")
    wrong = aac + sound(coded[:-9]) + packets(lengths)
    save("caf", "longer.caf", wrong, verdict="unverified", length=len(wrong), why=f"the packets are longer than the audio at {len(aac) + 16}")
    for name, bad in (("count", packets(lengths, entries=13)), ("texts", chunk(b"info", struct.pack(">I", 3) + b"a\0b\0")), ("fill", chunk(b"free", coded[:70]))):
        data = aac + sound(coded) + bad
        save("caf", f"unvouched-{name}.caf", data, verdict="unverified", length=len(data))
    closed = head() + sound(sine(), -1)
    save("caf", "endless.caf", closed, verdict="unverified", length_min=len(head()) + 12, length_max=len(closed), why=f"the audio at {len(head()) + 12} has no length")
    plain = head() + sound(sine(3000))
    save("caf", "cut.caf", plain[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("caf", "random.caf", plain[:3000] + rng.randbytes(len(plain) - 3000), verdict="truncated", length_min=2500, length_max=4100)
    save("caf", "no-sound.caf", head() + title + b"nothing of it", verdict="truncated", length=len(head() + title), why=f"no audio before {len(head() + title)}")
    save("caf", "head-alone.caf", head() + bytes(100), verdict="reject", why="no chunk at 52")
    for where, value in ((5, 2), (19, 31), (20, 0), (36, 9), (46, 9), (51, 99)):
        bad = bytearray(plain[:200])
        bad[where] = value
        save("caf", f"head-{where}.caf", bytes(bad), verdict="reject", why="no description at 8")
