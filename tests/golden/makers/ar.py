"""ar archives and libraries, by hand; the object files in them are the smallest that are whole."""
import struct

from makers.common import save
from makers.packing import junk, text


def member(name, data, time=1709251198):
    head = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, time, 0, 0, 0o100644, len(data))
    return head + data + (b"\n" if len(data) & 1 else b"")


def elf(code):
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(code), 0, 64, 0, 0, 64, 2, 1)
    return head + code + bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64, 9, 0, 0, 1, 0)


def elf32(code):
    """Big-endian."""
    head = b"\x7fELF\1\2\1" + bytes(9) + struct.pack(">HHIIIIIHHHHHH", 1, 8, 1, 0, 0, 52 + len(code), 0, 52, 0, 0, 40, 2, 1)
    return head + code + bytes(40) + struct.pack(">10I", 1, 3, 0, 0, 52, 9, 0, 0, 1, 0)


def coff(code):
    strings = b"a_long_symbol\0"
    return struct.pack("<HHIIIHH", 0x8664, 0, 0, 20 + len(code), 1, 0, 0) + code + junk(18) + struct.pack("<I", 4 + len(strings)) + strings


def macho(code):
    strings = b"\0_first\0_second\0"
    command = struct.pack("<IIIIII", 2, 24, 56 + len(code), 0, 56 + len(code), len(strings))
    return struct.pack("<IIIIIIII", 0xFEEDFACF, 0x1000007, 3, 1, 1, 24, 0, 0) + command + code + strings


def imported(name):
    names = name + b"\0lib.dll\0"
    return struct.pack("<HHHHIIHH", 0, 0xffff, 0, 0x8664, 0, len(names), 1, 4) + names


def library(objects, index=b"/", names=b"first\0second\0", width=">I", extra=b"", beyond=0):
    size = struct.calcsize(width)
    table_len = size * (1 + len(objects)) + len(names)
    at = 8 + 60 + table_len + (table_len & 1) + len(extra)
    offsets, members = [], b""
    for i, data in enumerate(objects):
        offsets.append(at + len(members))
        members += member(b"o%d.o/" % i, data)
    if beyond:
        offsets[-1] = beyond
    table = struct.pack(width, len(objects)) + b"".join(struct.pack(width, offset) for offset in offsets) + names
    return b"!<arch>\n" + member(index, table, 0) + extra + members


def make():
    # Go pads with zeros.
    package = b"!<arch>\n" + member(b"__.PKGDEF", b"go object linux amd64 go1.19\n\n") + member(b"_go_.o", b"go object linux amd64 go1.19\n!" + junk(401))
    assert package[-1] == 10
    save("ar", "go.a", package[:-1] + b"\0" + b"\xff" * 40, verdict="unverified", length=len(package))
    code = junk(90)
    whole = library([elf(code), elf(code[:41])])
    save("ar", "gnu.a", whole, extension="a", time=1709251198, why="")
    # Windows' linkers write -1 for no time.
    save("ar", "no-time.a", whole.replace(b"%-12d" % 0, b"%-12d" % -1), extension="a")
    save("ar", "gnu-64.a", library([elf(code)], index=b"/SYM64/", width=">Q"))
    save("ar", "big-endian.a", library([elf32(code)]))
    save("ar", "objects.lib", library([coff(code), coff(code[:30])], extra=member(b"/", struct.pack("<I", 0), 0)), extension="lib")
    save("ar", "import.lib", library([imported(b"first"), imported(b"second")], extra=member(b"/", struct.pack("<I", 0), 0)), extension="lib")
    data = elf(code)
    table = struct.pack("<III", 8, 0, 0) + struct.pack("<I", 8) + b"first\0\0\0"
    at = 8 + 60 + len(table)
    save("ar", "bsd.a", b"!<arch>\n" + member(b"__.SYMDEF", struct.pack("<III", 8, 0, at) + table[12:]) + member(b"o0.o", data))
    at += 20
    save("ar", "bsd-long.a", b"!<arch>\n" + member(b"#1/20", b"__.SYMDEF SORTED\0\0\0\0" + struct.pack("<III", 8, 0, at) + table[12:]) + member(b"#1/8", b"name.o\0\0" + data))
    index = struct.pack("<III", 8, 0, 8 + 60 + 44) + table[12:]
    save("ar", "mach-o.a", b"!<arch>\n" + member(b"#1/20", b"__.SYMDEF SORTED\0\0\0\0" + index) + member(b"#1/8", b"name.o\0\0" + macho(code)))
    words = text(301)
    plain = b"!<arch>\n" + member(b"a.txt/", words) + member(b"b.txt/", words[:100])
    save("ar", "plain.ar", plain, verdict="unverified", length=len(plain), why=f"no member at {len(plain)}, and nothing marks the end")
    objects = b"!<arch>\n" + member(b"a.o/", elf(bytes(40))) + member(b"b.o/", elf(bytes(60)))
    save("ar", "objects.ar", objects + member(b"c.txt/", words), verdict="unverified", length=len(objects) + 60 + len(words) + len(words) % 2,
         embedded=f"68 {128 + len(elf(bytes(40)))} {len(objects) + 60}")
    save("ar", "plain-junk.ar", plain + junk(900, 2), verdict="unverified", length=len(plain))
    save("ar", "odd-end.ar", b"!<arch>\n" + member(b"a.txt/", words)[:-1] + b"\1", verdict="unverified", length=8 + 60 + 301)
    save("ar", "cut.a", whole[:250], verdict="truncated", length=250)
    first = whole.index(b"o0.o/")
    second = whole.index(b"o1.o/")
    save("ar", "cut-random.a", whole[:second - 40] + junk(1500, 2), verdict="truncated", length=first + 60,
         why=f"no member at {second}, but the index names one at {second}")
    save("ar", "cut-in-last.a", whole[:second + 90] + junk(1500, 2), verdict="truncated", length=second + 60, why=f"no sections in the last member, at {second + 60}")
    save("ar", "cut-zeros.a", whole[:second - 40] + bytes(1500), verdict="truncated", length=first + 60)
    long = library([elf(code), elf(junk(1500))])
    save("ar", "wiped.a", long[:1024] + bytes(len(long) - 1024), verdict="truncated", length=long.index(b"o1.o/") + 60)
    save("ar", "index-wrong.a", library([elf(code)], beyond=4000), verdict="truncated")
    save("ar", "no-size.a", b"!<arch>\n" + whole[8:56] + b"x" * 10 + whole[66:], verdict="reject", why="no first member at 8")
    save("ar", "package.a", b"!<arch>\n" + member(b"debian-binary", b"2.0\n"), verdict="reject", why="a Debian package at 0")
    save("ar", "text.a", b"!<arch>\nis how such a file begins" + text(400), verdict="reject")
