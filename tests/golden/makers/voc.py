"""Creative Voice, block by block."""
import struct

from makers.common import save
from makers.sound import noise, samples


def head(version=0x10A):
    return b"Creative Voice File\x1a" + struct.pack("<HHH", 26, version, (~version + 0x1234) & 0xFFFF)


def block(kind, data):
    return bytes([kind]) + len(data).to_bytes(3, "little") + data


def make():
    data = bytes((v >> 8) + 128 for v in samples(400, 1))
    sound = block(1, b"\xa6\0" + data)
    plain = head() + sound + b"\0"
    save("voc", "plain.voc", plain, unchecked=30, unverified=f"32-{len(plain) - 1}")
    wiped = plain[:200] + bytes(len(plain) - 200)
    save("voc", "wiped.voc", wiped, verdict="unverified", length=len(plain), why=f"the last samples before {len(plain) - 1} are all equal")
    silent = head() + block(1, b"\xa6\0" + data + bytes(9)) + b"\0"
    save("voc", "zeros.voc", silent + bytes(90), verdict="unverified", length=len(silent), why=f"the last samples before {len(silent) - 1} are zeros, as what follows")
    kinds = head() + block(8, bytes(4)) + sound + block(2, data) + block(3, b"\x10\x20\xa6") + block(4, b"\1\0") + \
        block(5, b"text\0") + block(6, b"\2\0") + sound + block(7, b"") + b"\0"
    save("voc", "kinds.voc", kinds, unchecked=30)
    save("voc", "new.voc", head(0x114) + block(9, struct.pack("<IBBHI", 8000, 8, 1, 0, 0) + data) + b"\0", unchecked=30)
    # SoX does not count 8 bytes of the head before the samples.
    sox = bytearray(block(9, struct.pack("<IBBHI", 8000, 8, 1, 0, 0) + data))
    sox[1:4] = (len(sox) - 12).to_bytes(3, "little")
    save("voc", "sox.voc", head(0x114) + bytes(sox) + b"\0", unchecked=30)
    quiet = bytearray(block(9, struct.pack("<IBBHI", 8000, 16, 1, 4, 0) + data * 40 + bytes(8)))
    quiet[1:4] = (len(quiet) - 12).to_bytes(3, "little")
    save("voc", "sox-silence.voc", head(0x114) + bytes(quiet) + b"\0" + b"\xff" * 90, verdict="unverified", length=26 + len(quiet) + 1)
    save("voc", "no-end.voc", head() + sound + b"\xff" * 50, verdict="truncated", length=26 + len(sound))
    save("voc", "cut.voc", plain[:300], verdict="truncated", length=300)
    clusters = head() + block(1, b"\xa6\0" + data * 9) + block(1, b"\xa6\0" + data * 3) + b"\0"
    save("voc", "clusters.voc", clusters, verdict="unverified", length=len(clusters), why=f"nothing verifies the last samples before {len(clusters) - 1}")
    long = block(1, b"\xa6\0" + data * 20)
    save("voc", "cut-random.voc", (head() + long)[:3000] + noise(5500), verdict="truncated", length_min=2000, length_max=4100)
    save("voc", "block.voc", head() + block(3, b"\1") + sound, verdict="reject", why="no block at 26")
    save("voc", "header.voc", b"Creative Voice File\x1a" + bytes(6) + sound, verdict="reject", why="no header at 0")
