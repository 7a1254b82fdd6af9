"""Dolby Digital: frames of noise with right CRCs."""
import random, struct

from makers.common import save


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x8005 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def seal(body):
    return body + struct.pack(">H", crc16(body[2:]))


def ac3(seed, size=768, rate=0, row=20):
    return seal(b"\x0b\x77" + random.Random(seed).randbytes(2) + bytes([rate << 6 | row, 0x40]) + random.Random(-seed).randbytes(size - 8))


def eac3(seed, size=416):
    return seal(b"\x0b\x77" + struct.pack(">H", size // 2 - 1) + b"\x72\x87" + random.Random(seed).randbytes(size - 8))


def make():
    whole = b"".join(ac3(i) for i in range(1, 6))
    end = f"no frame at {len(whole)}, and the number of frames is not stored"
    save("ac3", "film.ac3", whole, verdict="unverified", length=len(whole), extension="ac3", why=end)
    save("ac3", "film-zeros.ac3", whole + bytes(900), verdict="unverified", length=len(whole), why=end)
    save("ac3", "44100.ac3", b"".join(ac3(i, 278, 1, 8) + ac3(-i, 280, 1, 9) for i in range(1, 4)), verdict="unverified", length=1674, extension="ac3")
    save("ac3", "32000.ac3", b"".join(ac3(i, 384, 2, 8) for i in range(1, 4)), verdict="unverified", length=1152, extension="ac3")
    plus = b"".join(eac3(i) for i in range(1, 6))
    save("ac3", "plus.eac3", plus, verdict="unverified", length=len(plus), extension="eac3")
    save("ac3", "cut.ac3", whole[:2000], verdict="truncated", length=2000, why="the image ends at 2000, before the file does")
    save("ac3", "random.ac3", whole[:2000] + random.Random(7).randbytes(3000), verdict="truncated", length=1536, why="wrong CRC of the frame at 1536")
    save("ac3", "zeros.ac3", whole[:2000] + bytes(3000), verdict="truncated", length=1536, why="wrong CRC of the frame at 1536")
    save("ac3", "one.ac3", whole[:768] + bytes(400), verdict="reject", why="no intact frame at 768 after 1 others")
    save("ac3", "rate.ac3", whole[:4] + b"\xc0" + whole[5:], verdict="reject", why="no frame at 0")
    save("ac3", "version.ac3", whole[:5] + b"\x90" + whole[6:], verdict="reject", why="no frame at 0")
