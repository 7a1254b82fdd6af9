"""ELF: programs, libraries, object and core files, table by table; their code is made up."""
import random, struct

from makers import sevenzip
from makers.common import save


def code(length, seed=1):
    """Bytes as uneven as machine code."""
    rng = random.Random(seed)
    return bytes(rng.choice(b"\x48\x89\xe5\x55\xc3\x90\x0f\x1f\x00\x00\x00\x8b\xff") for _ in range(length))


def strings(*names):
    table, at = b"\0", {}
    for name in names:
        at[name] = len(table)
        table += name.encode() + b"\0"
    return table, at


class Elf:
    def __init__(self, wide=True, big=False, kind=2, ident=b"\0" * 9):
        self.wide, self.order, self.kind, self.ident = wide, ">" if big else "<", kind, ident
        self.segments, self.sections = [], []
        self.head = 64 if wide else 52
        self.body = b""

    def pack(self, form, *values):
        return struct.pack(self.order + form.replace("W", "Q" if self.wide else "I"), *values)

    def segment(self, kind, at, length, address=None, memory=None, align=8):
        address = at if address is None else address
        memory = length if memory is None else memory
        if self.wide:
            self.segments.append(self.pack("IIQQQQQQ", kind, 5, at, address, address, length, memory, align))
        else:
            self.segments.append(self.pack("IIIIIIII", kind, at, address, address, length, memory, 5, align))

    def add(self, name, kind, data, flags=0, address=0, link=0, entry=0, align=1, length=None):
        """Appends a section's bytes; returns where they are."""
        at = self.start + len(self.body)
        self.body += data
        self.sections.append((name, kind, flags, address, at, len(data) if length is None else length, link, 0, align, entry))
        return at

    @property
    def start(self):
        return self.head + self.room * (56 if self.wide else 32)

    room = 0

    def symbol(self, name, home, value=0):
        if self.wide:
            return self.pack("IBBHQQ", name, 0x12, 0, home, value, 4)
        return self.pack("IIIBBH", name, value, 4, 0x12, 0, home)

    def done(self, tail_strtab=False, section_patch=None):
        names = [s[0] for s in self.sections] + [".shstrtab"]
        table, at = strings(*names)
        shstr = self.start + len(self.body)
        body = self.body
        sections = list(self.sections)
        if not tail_strtab:
            body += table
        body += bytes(-(self.start + len(body)) % 8)
        table_at = self.start + len(body)
        entry = 64 if self.wide else 40
        if tail_strtab:
            shstr = table_at + entry * (len(sections) + 2)
        sections.append((".shstrtab", 3, 0, 0, shstr, len(table), 0, 0, 1, 0))
        headers = bytes(entry)
        for s in sections:
            headers += self.pack("IIWWWWIIWW", at[s[0]], *s[1:])
        if section_patch:
            headers = section_patch(bytearray(headers), entry)
        head = self.header(table_at, len(sections) + 1, len(sections))
        return head + b"".join(self.segments) + body + headers + (table if tail_strtab else b"")

    def header(self, table_at, count, names):
        return (b"\x7fELF" + bytes([2 if self.wide else 1, 2 if self.order == ">" else 1, 1]) + self.ident +
                self.pack("HHIWWWIHHHHHH", self.kind, 62, 1, 0x1000, self.head if self.segments else 0, table_at, 0, self.head,
                          (56 if self.wide else 32) if self.segments else 0, len(self.segments), 64 if self.wide else 40, count, names))

    def bare(self):
        return self.header(0, 0, 0) + b"".join(self.segments) + self.body


def program(wide, big, kind=2, **options):
    elf = Elf(wide, big, kind, **options)
    elf.room = 2
    text = code(300)
    at = elf.add(".text", 1, text, flags=6, align=4)
    table, names = strings("main", "start")
    symbols = bytes(24 if wide else 16) + elf.symbol(names["main"], 1) + elf.symbol(names["start"], 0xfff1)
    elf.add(".symtab", 2, symbols, link=3, entry=24 if wide else 16)
    elf.add(".strtab", 3, table)
    elf.segment(1, at, len(text))
    elf.segment(3, at, 16)
    return elf


def library(wide, big):
    elf = Elf(wide, big, 3)
    elf.room = 2
    names, places = strings("libgolden.so.1")
    strtab = elf.add(".dynstr", 3, names, flags=2, address=elf.start)
    dynamic = elf.pack("WW", 14, places["libgolden.so.1"]) + elf.pack("WW", 5, strtab) + elf.pack("WW", 0, 0)
    at = elf.add(".dynamic", 6, dynamic, flags=3, address=elf.start + len(elf.body), link=1)
    elf.add(".text", 1, code(200), flags=6)
    elf.segment(1, 0, elf.start + len(elf.body), align=4096)
    elf.segment(2, at, len(dynamic))
    return elf


def module():
    elf = Elf(kind=1)
    elf.add(".modinfo", 1, b"license=GPL\0name=golden\0", flags=2)
    elf.add(".bss", 8, b"", flags=3, length=1 << 40)
    elf.add(".text", 1, code(100), flags=6)
    return elf.done()


def core():
    elf = Elf(kind=4)
    elf.room = 2
    info = bytes(40) + b"golden".ljust(16, b"\0") + b"golden --core".ljust(80, b"\0")
    note = struct.pack("<III", 5, len(info), 3) + b"CORE\0\0\0\0" + info
    elf.body = note + code(400)
    elf.segment(4, elf.start, len(note), align=0)
    elf.segment(1, elf.start + len(note), 400, address=0x7f0000000000 + elf.start + len(note), align=1)
    return elf.bare()


def mapped():
    """A core file of a program whose first page is in it."""
    elf = Elf(kind=4)
    elf.room = 1
    elf.body = program(True, False).done()[:300]
    elf.segment(1, elf.start, 300, address=elf.start, align=1)
    return elf.bare(), elf.start


def by_go():
    """Go's linker: the table of sections first, data last, zeros up to the segment's alignment."""
    names, at = strings(".text", ".gopclntab", ".data", ".shstrtab")
    elf = Elf()
    elf.room = 2
    table, texts, lines, data = elf.start, elf.start + 5 * 64, 1024, 4096
    parts = [(".text", texts, code(200)), (".shstrtab", texts + 200, names), (".gopclntab", lines, code(700, 2)), (".data", data, code(500, 4))]
    headers = bytes(64) + b"".join(
        elf.pack("IIWWWWIIWW", at[name], 3 if name == ".shstrtab" else 1, 0 if name == ".shstrtab" else 2, place, place, len(part), 0, 0, 1, 0)
        for name, place, part in parts)
    elf.segment(1, 0, lines + 700, align=4096)
    elf.segment(1, data, 520, align=4096)
    out = (elf.header(table, 5, 2) + b"".join(elf.segments) + headers).ljust(8192, b"\0")
    for _, place, part in parts:
        out = out[:place] + part + out[place + len(part):]
    return out


def by_nasm():
    """NASM: the table of sections at 64, names last, zeros up to a multiple of 16."""
    names, at = strings("f", "g")
    heads, places = strings(".text", ".shstrtab", ".strtab")
    elf = Elf(kind=1)
    parts = [(".text", 1, code(50)), (".shstrtab", 3, heads), (".strtab", 3, names)]
    where, headers, body = 64 + 4 * 64, bytes(64), b""
    for name, kind, part in parts:
        headers += elf.pack("IIWWWWIIWW", places[name], kind, 0, 0, where + len(body), len(part), 0, 0, 1, 0)
        body += part + bytes(-len(part) % 16)
    return elf.header(64, 4, 2) + headers + body


def by_patchelf(kind):
    """patchelf: names (3), dynamic entries (6) or notes (7) last, in a segment of their own, padded to eight bytes."""
    moved = {3: strings("libgolden-with-a-longer-name.so.1")[0], 6: struct.pack("<6Q", 10, 16, 0x6ffffffb, 1, 0, 0) + bytes(64),
             7: struct.pack("<III", 4, 5, 1) + b"GNU\0" + code(5)}[kind]

    def move(headers, entry):
        headers[entry:2 * entry] = (headers[entry:entry + 4] + struct.pack("<IQQQQ", kind, 2, 4096, 4096, len(moved)) +
                                    headers[entry + 40:2 * entry])
        return bytes(headers)
    elf = library(True, False)
    elf.room = 4
    elf.segments, elf.sections, elf.body = [], [], b""
    elf.add(".dynstr", 3, strings("libgolden.so.1")[0], flags=2, address=elf.start)
    elf.add(".text", 1, code(200), flags=6)
    padded = moved + bytes(-len(moved) % 8)
    elf.segment(1, 0, elf.start + len(elf.body), align=4096)
    elf.segment(1, 4096, len(padded), align=4096)
    elf.segment(6, 64, 224)
    elf.segment(2 if kind == 6 else 4, 4096, len(moved))
    whole = elf.done(section_patch=move)
    return whole + bytes(4096 - len(whole)) + padded


def holding(data):
    """The last section, behind the table of sections, is the data."""
    end = 64
    for _ in range(2):
        elf = Elf()
        elf.sections.append((".data", 1, 0, 0, end, len(data), 0, 0, 1, 0))
        alone = elf.done()
        end = len(alone)
    return alone + data


def make():
    for wide in (True, False):
        for big in (False, True):
            name = f"{64 if wide else 32}-{'be' if big else 'le'}"
            save("elf", f"program-{name}.elf", program(wide, big).done(), extension="")
            save("elf", f"library-{name}.so", library(wide, big).done(), extension="so", title="libgolden.so.1")
    save("elf", "object.o", program(True, False, 1).done(), extension="o")
    save("elf", "freebsd.elf", program(True, False, ident=b"\x09" + bytes(8)).done())
    save("elf", "names-last.elf", program(True, False).done(tail_strtab=True))
    plain = module()
    save("elf", "module.ko", plain, extension="ko")
    signature = b"\x30\x82" + struct.pack(">H", 200) + code(200)
    save("elf", "signed.ko", plain + signature + bytes(8) + struct.pack(">I", 204) + b"~Module signature appended~\n",
         verdict="complete", sequence="yes", length=len(plain) + 204 + 40, unchecked=len(plain))

    sfx = program(True, False).done(tail_strtab=True)
    archive = sevenzip.archive(code(90), b"\x01\x04\x06\x00\x01\x09" + code(40))
    held = holding(archive)
    save("elf", "archive.elf", held, unchecked=64, why=f"the overlay at {len(held) - len(archive)} is an archive")
    plain_last = holding(code(900))
    save("elf", "last-section.elf", plain_last, verdict="unverified", length=len(plain_last),
         why=f"the last section, at {len(plain_last) - 900}, cannot be verified")
    save("elf", "sfx.elf", sfx + archive, sequence="yes", unchecked=len(sfx), why=f"the overlay at {len(sfx)} is an archive")

    def many(headers, entry):
        """What stands in the first header when the counts don't fit."""
        struct.pack_into("<Q", headers, 32, len(headers) // entry)
        struct.pack_into("<I", headers, 40, len(headers) // entry - 1)
        return bytes(headers)
    large = bytearray(program(True, False).done(section_patch=many))
    struct.pack_into("<HH", large, 60, 0, 0xffff)
    save("elf", "many-sections.elf", bytes(large))
    debug = Elf(kind=3)
    debug.room = 1
    debug.segment(1, 0, 100000, align=4096)
    debug.add(".text", 8, b"", flags=6, length=90000)
    debug.add(".debug_info", 1, code(300))
    save("elf", "debug.so", debug.done())
    patched = library(True, False)
    patched.segments.pop(0)
    patched.segment(1, 0, 0, align=4096)
    whole = patched.done(tail_strtab=True)
    patched.segments.pop()
    patched.segment(1, 0, len(whole) + 5, align=4096)
    save("elf", "patched.so", patched.done(tail_strtab=True) + bytes(5))
    save("elf", "patchelf.so", by_patchelf(3) + bytes(1), extension="so")
    entries = by_patchelf(6) + bytes(1)
    save("elf", "patchelf-entries.so", entries, extension="so")
    wrong = bytearray(entries)
    wrong[4096] = 0x41 # no system knows such a tag
    save("elf", "entries-tag.so", bytes(wrong), verdict="unverified", why="the last section, at 4096, cannot be verified")
    # Before 0.17 notes are last, and nothing follows.
    old = by_patchelf(7)
    save("elf", "patchelf-old.so", old, extension="so")
    wrong = bytearray(old)
    wrong[4100] = 4 # the note would end before the section does
    save("elf", "notes-short.so", bytes(wrong), verdict="unverified", why="the last section, at 4096, cannot be verified")
    wrong[4100] = 5
    wrong[4111] = 1 # its owner's name without a zero
    save("elf", "notes-name.so", bytes(wrong), verdict="unverified", why="the last section, at 4096, cannot be verified")

    # NVIDIA's processors have versions of their own.
    cuda = bytearray(program(True, False).done())
    cuda[18:24] = struct.pack("<HI", 190, 0x70)
    save("elf", "cuda.elf", bytes(cuda))
    # Padding of linkers and assemblers. Zeros that end before are not theirs.
    stripped = by_go()
    save("elf", "go.elf", stripped, verdict="unverified", length=8192, why="the last section, at 4096, cannot be verified")
    save("elf", "go-short.elf", stripped[:8000] + b"a" * 400, verdict="unverified", length=4096 + 520)
    assembled = by_nasm()
    save("elf", "nasm.o", assembled, extension="o", sequence="yes", unchecked=64)

    # Nothing vouches for these.
    dump = core()
    save("elf", "core.core", dump, verdict="unverified", length=len(dump), extension="core", title="golden --core",
         why=f"no sections, so the end of the last segment at {len(dump)} cannot be verified")
    dump, at = mapped()
    save("elf", "mapped.core", dump, verdict="unverified", length=len(dump), embedded=at)
    bare = Elf(False)
    bare.room = 1
    bare.body = code(300)
    bare.segment(1, 0, bare.start + 300, align=4096)
    save("elf", "no-sections.elf", bare.bare(), verdict="unverified", length=bare.start + 300)
    data = program(True, False).done()
    at = struct.unpack_from("<Q", data, 40)[0]
    appimage = bytearray(data)
    appimage[8:11] = b"AI\2"
    save("elf", "appimage.elf", bytes(appimage) + b"hsqs" + bytes(200), verdict="unverified", length=len(appimage),
         why=f"an AppImage: the end of the overlay at {len(appimage)} is unknown")
    segment = program(True, False)
    segment.segments.pop()
    segment.segment(1, 0, len(data) + 100, align=4096)
    save("elf", "segment-behind.elf", segment.done() + code(100), verdict="unverified", length=len(data) + 100,
         why=f"segments continue after the last section, at {len(data)}")
    # The table of sections stands in front of the names, as older linkers have it.
    front = bytearray(data)
    headers, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    tables = [headers + 64 * i for i in range(count) if struct.unpack_from("<I", data, headers + 64 * i + 4)[0] == 3]
    place, size = struct.unpack_from("<QQ", data, tables[-1] + 24)
    struct.pack_into("<Q", front, tables[-1] + 24, len(data))
    front += data[place:place + size]
    save("elf", "strings-last.elf", bytes(front))
    wiped = front[:len(data) + size // 2] + bytes(size - size // 2)
    save("elf", "names-wiped.elf", bytes(wiped), verdict="unverified", length=len(front), why=f"the last section, at {len(data)}, cannot be verified")

    # Damage.
    symbol = bytearray(data)
    where = data.index(struct.pack("<IBBH", 1, 0x12, 0, 1))
    struct.pack_into("<I", symbol, where, 99999)
    save("elf", "symbol.elf", bytes(symbol), verdict="unverified", length=len(data), why=f"a symbol without a name at {where}")
    names = bytearray(data)
    where = data.index(b"\0main\0")
    names[where + 2] = 7
    save("elf", "names.elf", bytes(names), verdict="unverified", length=len(data), why=f"a name table with invalid names at {where}")
    for field, value, what in ((4, 0x99, "a section of unknown type"), (0, 9999, "a section without a name"),
                               (40, 77, "a section linked to a missing one"), (48, 3, "a section with an impossible alignment")):
        broken = bytearray(data)
        struct.pack_into("<I", broken, at + 64 + field, value)
        save("elf", f"section-{field}.elf", bytes(broken), verdict="truncated", length_min=200, length_max=len(data),
             why=f"{what} at {at + 64}")
    rng = random.Random(5)
    big = program(True, False)
    big.add(".rodata", 1, code(9000, 3), flags=2)
    big = big.done()
    for name, junk in (("random", rng.randbytes(8000)), ("zeros", bytes(8000)), ("ff", b"\xff" * 8000), ("text", b"nothing but words, " * 440)):
        save("elf", f"cut-{name}.elf", big[:4000] + junk, verdict="truncated", length_min=2900, length_max=5100)
    save("elf", "cut.elf", data[:-10], verdict="truncated", length=len(data) - 10,
         why=f"the image ends at {len(data) - 10}, before the file does")
    wrong = bytearray(data)
    struct.pack_into("<Q", wrong, 64 + 48, 3)
    save("elf", "segment.elf", bytes(wrong), verdict="reject", why="the program header at 64 is invalid")
    for offset, value, what in ((4, 3, "unknown class, byte order or version"), (16, 9, "unknown type or version of file"),
                                (52, 63, "a header of wrong length"), (54, 1, "program headers of wrong length"),
                                (58, 1, "section headers of wrong length")):
        wrong = bytearray(data)
        wrong[offset] = value
        save("elf", f"head-{offset}.elf", bytes(wrong), verdict="reject", why=what + " at 0")
