"""InnoDB's tablespaces, page by page."""
import struct

from makers.common import save
from makers.sound import noise

PAGE = 4096


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def page(number, content=b"", kind=0x45bf, full=False, length=PAGE, space=7):
    data = struct.pack(">IIIIQHQI", 0, number, 0xffffffff, 0xffffffff, 1000 + number, kind, 0, space) + content
    data = bytearray(data.ljust(length, b"\0"))
    if full:
        data[-4:] = struct.pack(">I", crc32c(data[:-4]))
    else:
        data[:4] = struct.pack(">I", crc32c(data[4:26]) ^ crc32c(data[38:-8]))
    return bytes(data)


def first(pages, flags, **options):
    empty = struct.pack(">IIHIH", 0, 0xffffffff, 0, 0xffffffff, 0)
    free = struct.pack(">IIHIH", 1, 0, 158, 0, 158)
    content = struct.pack(">IIIIII", 7, 0, pages, 64, flags, 5) + empty + free
    assert 38 + len(content) - 16 == 78
    return page(0, content, 8, **options)


def make():
    for name, full, flags in (("mysql", False, 0xe1), ("mariadb", True, 0x13)):
        data = b"".join([first(4, flags, full=full), page(1, full=full), bytes(PAGE), page(3, noise(3000, 3), full=full)])
        save("innodb", name + ".ibd", data, unchecked=3 * PAGE)
    whole = data
    old = whole[:-PAGE] + b"\1\2\3\4" + page(3, noise(3000, 3))[4:]
    save("innodb", "old.ibd", old, verdict="unverified", length=len(old), why=f"no known checksum of the last page, at {3 * PAGE}")
    small = [first(3, 0x25, length=2048), page(1, length=2048), page(2, noise(900), length=2048)]
    save("innodb", "compressed.ibd", b"".join(small), verdict="complete", unchecked=2 * 2048)
    save("innodb", "compressed-initial.ibd", b"".join(small).ljust(65536, b"\0"), sequence="yes", unchecked=50000)
    save("innodb", "empty.ibd", whole[:2 * PAGE] + bytes(2 * PAGE), verdict="unverified", length=4 * PAGE, why=f"only zeros in the pages from {2 * PAGE} on")
    save("innodb", "cut.ibd", whole[:2 * PAGE + 100], verdict="truncated", length=2 * PAGE + 100)
    for name, junk in (("random", noise(9000, 2)), ("text", b"Some text. " * 900)):
        save("innodb", f"cut-{name}.ibd", whole[:2 * PAGE] + junk, verdict="truncated", length=2 * PAGE, why=f"no page of the tablespace at {2 * PAGE}")
    save("innodb", "one.ibd", whole[:PAGE] + noise(9000, 4), verdict="reject", why=f"no page of the tablespace at {PAGE}")
    save("innodb", "kind.ibd", whole[:25] + b"\7" + whole[26:], verdict="reject", why="no head of a tablespace at 0")
    save("innodb", "space.ibd", whole[:37] + b"\6" + whole[38:], verdict="reject", why="no head of a tablespace at 0")
