"""VHDX: only what is lost; regions are of a MiB each, so that whole ones are made by tests/unit/test_carver_vhdx.c."""
import struct

from makers.common import save


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def header(version=1):
    data = bytearray(struct.pack("<4sIQ48xHHIQ", b"head", 0, 7, 0, version, 1 << 20, 1 << 20).ljust(4096, b"\0"))
    struct.pack_into("<I", data, 4, crc32c(data))
    return bytes(data)


def make():
    front = b"vhdxfile" + "A golden writer".encode("utf-16-le")
    save("vhdx", "cut.vhdx", front.ljust(65536, b"\0") + header() + b"\1" * 100, verdict="truncated", length=65536 + 4196,
         why=f"the image ends at {65536 + 4196}, before the file does")
    save("vhdx", "front.vhdx", front, verdict="reject", why="no header at 65536 or 131072")
