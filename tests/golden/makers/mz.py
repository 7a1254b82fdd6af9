"""Programs behind DOS headers: DOS, NE, LE, LX, header by header; their code is made up."""
import io, random, struct, zipfile

from makers.common import save
from makers import lzh
from makers.elf import code
from makers.pe import pe

CALLS = (40, 150, 290, 430)
STUB = b"\x0e\x1f\xba\x0e\0\xb4\x09\xcd\x21\xb8\1\x4c\xcd\x21This is no DOS program.\r\n$"


def image_of(length, relocations=(), memory=64):
    """Code with a word for each relocation that holds a segment of it."""
    data = bytearray(code(length))
    for at in relocations:
        struct.pack_into("<H", data, at, at % 7 + 1)
    return bytes(data)


def dos(image, relocations=(), number=0, at=28, memory=16, entry=(0, 0), checksum=False, place=0):
    head = (at + 4 * len(relocations) + 15) // 16
    head = max(head, 5 if place else 2)
    length = head * 16 + len(image)
    out = struct.pack("<2sHHHHHHHHHHHHH", b"MZ", length % 512, (length + 511) // 512, len(relocations), head, memory, 0xffff,
                      0, 256, 0, entry[0], entry[1], at, number)
    out = out.ljust(60, b"\0") if place else out
    out += struct.pack("<I", place) if place else b""
    out = out.ljust(at, b"\0") + b"".join(struct.pack("<HH", r % 16, r // 16) for r in relocations)
    out = bytearray(out.ljust(head * 16, b"\0") + image)
    if checksum:
        padded = bytes(out) + bytes(len(out) % 2)
        total = sum(struct.unpack(f"<{len(padded) // 2}H", padded))
        struct.pack_into("<H", out, 18, ~total & 0xffff)
    return bytes(out)


def named(*texts):
    return b"".join(bytes((len(t),)) + t + struct.pack("<H", i) for i, t in enumerate(texts)) + b"\0"


def stub(place=128):
    return dos(STUB.ljust(48, b"\0"), at=64, place=place).ljust(place, b"\0")


def ne(segments=(), resources=(), flags=0x302, name=b"GOLDEN", title=b"A golden program", names_last=False, target=2):
    """segments: (data, count of relocations or None); resources: (kind, data). Units of 16 bytes."""
    where = 64
    table, place, body = b"", 1024, b""
    for data, count in segments:
        body += bytes(-(place + len(body)) % 16)
        at = (place + len(body)) // 16
        table += struct.pack("<HHHH", at, len(data), 0x100 if count else 0, len(data))
        body += data
        if count:
            body += struct.pack("<H", count) + b"".join(struct.pack("<BBHHH", (3, 2, 5)[i % 3], i % 4, 8 * i, 1, i + 1) for i in range(count))
    listed = b""
    for kind, data in resources:
        body += bytes(-(place + len(body)) % 16)
        listed += struct.pack("<HHI", kind, 1, 0) + struct.pack("<HHHHI", (place + len(body)) // 16, (len(data) + 15) // 16, 0x1c30, 0x8001, 0)
        body += data + bytes(-len(data) % 16)
    listed = struct.pack("<H", 4) + listed + b"\0\0" if resources else b""
    names = named(name, b"WNDPROC")
    modules = struct.pack("<HH", 1, 8)
    imports = b"\0\6KERNEL\4USER"
    at_resources = where + len(table)
    at_names = at_resources + len(listed)
    at_modules = at_names + len(names)
    at_imports = at_modules + len(modules)
    at_entries = at_imports + len(imports)
    more = named(title)
    at_more = place + len(body) if names_last else 128 + at_entries + 2
    head = struct.pack("<2sBBHHIHHHHIIHHHHHHHHIHHHBBHHHH", b"NE", 5, 1, at_entries, 2, 0, flags, 0, 1024, 4096, 0x10000, 0, len(segments), 2,
                       len(more), where, at_resources, at_names, at_modules, at_imports, at_more, 0, 4, len(resources), target, 0, 0, 0, 0, 0x30a)
    tables = head + table + listed + names + modules + imports + b"\0\0"
    if not names_last:
        tables += more
    out = stub() + tables
    assert len(out) <= place
    out = out.ljust(place, b"\0") + body
    return out + more if names_last else out


def font():
    bits = code(200, 7)
    face = 118 + len(bits)
    return struct.pack("<HI", 0x300, face + 7).ljust(105, b"\0") + struct.pack("<I", face) + bytes(9) + bits + b"Golden\0"


def linear(wide=False, pages=3, last=300, os=1, title=b"A golden program", names_last=True, with_version=False, page=512, map_flags=0, shift=0, branches=False):
    data_len = (pages - 1) * page + last
    objects = struct.pack("<IIIIII", data_len, 0x10000, 0x2005, 1, pages, 0)
    if wide:
        table = b"".join(struct.pack("<IHH", i * page >> shift, page if i < pages - 1 else last, map_flags) for i in range(pages))
    else:
        table = b"".join(struct.pack(">I", (i + 1) << 8) for i in range(pages))
    names, more = named(b"GOLDEN"), named(title, b"GOLDEN_Entry")
    fixups = b"".join(struct.pack("<BBHBH", 7, 0, 4 * i, 1, 16) for i in range(4 * pages))
    if branches:  # one of them names its place behind the record
        fixups = b"".join(struct.pack("<BBHBB", 8, 0x81, place, 1, 7) for place in CALLS[:3])
        fixups = (fixups + struct.pack("<BBBBIH", 0x28, 0x11, 1, 1, 9, CALLS[3])) * pages
    at_objects = 0xc4
    at_map = at_objects + len(objects)
    at_names = at_map + len(table)
    at_entries = at_names + len(names)
    at_pages = at_entries + 1
    at_fixups = at_pages + 4 * (pages + 1)
    at_modules = at_fixups + len(fixups)
    data_at = 2048 if branches else 1024
    at_more = data_at + data_len
    resource = b"\xff\x10\0\xff\1\0\x30\0" + struct.pack("<I", len(version())) + version()
    fields = {0x10: 0x200, 0x14: pages, 0x18: 1, 0x20: 1, 0x24: 0x1000, 0x28: page, 0x2c: shift if wide else last, 0x30: len(fixups) + 4 * pages + 4,
              0x40: at_objects, 0x44: 1, 0x48: at_map, 0x58: at_names, 0x5c: at_entries, 0x68: at_pages, 0x6c: at_fixups, 0x70: at_modules,
              0x78: at_modules, 0x80: data_at, 0x84: pages, 0x88: at_more if names_last else 0, 0x8c: len(more) if names_last else 0, 0x94: 1,
              0xb8: at_more + len(more) if with_version else 0, 0xbc: len(resource) if with_version else 0}
    head = bytearray(struct.pack("<2sBBIHH", b"LX" if wide else b"LE", 0, 0, 0, 2, os).ljust(0xc4, b"\0"))
    for at, value in fields.items():
        struct.pack_into("<I", head, at, value)
    out = stub() + bytes(head) + objects + table + names + b"\0"
    out += b"".join(struct.pack("<I", len(fixups) * i // pages) for i in range(pages + 1)) + fixups
    assert len(out) <= data_at
    out = out.ljust(data_at, b"\0") + code(data_len, 3)
    if names_last:
        out += more
    return out + resource if with_version else out


def called(**options):
    """A linear program with calls of other modules: 4 a page, of 512 bytes; the bytes in front of the calls' places."""
    out = bytearray(linear(page=512, pages=20, last=512, branches=True, names_last=False, **options))
    for at in range(len(out) - 20 * 512, len(out), 512):
        for place in CALLS:
            out[at + place - 2:at + place] = b"\x0f\x84" if place == CALLS[0] else b"\x55\xe8"
    return bytes(out)


def version():
    def block(key, value, children=b""):
        head = key + b"\0"
        head += bytes(-len(head) % 4)
        body = value + children
        return struct.pack("<HH", 4 + len(head) + len(body), len(value)) + head + body

    texts = b"".join(block(key, value).ljust(length, b"\0") for key, value, length in
                     ((b"CompanyName", b"Golden Ltd.\0", 28), (b"FileVersion", b"1.00\0", 24)))
    fixed = struct.pack("<I", 0xfeef04bd) + bytes(48)
    strings = block(b"StringFileInfo", b"", block(b"040904E4", b"", texts))
    return block(b"VS_VERSION_INFO", fixed, strings + block(b"VarFileInfo", b"", block(b"Translation", b"\x09\x04\xe4\x04")))


def codeview(form):
    tables = code(100, 5)
    if form == 2:
        directory = struct.pack("<HHIII", 16, 12, 3, 0, 0) + bytes(36)
        mark = b"NB09"
    else:
        directory = struct.pack("<H", 3) + bytes(3 * (10, 12)[form])
        mark = (b"NB00", b"NB02")[form]
    out = mark + struct.pack("<I", 8 + len(tables)) + tables + directory
    return out + mark + struct.pack("<I", len(out) + 8)


def unverified(length):
    return dict(verdict="unverified", length=length, extension="exe",
                why=f"the last bytes of the program, before {length}, cannot be verified")


def make():
    places = list(range(9, 1490, 60)) + [1498]
    program = dos(image_of(1500, places), places)
    save("mz", "relocated.exe", program, extension="exe")
    save("mz", "zeros.exe", dos(image_of(1500, places) + bytes(400), places), extension="exe")
    # A word of zeros at a relocation proves nothing: it may be wiped.
    wiped = dos(image_of(700, [100]) + bytes(800), [100, 1200, 1400])
    save("mz", "wiped.exe", wiped, **unverified(len(wiped)))
    plain = dos(code(900))
    save("mz", "plain.exe", plain, **unverified(len(plain)))
    negative = dos(code(900), entry=(0x100, 0xfff0))
    save("mz", "negative.exe", negative, **unverified(len(negative)))
    save("mz", "checksum.exe", dos(code(901), checksum=True))
    pages = dos(code(1024 - 32))
    save("mz", "pages.exe", pages, **unverified(1024))
    for form in range(3):
        save("mz", f"codeview-{form}.exe", plain + codeview(form), extension="exe")
    overlaid = plain.ljust(1024, b"\0") + dos(code(500), number=1).ljust(1024, b"\0") + dos(code(333), number=2)
    save("mz", "overlays.exe", overlaid, **unverified(len(overlaid)))
    borland = plain + bytes(-len(plain) % 16) + struct.pack("<4sIII", b"FBOV", 700, 512, 3) + code(700, 8)
    save("mz", "borland.exe", borland, **unverified(len(borland)))

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(zipfile.ZipInfo("golden.txt", (2020, 1, 1, 0, 0, 0)), "A golden text")
    save("mz", "extractor.exe", plain + archive.getvalue(), extension="exe", why=f"the overlay at {len(plain)} is an archive")
    members = lzh.old(b"a.txt", code(300)) + lzh.old(b"b.bin", lzh.junk(3000, 9), method=b"-lh5-") + b"\0"
    for kind, archive in (("0", members), ("2", lzh.new(b"c.txt", code(200)) + b"\0")):
        save("mz", f"extractor-lzh-{kind}.exe", plain + archive, extension="exe", embedded=len(plain), unchecked=len(plain),
             why=f"the overlay at {len(plain)} is an archive")
    save("mz", "extractor-lzh-cut.exe", plain + members[:-1000] + code(2000), **unverified(len(plain)))

    segments = [(code(700, 2), 5), (code(300, 4), 3)]
    save("mz", "program-ne.exe", ne(segments), extension="exe", title="A golden program")
    data = ne([(code(700, 2), 5), (code(300, 4), None)], flags=0x8000)
    save("mz", "library.dll", data, **{**unverified(len(data)), "extension": "dll"}, title="A golden program")
    save("mz", "names-last.exe", ne([(code(700, 2), None)], names_last=True), extension="exe")
    save("mz", "font.fon", ne((), [(0x8007, bytes(40)), (0x8008, font())], title=b"FONTRES : Golden"), extension="fon", title="FONTRES : Golden")
    save("mz", "version.exe", ne(segments, [(0x8003, code(100)), (0x8010, version())]))
    save("mz", "codeview-ne.exe", ne([(code(700, 2), None)]) + codeview(2))

    save("mz", "linear.exe", linear(), extension="exe", title="A golden program")
    save("mz", "driver.vxd", linear(os=4, with_version=True), extension="vxd")
    wide = linear(wide=True, names_last=False)
    save("mz", "wide.exe", wide, **unverified(len(wide)), title="GOLDEN")
    shifted = linear(wide=True, shift=3, map_flags=1)
    save("mz", "shifted.exe", shifted)
    for name, options in (("calls.exe", {}), ("calls-wide.exe", {"wide": True})):
        save("mz", name, called(**options), **unverified(2048 + 20 * 512), title="GOLDEN")
    packed = called(wide=True, map_flags=5)
    packed = packed[:2048] + random.Random(6).randbytes(3000) + code(len(packed) - 5048, 7)
    save("mz", "calls-packed.exe", packed, **unverified(len(packed)), title="GOLDEN")
    loader = dos(code(500, 6))
    first = len(loader)
    bound = loader + b"BW".ljust(28, b"\0") + struct.pack("<I", first + 200) + code(168)
    bound += b"BW".ljust(28, b"\0") + struct.pack("<I", first + 500) + code(268)
    save("mz", "bound.exe", bound + linear(), extension="exe", title="A golden program")
    save("mz", "bound-lost.exe", bound, verdict="truncated", length_min=500, length_max=len(bound), 
         why=f"invalid relocations, names or resources at {first + 500}")

    broken = bytearray(program)
    for at in places[:4]:
        struct.pack_into("<H", broken, len(program) - 1500 + at, 0x7fff)
    problem = "invalid relocations, names or resources"
    save("mz", "relocations.exe", bytes(broken), verdict="truncated", length_min=200, length_max=len(program),
         why=f"{problem} at {len(program) - 1500 + places[0]}")
    good = ne(segments)
    broken = bytearray(good)
    broken[-8] = 4
    save("mz", "relocations-ne.exe", bytes(broken), verdict="truncated", length_min=1024, length_max=len(good), why=f"{problem} at {len(good) - 8}")
    # A number of relocations that other bytes make: 1,000 would reach to this file's end.
    at = len(good) - 24
    data = good[:at - 2] + struct.pack("<H", 1000) + random.Random(3).randbytes(8000)
    save("mz", "relocations-random.exe", data, verdict="truncated", length_min=1024, length_max=at + 8, why=f"{problem} at {at}")
    broken = bytearray(linear())
    broken[-10] = 7
    save("mz", "names.exe", bytes(broken), verdict="truncated", length_min=1024, length_max=len(broken))
    fonts = ne((), [(0x8008, font())])
    broken = bytearray(fonts)
    broken[128 + 64 + 4] = 200
    save("mz", "resources.fon", bytes(broken), verdict="truncated", length_min=200, length_max=len(fonts), why=f"{problem} at 192")
    broken = bytearray(ne([], [(0x8010, version())]))
    at = broken.index(b"FileVersion") - 4
    broken[at + 6] = 7
    save("mz", "version-broken.exe", bytes(broken), verdict="truncated", length_min=1024, length_max=len(broken), why=f"{problem} at {at}")
    save("mz", "cut.exe", program[:-100], verdict="truncated", length_min=1000, length_max=len(program) - 100,
         why=f"the image ends at {len(program) - 100}, before the file does")
    save("mz", "cut-ne.exe", good[:-30], verdict="truncated", length_min=1024, length_max=len(good) - 30)
    long = dos(code(6000, 3))
    for name, junk in (("random", random.Random(5).randbytes(4600)), ("zeros", bytes(4600)), ("text", b"nothing but words, " * 243)):
        save("mz", f"cut-{name}.exe", long[:1500] + junk, verdict="truncated", length_min=1000, length_max=2600)

    good = called()
    middle = 2048 + 10 * 512
    for name, junk in (("random", random.Random(8).randbytes(3500)), ("zeros", bytes(3500)), ("code", code(3500, 9))):
        data = good[:middle] + junk + code(len(good) - middle - 3500, 10)
        save("mz", f"calls-{name}.exe", data, verdict="truncated", length_min=middle - 1024, length_max=middle + 1024 if name == "random" else len(data))
    # Where no fixup is of a branch, those around which all is random still tell.
    good = linear(page=4096, pages=3, last=4096, names_last=False)
    data = good[:4000] + random.Random(9).randbytes(4500) + good[8500:]
    save("mz", "fixups-in-random.exe", data, verdict="truncated", length_min=3000, length_max=5100, why=f"{problem} at {1024 + 4096 + 28 - 512}")

    good = ne(segments)
    for where, value, what in ((3, 2, "no DOS header"), (9, 0x7f, "impossible fields of a DOS header"), (23, 0x50, "impossible fields of a DOS header"),
                               (25, 0x50, "impossible fields of a DOS header"), (26, 1, "no DOS header")):
        bad = bytearray(program)
        bad[where] = value
        save("mz", f"head-{where}.exe", bytes(bad), verdict="reject", why=f"{what} at 0")
    for where, value, what in ((128, 0x51, "no new header"), (128 + 34, 9, "impossible tables in an NE header"),
                               (128 + 39, 9, "impossible tables in an NE header"), (128 + 64 + 16 + 3, 7, "no name of an NE module")):
        bad = bytearray(good)
        bad[where] = value
        save("mz", f"head-ne-{where}.exe", bytes(bad), verdict="reject", why=f"{what} at 0")
    for where, value, what in ((130, 1, "impossible fields of a linear header"), (128 + 41, 1, "impossible fields of a linear header"),
                               (128 + 64, 7, "impossible fields of a linear header"), (128 + 0xc4 + 12, 3, "no valid tables of a linear program"),
                               (128 + 0xc4 + 24 + 12 + 11, 0xff, "no valid tables of a linear program")):
        bad = bytearray(linear())
        bad[where] = value
        save("mz", f"head-le-{where}.exe", bytes(bad), verdict="reject", why=f"{what} at 0")
    save("mz", "portable.exe", pe([(b".text", code(100), None)]), verdict="reject", why="a PE header at 0")
