"""Musepack audio, packet by packet and frame by frame; the audio is noise."""
import random, struct, zlib

from makers.common import save


def packet(key, data):
    for count in (1, 2, 3):
        size = 2 + count + len(data)
        if size < 1 << 7 * count:
            break
    return key + bytes(size >> 7 * i & 0x7F | (0x80 if i else 0) for i in reversed(range(count))) + data


def packets(end=True):
    rng, stream = random.Random(1), b"\x08\x84\x88\x74\x00\x1b\x07"
    out = b"MPCK" + packet(b"SH", struct.pack(">I", zlib.crc32(stream)) + stream) + packet(b"RG", bytes(9)) + packet(b"EI", bytes(4)) + packet(b"SO", bytes(4))
    for size in (90, 300, 700):
        out += packet(b"AP", rng.randbytes(size))
    return out + packet(b"ST", bytes(12)) + (packet(b"SE", b"") if end else b"")


def frames(sizes):
    rng = random.Random(2)
    bits = "0" * 8 + "".join(f"{size:020b}" + "".join(rng.choice("01") for _ in range(size)) for size in sizes) + "00000010001"
    bits += "0" * (-len(bits) % 32)
    words = [int(bits[i:i + 32], 2) for i in range(0, len(bits), 32)]
    return b"MP+\7" + struct.pack("<I", len(sizes)) + b"\xea\x18\xa0\x5c" + bytes(12) + struct.pack(f"<{len(words)}I", *words)


def make():
    whole = packets()
    save("mpc", "packets.mpc", whole)
    tag = b"TAG" + b"golden".ljust(125, b"\0")
    save("mpc", "tag.mpc", whole + tag, sequence="yes", unchecked=len(whole) + 3)
    old = frames([900, 1201, 77, 3000])
    save("mpc", "frames.mpc", old, verdict="unverified", length=len(old), why=f"nothing verifies the 4 frames before {len(old)}")
    for name, at, value in (("band", 11, b"\x6a"), ("last", 22, b"\x2c\x49"), ("zeros", 20, b"\xb7")):
        save("mpc", f"head-{name}.mpc", old[:at] + value + old[at + len(value):], verdict="reject", why="no header at 0")
    save("mpc", "cut.mpc", whole[:500], verdict="truncated", length=500, why="the image ends at 500, before the file does")
    save("mpc", "frames-cut.mpc", old[:300], verdict="truncated", length_min=250)
    save("mpc", "random.mpc", whole[:400] + random.Random(7).randbytes(3000), verdict="truncated", length_min=100)
    save("mpc", "no-end.mpc", packets(False) + bytes(60), verdict="truncated", length=len(packets(False)))
    save("mpc", "first.mpc", b"MPCKSH\2" + bytes(80), verdict="reject", why="no packet at 4")
    save("mpc", "no-frames.mpc", old[:4] + bytes(4) + old[8:], verdict="reject", why="no header at 0")
    save("mpc", "version.mpc", b"MP+\5" + old[4:], verdict="reject", why="no header at 0")
    save("mpc", "no-frame.mpc", old[:24] + bytes(300), verdict="reject", why="no frame at 25")
