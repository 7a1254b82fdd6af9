"""VMDK: sparse extents, and streams of grains packed by Python's zlib."""
import random, struct, zlib

from makers.common import save
from makers.elf import code

DESCRIPTION = b'# Disk DescriptorFile\nversion=1\ncreateType="monolithicSparse"\n'


def header(packed, directory, overhead, backup=0, capacity=32):
    data = b"KDMV" + struct.pack("<IIQQQQIQQQB", 3 if packed else 1, 0x30001 if packed else 3, capacity, 8, 1, 1, 4, backup, directory, overhead, 0)
    return (data + b"\n \r\n" + struct.pack("<H", packed)).ljust(512, b"\0") + DESCRIPTION.ljust(512, b"\0")


def sparse(places=(4, 12, 0, 1), grains=2):
    """header, description, directory, table, grains"""
    return (header(0, 2, 4) + struct.pack("<I", 3).ljust(512, b"\0") + struct.pack("<4I", *places).ljust(512, b"\0") + code(4096 * grains))


def marker(sectors, kind, data=b""):
    return struct.pack("<QII", sectors, 0, kind).ljust(512, b"\0") + data


def grain(place, seed):
    data = zlib.compress(random.Random(seed).randbytes(500) + bytes(3596))
    out = struct.pack("<QI", place, len(data)) + data
    return out + bytes(-len(out) % 512)


def stream():
    data = header(1, (1 << 64) - 1, 2) + grain(0, 1) + grain(16, 2) + marker(1, 1, bytes(512)) + marker(1, 2, bytes(512))
    return data + marker(1, 3, header(1, 9, 2)[:512]) + marker(0, 0)


def make():
    plain = sparse()
    save("vmdk", "sparse.vmdk", plain, verdict="unverified", length=len(plain), why=f"the tables agree, but the grains up to {len(plain)} cannot be verified")
    packed = stream()
    save("vmdk", "stream.vmdk", packed)
    save("vmdk", "sparse-cut.vmdk", plain[:-100], verdict="truncated", length=len(plain) - 100)
    save("vmdk", "table.vmdk", sparse((4, 2, 0, 1)), verdict="truncated", length_min=512, length_max=1540, why="no grain table at 1540")
    second = 1024 + len(grain(0, 1))
    for name, junk in (("random", random.Random(8).randbytes(3000)), ("ones", b"\0" * 100 + b"\1" * 2900), ("text", b"nothing but words, " * 150)):
        save("vmdk", f"stream-{name}.vmdk", packed[:second] + junk, verdict="truncated", length=second, why=f"no valid marker at {second}")
    qemu = header(1, 9, 2) + grain(0, 1) + bytes(512)
    save("vmdk", "stream-qemu.vmdk", qemu, verdict="unverified", length=len(qemu), why=f"zeros instead of a footer after the grains, before {len(qemu)}")
    room = 1024 + 4096
    save("vmdk", "stream-qemu-room.vmdk", qemu.ljust(room, b"\0"), verdict="unverified", length=room, why=f"zeros instead of a footer after the grains, before {room}")
    save("vmdk", "stream-zeros.vmdk", packed[:second] + bytes(4000), verdict="truncated", length=second, why=f"no valid marker at {second}")
    save("vmdk", "stream-cut.vmdk", packed[:-512], verdict="truncated", length=len(packed) - 512)
    for where, value, why in ((4, 9, "no magic and version at 0"), (73, 13, "no line ends at 0"), (20, 9, "impossible sizes at 0")):
        wrong = bytearray(plain)
        wrong[where] = value
        save("vmdk", f"head-{where}.vmdk", bytes(wrong), verdict="reject", why=why)
