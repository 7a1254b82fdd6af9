"""VHD images that grow: blocks of 4 KiB."""
import random, struct

from makers.common import save
from makers.elf import code

CREATED = 1200000000


def summed(data, at):
    return data[:at] + struct.pack(">I", ~sum(data) & 0xffffffff) + data[at + 4:]


def made(kind=3, blocks=(0, None, 1), tail=None):
    footer = b"conectix" + struct.pack(">IIQI4sI4sQQII", 2, 0x10000, 512, CREATED - 946684800, b"win ", 0xa0000, b"Wi2k", 1 << 20, 1 << 20, 0x10203, kind)
    footer = summed(footer.ljust(512, b"\0"), 64)
    header = b"cxsparse" + struct.pack(">QQIII", (1 << 64) - 1, 1536, 0x10000, len(blocks), 4096)
    header = summed(header.ljust(1024, b"\0"), 36)
    table = b"".join(struct.pack(">I", 0xffffffff if b is None else (2048 + b * 4608) // 512) for b in blocks).ljust(512, b"\xff")
    body = b"".join(b"\xff" * 512 + code(4096) for b in blocks if b is not None)
    return footer + header + table + body + (footer if tail is None else tail)


def make():
    plain = made()
    save("vhd", "plain.vhd", plain, time=CREATED)
    save("vhd", "difference.vhd", made(4))
    save("vhd", "empty.vhd", made(blocks=(None, None)))
    save("vhd", "cut.vhd", plain[:-600], verdict="truncated", length=len(plain) - 600)
    for name, junk in (("random", random.Random(6).randbytes(6000)), ("zeros", bytes(6000)), ("other", b"conectix" + bytes(504))):
        save("vhd", f"footer-{name}.vhd", made(tail=junk), verdict="truncated", length_min=2000, length_max=len(plain) - 512,
             why=f"no footer at {len(plain) - 512}")
    table = bytearray(plain)
    struct.pack_into(">I", table, 1536, 1)
    save("vhd", "table.vhd", bytes(table), verdict="truncated", length=1536, why="no table of blocks at 1536")
    for where, why in ((30, "no copy of a footer at 0"), (530, "no header at 512")):
        wrong = bytearray(plain)
        wrong[where] ^= 1
        save("vhd", f"sum-{where}.vhd", bytes(wrong), verdict="reject", why=why)
