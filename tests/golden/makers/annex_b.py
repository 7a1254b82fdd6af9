"""H.264 and H.265 without a container, unit by unit; what slices code is noise."""
import random

from makers.common import save


def noise(count, seed):
    return random.Random(seed).randbytes(count)


class Bits:
    def __init__(self):
        self.text = ""

    def put(self, count, value):
        self.text += format(value, f"0{count}b") if count else ""
        return self

    def golomb(self, *values):
        for value in values:
            text = format(value + 1, "b")
            self.text += "0" * (len(text) - 1) + text
        return self

    def payload(self, rest=b""):
        """With a stop bit, the bytes `rest`, and what prevents start codes."""
        text = self.text + "1"
        data = bytes(int(text[i:i + 8].ljust(8, "0"), 2) for i in range(0, len(text), 8)) + rest
        out, zeros = bytearray(), 0
        for byte in data:
            if zeros == 2 and byte < 4:
                out.append(3)
                zeros = 0
            out.append(byte)
            zeros = 0 if byte else zeros + 1
        return bytes(out)


LONG, SHORT = b"\0\0\0\1", b"\0\0\1"


def coded(count, seed):
    return noise(count, seed).replace(b"\0", b"\x80")


def avc_sequence(profile=66, width=4, height=3, lists=False):
    bits = Bits().put(8, profile).put(8, 0xc0).put(8, 30).golomb(0)
    if profile >= 100:
        bits.golomb(1, 0, 0).put(1, 0).put(1, lists)
        if lists:
            bits.put(1, 1).golomb(*[1 if i % 2 else 2 for i in range(16)])
            bits.put(1, 1).golomb(16)  # the last number becomes zero
            bits.put(6, 0)
    bits.golomb(0, 2, 1).put(1, 0).golomb(width - 1, height - 1).put(1, 1).put(1, 1).put(1, 0).put(1, 0)
    return LONG + b"\x67" + bits.payload()


def avc_pictures(number=0):
    return LONG + b"\x68" + Bits().golomb(number, 0).put(2, 0).golomb(0, 0, 0).put(3, 0).golomb(0, 0, 0).put(3, 0).payload()


def avc_slice(seed, intra=False, pictures=0, start=SHORT, first=0, count=90):
    return start + (b"\x65" if intra else b"\x41") + Bits().golomb(first, 7 if intra else 5, pictures).payload(coded(count, seed))


def hevc_unit(kind, bits, rest=b"", start=LONG, time=1):
    return start + bytes([kind << 1, time]) + bits.payload(rest)


def hevc_sets(layers=0, width=96, height=64):
    first = hevc_unit(32, Bits().put(16, 0x0c01).put(16, 0xffff).put(32, 0x01600000))
    bits = Bits().put(4, 0).put(3, layers).put(1, 1).put(8, 1).put(32, 0x60000000).put(48, 0x900000000000).put(8, 30)
    if layers:
        bits.put(2, 3).put(2 * 7, 0).put(44, 5).put(44, 0).put(8, 30)
    bits.golomb(0, 1, width, height).put(1, 0).golomb(0, 0, 4).put(8, 0x5a)
    pictures = hevc_unit(34, Bits().golomb(0, 0).put(7, 0))
    return first, hevc_unit(33, bits), pictures


def hevc_slice(seed, kind=1, start=SHORT, count=90):
    bits = Bits().put(1, 1)
    if kind >= 16:
        bits.put(1, 0)
    return hevc_unit(kind, bits.golomb(0).put(5, 9), coded(count, seed), start)


def make():
    why = "no unit at {}, and the number of units is not stored"
    sets = avc_sequence() + avc_pictures()
    film = sets + avc_slice(1, True) + b"".join(avc_slice(i) for i in range(2, 9))
    ended = film + SHORT + b"\x0a" + SHORT + b"\x0b"
    save("h264", "ended.h264", ended, unchecked=len(sets))
    for name, profile, lists in (("main", 77, False), ("high", 100, False), ("lists", 100, True)):
        data = avc_sequence(profile, lists=lists) + avc_pictures(3) + b"".join(avc_slice(i, i == 0, 3) for i in range(6))
        save("h264", name + ".h264", data, verdict="unverified", length=len(data), why=why.format(len(data)))
    delimited = b"".join(LONG + b"\x09\xf0" + (sets if i % 3 == 0 else b"") + avc_slice(i, i % 3 == 0) for i in range(9))
    save("h264", "delimited.h264", delimited + bytes(900), verdict="unverified", length=len(delimited), why=why.format(len(delimited)))
    save("h264", "padded.h264", film + bytes(40) + avc_slice(20, start=LONG), verdict="unverified")
    # Another file begins at a sector.
    filled = film + bytes(-len(film) % 512)
    save("h264", "followed.h264", filled + film, verdict="unverified", length=len(film), why=why.format(len(film)))
    # Damage.
    last = len(film) - 94
    save("h264", "wiped.h264", film[:last + 50] + bytes(600), verdict="unverified", length=last + 50)
    broken = film[:last + 40] + b"\0\0\2" + film[last + 43:]
    at = film.rindex(SHORT)
    save("h264", "broken.h264", broken, verdict="truncated", length=at, why=f"an invalid unit at {at}")
    other = film + avc_slice(30, pictures=9) + avc_slice(31)
    save("h264", "strange.h264", other, verdict="truncated", length=len(film), why=f"an invalid unit at {len(film)}")
    save("h264", "packets.h264", film + b"\0\0\1\xe0" + noise(300, 40), verdict="reject", why=f"a packet at {len(film)}")
    long = film + b"".join(avc_slice(i) for i in range(40, 48))
    save("h264", "packets-after.h264", long + b"\0\0\1\xe0" + noise(300, 40), verdict="unverified", length=len(long), why=why.format(len(long)))
    changed = film + avc_sequence(100) + avc_pictures() + avc_slice(50, True) + avc_slice(51)
    save("h264", "changed.h264", changed, verdict="unverified", length=len(film), why=why.format(len(film)))
    save("h264", "short.h264", sets + avc_slice(1, True), verdict="reject")
    save("h264", "sets.h264", avc_pictures() + avc_sequence() + film, verdict="reject", why="no parameter set at 0")

    first, sequence, pictures = hevc_sets()
    sets = first + sequence + pictures
    film = sets + hevc_slice(1, 19) + b"".join(hevc_slice(i) for i in range(2, 9))
    save("h265", "ended.h265", film + hevc_unit(36, Bits())[:6] + hevc_unit(37, Bits())[:6], unchecked=len(sets))
    layered = b"".join(hevc_sets(1)) + b"".join(hevc_slice(i, 20 if i == 0 else 0) for i in range(5))
    save("h265", "layers.h265", layered, verdict="unverified", length=len(layered), why=why.format(len(layered)))
    delimiter = hevc_unit(35, Bits().put(3, 2))
    delimited = b"".join(delimiter + (sets if i % 3 == 0 else b"") + hevc_slice(i, 21 if i % 3 == 0 else 1) for i in range(9))
    save("h265", "delimited.h265", delimited + bytes(900), verdict="unverified", length=len(delimited), why=why.format(len(delimited)))
    other = film + hevc_unit(47, Bits()) + hevc_slice(31)
    save("h265", "strange.h265", other, verdict="truncated", length=len(film), why=f"an invalid unit at {len(film)}")
    changed = film + first[:-1] + b"\x61" + sequence + pictures + hevc_slice(1, 19) + hevc_slice(2)
    save("h265", "changed.h265", changed, verdict="unverified", length=len(film), why=why.format(len(film)))
    save("h265", "short.h265", sets + hevc_slice(1, 19), verdict="reject")
    save("h265", "sets.h265", sequence + film, verdict="reject", why="no parameter set at 0")
