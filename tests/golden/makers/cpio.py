"""cpio archives of each format, by hand."""
import struct

from makers.common import save
from makers.packing import junk, text

TIME = 1709251198


def new(name, data, magic=b"070701", pad=True):
    total = sum(data) if magic == b"070702" else 0
    fields = (1, 0o100644, 0, 0, 1, TIME if data else 0, len(data), 0, 0, 0, 0, len(name) + 1, total & 0xffffffff)
    head = magic + b"".join(b"%08X" % field for field in fields) + name + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def odc(name, data):
    head = b"070707" + b"%06o" * 7 % (1, 2, 0o100644, 0, 0, 1, 0) + b"%011o%06o%011o" % (TIME if data else 0, len(name) + 1, len(data))
    return head + name + b"\0" + data


def binary(name, data, order="<"):
    time = TIME if data else 0
    head = struct.pack(order + "13H", 0o70707, 1, 2, 0o100644, 0, 0, 1, 0, time >> 16, time & 0xffff, len(name) + 1, len(data) >> 16, len(data) & 0xffff)
    head += name + b"\0"
    return head + bytes(len(head) % 2) + data + bytes(len(data) % 2)


def archive(make, block=512):
    out = make(b"a.txt", text(901)) + make(b"dir", b"") + make(b"dir/b.txt", text(300)) + make(b"TRAILER!!!", b"")
    return out + bytes(-len(out) % block)


def make():
    whole = archive(new)
    first = len(new(b"a.txt", b""))
    third = len(new(b"a.txt", text(901)) + new(b"dir", b"") + new(b"dir/b.txt", b""))
    save("cpio", "newc.cpio", whole, time=TIME, why="", sequence="yes", embedded=f"{first} {third}",
         unverified=f"{first}-{first + 901} {third}-{third + 300}")
    save("cpio", "crc.cpio", archive(lambda name, data: new(name, data, b"070702")), sequence="yes", embedded=f"{first} {third}", unverified="none")
    save("cpio", "odc.cpio", archive(odc), time=TIME, sequence="yes")
    save("cpio", "binary.cpio", archive(binary), time=TIME, sequence="yes")
    save("cpio", "binary-big.cpio", archive(lambda name, data: binary(name, data, ">")), time=TIME, sequence="yes")
    first = len(new(b"a.txt", b""))
    second = len(new(b"a.txt", text(901)))
    link = new(b"link", b"file1", b"070702")
    link = link[:14] + b"0000a1ff" + link[22:102] + b"00000000" + link[110:]
    linked = link + new(b"TRAILER!!!", b"", b"070702")
    save("cpio", "crc-link.cpio", linked + bytes(-len(linked) % 512), sequence="yes")
    save("cpio", "cut.cpio", whole[:700], verdict="truncated", length=700)
    save("cpio", "cut-random.cpio", whole[:700] + junk(1500, 2), verdict="truncated", length=first, why=f"no header at {second}, or a wrong sum before it")
    save("cpio", "cut-zeros.cpio", whole[:700] + bytes(1500), verdict="truncated", length=first)
    save("cpio", "cut-other.cpio", whole[:700] + whole, verdict="truncated", length=first)
    crc = bytearray(archive(lambda name, data: new(name, data, b"070702")))
    crc[second + first + 3 + 150] ^= 1
    save("cpio", "sum-wrong.cpio", bytes(crc), verdict="truncated")
    save("cpio", "no-trailer.cpio", new(b"a", text(200)) + new(b"b", text(100)), verdict="truncated", length=len(new(b"a", text(200)) + new(b"b", text(100))))
    save("cpio", "not-hex.cpio", whole[:20] + b"G" + whole[21:], verdict="reject", why="no header, or no member after it, at 0")
    save("cpio", "not-octal.cpio", b"070707" + b"8" * 70 + text(300), verdict="reject")
    save("cpio", "name-unended.cpio", whole[:115] + b"x" + whole[116:], verdict="reject")
    save("cpio", "trailer-alone.cpio", new(b"TRAILER!!!", b"") + junk(200, 4), verdict="truncated", length=124)
    save("cpio", "binary-alone.cpio", binary(b"a", text(100))[:60] + junk(900, 5), verdict="reject")
    save("cpio", "random-behind.cpio", b"\xc7\x71" + junk(1000, 3), verdict="reject")
