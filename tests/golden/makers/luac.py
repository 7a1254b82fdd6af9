"""Compiled Lua, function by function: instructions are noise."""
import random, struct

from makers.common import save

MARK = b"\x19\x93\r\n\x1a\n"


class Writer:
    def __init__(self, version, order="<", size=8, integer=4):
        self.version, self.order, self.size, self.width = version, order, size, integer

    def pack(self, kind, value):
        return struct.pack(self.order + kind, value)

    def varint(self, value):
        out = [value & 0x7F | 0x80]
        while value := value >> 7:
            out.insert(0, value & 0x7F)
        return bytes(out)

    def int(self, value):
        return self.varint(value) if self.version == 0x54 else self.pack("I" if self.width == 4 else "Q", value)

    def long(self, value):
        return self.pack("I" if self.size == 4 else "Q", value)

    def text(self, value):
        length = len(value) + 1 if value is not None else 0
        if self.version == 0x54:
            return self.varint(length) + (value or b"")
        if self.version == 0x53:
            return (bytes([length]) if length < 0xFF else b"\xff" + self.long(length)) + (value or b"")
        return self.long(length) + (value + b"\0" if value is not None else b"")

    def header(self):
        big = self.order == ">"
        head = b"\x1bLua" + bytes([self.version, 0])
        if self.version <= 0x52:
            return head + bytes([not big, self.width, self.size, 4, 8, 0]) + (MARK if self.version == 0x52 else b"")
        sizes = bytes([self.width, self.size]) if self.version == 0x53 else b""
        return head + MARK + sizes + bytes([4, 8, 8]) + self.pack("q", 0x5678) + self.pack("d", 370.5) + b"\1"

    def constants(self):
        number = self.pack("d", 2.5)
        out = [b"\0", b"\3" + number, b"\4" + self.text(b"print")]
        out += [b"\1\1"] if self.version < 0x54 else [b"\x11", b"\1"]
        if self.version == 0x53:
            out += [b"\x13" + self.pack("q", 7), b"\x14" + self.text(b"golden " * 50)]
        if self.version == 0x54:
            out[1:2] = [b"\3" + self.pack("q", 7), b"\x13" + number]
            out += [b"\x14" + self.text(b"golden " * 50)]
        return self.int(len(out)) + b"".join(out)

    def function(self, inner=(), stripped=False, names=1, more=0):
        code, source = random.Random(len(inner) + 5).randbytes(4 * 9), self.text(None if stripped else b"@golden.lua")
        upvalues = self.int(1) + (b"\1\0\0" if self.version == 0x54 else b"\1\0")
        functions = self.int(len(inner)) + b"".join(inner)
        debug = self.int(0) * (4 if self.version == 0x54 else 3)
        if not stripped:
            debug = self.int(9 + more) + b"".join(b"\1" if self.version == 0x54 else self.int(i + 1) for i in range(9 + more))
            debug += self.int(1) + self.int(3) + self.int(200) if self.version == 0x54 else b""
            debug += self.int(1) + self.text(b"value") + self.int(1) + self.int(8) + self.int(names) + self.text(b"_ENV") * names
        out = (b"" if self.version == 0x52 else source) + self.int(0) + self.int(12) + (b"\1" if self.version == 0x51 else b"") + b"\0\2\5"
        out += self.int(9) + code + self.constants()
        if self.version == 0x51:
            return out + functions + debug
        return out + (functions + upvalues + source if self.version == 0x52 else upvalues + functions) + debug

    def chunk(self, **options):
        inner = self.function(**options)
        return self.header() + self.function([self.function([inner], **options), inner], **options)


def make():
    def whole(name, data, start):
        save("luac", name, data + b"\xf3" * 60, verdict="unverified", length=len(data), unverified=f"0-{len(data)}", why=f"nothing verifies the instructions from {start} on")

    for version in (0x51, 0x52, 0x53, 0x54):
        w = Writer(version)
        whole(f"chunk-{version:x}.luac", w.chunk(), len(w.header()))
        whole(f"stripped-{version:x}.luac", w.chunk(stripped=True), len(w.header()))
    for version in (0x51, 0x53):
        w = Writer(version, ">", 4)
        whole(f"big-{version:x}.luac", w.chunk(), len(w.header()))
    w = Writer(0x53)
    data = w.chunk()
    save("luac", "cut.luac", data[:500], verdict="truncated", length_min=300, length_max=500, why="the image ends at 500, before the file does")
    for name, junk in (("random", random.Random(9).randbytes(900)), ("zeros", bytes(900)), ("text", b"plain text " * 80)):
        save("luac", f"{name}.luac", data[:700] + junk, verdict="truncated", length_min=300, length_max=1100)
    one = w.header() + w.function(names=2)
    save("luac", "names.luac", one, verdict="truncated", length_min=500, length_max=len(one))
    one = w.header() + w.function(more=1)
    save("luac", "lines.luac", one, verdict="truncated", length_min=400, length_max=len(one))
    save("luac", "number.luac", data.replace(struct.pack("<d", 370.5), struct.pack("<d", 371.5)), verdict="reject", why="no header at 0")
    save("luac", "version.luac", data[:4] + b"\x50" + data[5:], verdict="reject", why="no header at 0")
    save("luac", "empty.luac", w.header() + bytes(90), verdict="reject")
