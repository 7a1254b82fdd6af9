"""Compound files, written by hand."""
import random, struct

from makers.common import encoded, picture, save

END, FREE, TABLE, MULTI = 0xfffffffe, 0xffffffff, 0xfffffffd, 0xfffffffc
SAVED = (1709251198 + 11644473600) * 10**7  # 2024-02-29 23:59:58


def property_set(title="A golden document", page=1252):
    text = title.encode("utf-16le" if page == 1200 else "cp1252") + b"\0\0"
    text += bytes(-len(text) % 4)
    page_at, title_at = 8 + 8 * 3, 8 + 8 * 3 + 8
    saved_at = title_at + 8 + len(text)
    section = struct.pack("<IIIIIII", 1, page_at, 2, title_at, 13, saved_at, 2)[:24]
    section += struct.pack("<II", 2, page) + struct.pack("<II", 30, len(text)) + text + struct.pack("<IQ", 64, SAVED)
    section = struct.pack("<II", len(section) + 8, 3) + section
    data = struct.pack("<HHI16sI", 0xfffe, 0, 0x20006, bytes(16), 1) + bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9") + struct.pack("<I", 48)
    return data + section


class Compound:
    """streams: (name, data); all in the root. tail: FAT and directory stand behind the streams, as Word writes them."""
    def __init__(self, streams, version=3, tail=True, class_id=bytes(16), self_mark=TABLE, slack=b"\0", mini_last=False):
        self.len = 512 if version == 3 else 4096
        self.fat, self.sectors = [], []
        self.slack = slack
        mini, mini_fat, entries = b"", [], []
        fat_at = None if tail else self.add(bytes(self.len), self_mark)
        directory_len = -(-(len(streams) + 1) * 128 // self.len)
        directory_at = None if tail else self.chain(bytes(directory_len * self.len))
        for name, data in streams:
            if len(data) >= 4096:
                start = self.chain(data)
            else:
                start = len(mini_fat) if data else END
                count = -(-len(data) // 64)
                mini_fat += [start + i + 1 for i in range(count - 1)] + [END] * bool(count)
                mini += data + bytes(-len(data) % 64)
            entries.append((name, start, len(data)))
        self.entries = entries
        packed = struct.pack("<%dI" % len(mini_fat), *mini_fat)
        packed += b"\xff" * (-len(packed) % self.len)
        if mini_last:
            self.mini_fat_at, self.mini_at = self.chain(packed), self.chain(mini)
        else:
            self.mini_at = self.chain(mini) if mini else END
            self.mini_fat_at = self.chain(packed) if mini else END
        directory = self.entry("Root Entry", 5, self.mini_at, len(mini), class_id, child=1 if entries else FREE)
        for i, (name, start, size) in enumerate(entries):
            directory += self.entry(name, 2, start, size, right=i + 2 if i + 1 < len(entries) else FREE)
        directory += self.entry("", 0, 0, 0) * (directory_len * self.len // 128 - len(entries) - 1)
        if tail:
            fat_at = self.add(bytes(self.len), self_mark)
            directory_at = self.chain(directory)
        else:
            for i in range(directory_len):
                self.sectors[directory_at + i] = directory[i * self.len:(i + 1) * self.len]
        table = struct.pack("<%dI" % len(self.fat), *self.fat)
        assert len(table) <= self.len
        self.sectors[fat_at] = table + b"\xff" * (self.len - len(table))
        self.fat_at, self.directory_at = fat_at, directory_at
        # What free entries hold is not looked at.
        self.unchecked = self.at(directory_at) + (len(entries) + 1) * 128 if tail else self.at(self.mini_at)
        header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
        header += struct.pack("<HHHHH6x", 0x3e, version, 0xfffe, 9 if version == 3 else 12, 6)
        header += struct.pack("<IIIIIIIIII", 0 if version == 3 else directory_len, 1, directory_at, 0, 4096, self.mini_fat_at,
                              1 if mini else 0, END, 0, fat_at) + b"\xff" * 432
        self.data = header + bytes(self.len - 512) + b"".join(self.sectors)

    def add(self, data, mark):
        self.sectors.append(data.ljust(self.len, self.slack))
        self.fat.append(mark)
        return len(self.fat) - 1

    def chain(self, data):
        start = len(self.fat)
        count = -(-len(data) // self.len)
        for i in range(count):
            self.add(data[i * self.len:(i + 1) * self.len], start + i + 1 if i + 1 < count else END)
        return start

    def entry(self, name, kind, start, size, class_id=bytes(16), right=FREE, child=FREE):
        text = name.encode("utf-16le")
        return (text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text) + 2 if kind else 0, kind, 1, FREE, right, child) + class_id
                + struct.pack("<IQQIQ", 0, 0, SAVED if kind == 5 else 0, start, size))

    def at(self, sector):
        return (sector + 1) * self.len

    def place(self, name):
        start, size = next(entry[1:] for entry in self.entries if entry[0] == name)
        return self.at(start) if size >= 4096 else self.at(self.mini_at) + 64 * start


def whole(name, compound, **expected):
    save("ole", name, compound.data, unchecked=compound.unchecked, **expected)


def noise(count, seed=1):
    return random.Random(seed).randbytes(count)


SUMMARY = "\5SummaryInformation"


def excel_records():
    out = struct.pack("<HHHHHHII", 0x809, 16, 0x600, 5, 0x1faa, 1997, 0x41, 6)
    rng = random.Random(5)
    while len(out) < 4200:
        body = rng.randbytes(rng.randrange(20, 400))
        out += struct.pack("<HH", 0x203, len(body)) + body
    return out + struct.pack("<HH", 0x0a, 0)


def powerpoint_records():
    return b"".join(struct.pack("<HHI", 15, kind, size) + noise(size, kind) for kind, size in ((1000, 1700), (1006, 2000), (6002, 700)))


def thumbnail_set(kind, data):
    section = struct.pack("<II", 17, 16) + struct.pack("<IIII", 71, 8 + len(data), 0xffffffff, kind) + data
    section = struct.pack("<II", len(section) + 8, 1) + section
    return struct.pack("<HHI16sI", 0xfffe, 0, 0x20006, bytes(16), 1) + bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9") + struct.pack("<I", 48) + section


def make_embedded():
    jpeg, png = encoded(picture("RGB"), format="JPEG"), encoded(picture("RGB"), format="PNG")
    page = b"<!DOCTYPE html>\n<html><body>A page of a message.</body></html>\n"
    letter = b"MIME-Version: 1.0\nSubject: A message in a message\n\nText.\n"
    for name, stream, data, at in (
            ("page.msg", "__substg1.0_10130102", page, 0), ("letter.msg", "__substg1.0_37010102", letter, 0),
            ("large.msg", "__substg1.0_37010102", png + bytes(5000 - len(png) - 12) + png[-12:], 0),
            ("small.db", "1", struct.pack("<III", 12, 1, len(jpeg)) + jpeg, 12),
            ("link.automaticDestinations-ms", "1", b"L\0\0\0\1\x14\2\0" + noise(90) + bytes(4), 0),
            ("locked.docx", "EncryptionInfo", b"\4\0\4\0\x40\0\0\0<?xml version=\"1.0\"?><encryption/>", 8)):
        file = Compound([(stream, data), ("DestList" if "Dest" in name else "other", noise(80))])
        save("ole", name, file.data, unchecked=file.unchecked, embedded=file.place(stream) + at)
    # A file that is not the stream's: the stream goes on after it.
    foreign = Compound([("__substg1.0_37010102", jpeg + noise(5000 - len(jpeg)))])
    save("ole", "foreign.msg", foreign.data, unchecked=foreign.unchecked, embedded="none")
    pictures = struct.pack("<HHI", 0x6e00, 0xf01e, 17 + len(png)) + noise(16) + b"\xff" + png
    second = len(pictures)
    pictures += struct.pack("<HHI", 0x46b0, 0xf01d, 33 + len(jpeg)) + noise(32) + b"\xff" + jpeg
    show = Compound([("PowerPoint Document", powerpoint_records()), ("Pictures", pictures)])
    at = show.place("Pictures")
    save("ole", "pictures.ppt", show.data, unchecked=show.unchecked, extension="ppt", embedded=f"{at + 25} {at + second + 41}")
    package, mapping, shape = b"PK\3\4" + noise(200), b"<?xml version=\"1.0\"?><a:clrMap/>", b"PK\3\4" + noise(150, 2)
    records = powerpoint_records()
    trip = struct.pack("<HHI", 0, 0x40e, len(package)) + package + struct.pack("<HHI", 0, 0x40f, len(mapping)) + mapping
    trip += struct.pack("<HHIHI", 0x13, 0xf122, 6 + len(shape), 0xc3a9, len(shape)) + shape
    modern = Compound([("PowerPoint Document", records + struct.pack("<HHI", 15, 1010, len(trip)) + trip)])
    at = modern.place("PowerPoint Document") + len(records) + 8
    places = " ".join(str(at + trip.index(data)) for data in (package, mapping, shape))
    save("ole", "packages.ppt", modern.data, unchecked=modern.unchecked, extension="ppt", embedded=places)
    preview = jpeg[:20] + jpeg + jpeg[20:]
    nested = Compound([("Pictures", struct.pack("<HHI", 0x46a0, 0xf01d, 17 + len(preview)) + noise(16) + b"\xff" + preview)])
    at = nested.place("Pictures") + 25
    save("ole", "preview.ppt", nested.data, unchecked=nested.unchecked, embedded=f"{at} {at + 20}")
    for kind, skip in (14, 0), (3, 8):
        drawing = Compound([(SUMMARY, thumbnail_set(kind, b"\1\0\0\0" + noise(80))), ("VisioDocument", noise(99))])
        save("ole", f"thumbnail{kind}.vsd", drawing.data, unchecked=drawing.unchecked, extension="vsd",
             embedded=drawing.place(SUMMARY) + 48 + 16 + 16 + skip)
    head = struct.pack("<H8xH", 0xa5ec, 0x200) + bytes(140) + struct.pack("<H", 183)
    theme, colours = b"PK\3\4" + noise(300), b"<?xml version=\"1.0\"?><a:clrMap/>"
    head += bytes(8 * 181) + struct.pack("<IIII", 70, len(theme), 70 + len(theme), len(colours))
    text = Compound([("WordDocument", head.ljust(4200, b"\1")), ("1Table", noise(70) + theme + colours)])
    at = text.place("1Table") + 70
    save("ole", "theme.doc", text.data, unchecked=text.unchecked, extension="doc", embedded=f"{at} {at + len(theme)}")


def visio_packed(data):
    """Visio's compression: runs of zeros as copies of what is before the first byte, all else as it is."""
    items, at = [], 0
    while at < len(data):
        zeros = min(len(data[at:]) - len(data[at:].lstrip(b"\0")), 18)
        place = (3900 - 18) % 4096
        items.append((0, bytes([place & 255, place >> 4 & 0xf0 | zeros - 3])) if zeros >= 3 else (1, data[at:at + 1]))
        at += zeros if zeros >= 3 else 1
    packed = b""
    for i in range(0, len(items), 8):
        packed += bytes([sum(flag << n for n, (flag, _) in enumerate(items[i:i + 8]))]) + b"".join(item for _, item in items[i:i + 8])
    return packed


def visio_stream(moved=0, outside=0, compressed=True):
    """A drawing: a pointer to the list of its parts, the parts, and the list."""
    parts = noise(4300, 6)
    pointers = b"".join(struct.pack("<IIIIH", 20 + i, 77, 54 + 100 * i + outside, 90, 66) for i in range(6))
    trailer = struct.pack("<I", 40) + bytes(36) + struct.pack("<II", 6, 0) + pointers
    trailer = visio_packed(bytes(4) + trailer) if compressed else trailer
    head = b"Visio (TM) Drawing\r\n\0\0\0\0\0\0\x0b\0" + struct.pack("<II", 54 + len(parts) + len(trailer), 0)
    head += struct.pack("<IIIIH", 20, 77, 54 + len(parts), len(trailer), 80 | 2 * compressed)
    return head + (noise(moved, 7) + parts + trailer)[:len(parts) + len(trailer)]


def make_drawings():
    for name, compressed in ("drawing.vsd", True), ("drawing-stored.vsd", False):
        whole(name, Compound([("VisioDocument", visio_stream(compressed=compressed))]), extension="vsd")
    for name, stream in ("drawing-moved.vsd", visio_stream(moved=512)), ("drawing-outside.vsd", visio_stream(outside=4400)):
        drawing = Compound([("VisioDocument", stream)])
        at = drawing.place("VisioDocument") + 54 + 4300
        save("ole", name, drawing.data, verdict="unverified", length=len(drawing.data), extension="vsd", why=f"no list of the drawing's parts in the sector at {at}")


def make():
    make_embedded()
    make_drawings()
    word = b"\xec\xa5\xc1\0" + bytes(7) + noise(4200)
    for name, streams in (
            ("word.doc", [("WordDocument", word), ("1Table", noise(440, 2)), (SUMMARY, property_set())]),
            ("excel.xls", [("Workbook", excel_records()), (SUMMARY, property_set(page=1200))]),
            ("point.ppt", [("PowerPoint Document", powerpoint_records()), ("Current User", noise(30)), (SUMMARY, property_set())])):
        whole(name, Compound(streams), extension=name.split(".")[1], title="A golden document", time=1709251198)
    whole("template.dot", Compound([("WordDocument", word[:10] + b"\1" + word[11:])]), extension="dot", time=1709251198)
    for name, streams in (("mail.msg", ["__properties_version1.0", "__substg1.0_0037001F"]), ("pictures.db", ["Catalog", "1"]),
                          ("hangul.hwp", ["FileHeader", "DocInfo"]), ("visio.vsd", ["VisioDocument"]), ("plan.mpp", ["   114"]),
                          ("flyer.pub", ["Quill", "Contents"]), ("works.wps", ["MatOST"]), ("other.ole", ["Anything"])):
        whole(name, Compound([(stream, noise(100 + len(stream))) for stream in streams]), extension=name.split(".")[1])
    for first, extension in ((0x84, "msi"), (0x82, "mst"), (0x86, "msp")):
        whole("setup." + extension, Compound([("\u4840\u3f7f", noise(99))], class_id=bytes([first, 16, 12, 0, 0, 0, 0, 0, 0xc0]) + bytes(6) + b"F"),
             extension=extension)
    front = Compound([("WordDocument", word), ("a", noise(40))], tail=False)
    whole("front.doc", front, extension="doc")
    whole("unmarked.doc", Compound([("WordDocument", word)], self_mark=END, slack=b"\xff"), extension="doc")
    whole("version4.ole", Compound([("Anything", noise(80)), (SUMMARY, property_set("\u00c4", 1200))], version=4), extension="ole",
          title="\u00c4")
    zeros = Compound([("WordDocument", word)])
    at = zeros.at(zeros.fat_at) + 4 * len(zeros.fat)
    rest = zeros.data[:at] + bytes(512 - 4 * len(zeros.fat)) + zeros.data[zeros.at(zeros.fat_at + 1):]
    save("ole", "zeros-behind.doc", rest, extension="doc", unchecked=zeros.unchecked)
    whole("empty.ole", Compound([]), extension="ole")
    # Entries that are not in use, all 0xFF; but no sector that has only such.
    streams = [("WordDocument", word)] + [(name, noise(70)) for name in "abcd"]
    unused = bytearray(Compound(streams).data)
    unused[-2 * 128:] = b"\xff" * 2 * 128
    save("ole", "unused.doc", bytes(unused), extension="doc", unchecked=len(unused) - 2 * 128)
    at = len(unused) - 512
    unused[at - 128 + 72:at - 128 + 76] = b"\xff" * 4  # no link leads there
    save("ole", "unused-sector.doc", bytes(unused[:at]) + b"\xff" * 512, verdict="truncated", length=at, why=f"no directory entry at {at}")

    file = Compound([("WordDocument", word), ("small", noise(70)), ("next", noise(70))])
    data = file.data
    save("ole", "cut.doc", data[:3000], verdict="truncated", length=3000, extension="doc", why="the image ends at 3000, before the file does")
    save("ole", "overwritten.doc", data[:3000] + noise(len(data) - 3000), verdict="truncated", length=512)
    at = file.at(file.directory_at)
    save("ole", "no-directory.doc", data[:at] + noise(3000), verdict="truncated", length=at, why=f"no root entry at {at}")
    wiped = bytearray(data)
    wiped[at + 128 + 116] ^= 1  # where the first stream starts
    save("ole", "start.doc", bytes(wiped), verdict="unverified", length=len(data), extension="doc", why=f"a stream's chain breaks: entry at {at + 128}")
    wiped = bytearray(data)
    wiped[at + 2 * 128 + 120] += 64  # a size that its small sectors don't hold
    save("ole", "size.doc", bytes(wiped), verdict="unverified", length=len(data), why=f"a stream's chain breaks: entry at {at + 2 * 128}")
    wiped = bytearray(data)
    wiped[at + 3 * 128 + 116] = 0  # two streams in one chain
    save("ole", "shared.doc", bytes(wiped), verdict="unverified", length=len(data))
    wiped = bytearray(data)
    wiped[at + 2 * 128:at + 3 * 128] = b"\xc4\x0a" + bytes(126)  # a block of a file system, from here on
    save("ole", "entry.doc", bytes(wiped), verdict="unverified", length=len(data), why=f"a link to an unused entry in the entry at {at + 128}")
    fat = file.at(file.fat_at)
    wiped = bytearray(data)
    wiped[fat:fat + 4] = struct.pack("<I", 0)  # a sector behind itself
    save("ole", "loop.doc", bytes(wiped), verdict="unverified", length=len(data))
    wiped = bytearray(data)
    wiped[fat + 8:fat + 12] = struct.pack("<I", 5000)
    save("ole", "far.doc", bytes(wiped), verdict="truncated", length=at + 512, why=f"an impossible FAT entry at {fat + 8}")
    wiped = bytearray(data)
    wiped[fat + 4 * file.fat_at:fat + 4 * file.fat_at + 4] = struct.pack("<I", FREE)
    save("ole", "unlisted.doc", bytes(wiped), verdict="truncated", why=f"the FAT does not list itself at {fat}")
    sheet = Compound([("Workbook", excel_records())])
    wiped = bytearray(sheet.data)
    wiped[sheet.at(2):sheet.at(8)] = noise(6 * 512)
    save("ole", "records.xls", bytes(wiped), verdict="unverified", length=len(wiped))
    lost = Compound([("VisioDocument", (b"a line from here to there, " * 200)[:5000])], tail=False).data
    save("ole", "end-foreign.vsd", lost[:-512] + noise(512, 9) + noise(700, 8), verdict="unverified", length=len(lost) - (-5000 % 512),
         why=f"the last sector ends in foreign-looking bytes at {len(lost) - (-5000 % 512)}")
    cut = lost[:2048] + noise(len(lost) - 2048, 9)
    save("ole", "end-random.vsd", cut, verdict="truncated", length_min=2048, length_max=3072,
         why=f"the last sector ends in foreign-looking bytes at {len(lost) - (-5000 % 512)}, and the file ends in random bytes")
    full = Compound([("VisioDocument", noise(5120))], tail=False).data
    save("ole", "end-noise.vsd", full, verdict="unverified", length=len(full),
         why=f"the last sector, up to {len(full)}, cannot be verified")
    wiped = Compound([("VisioDocument", (b"a line from here to there, " * 200)[:4608] + bytes(512))], tail=False).data
    save("ole", "end-zeros.vsd", wiped, verdict="unverified", length=len(wiped),
         why=f"the last sector, up to {len(wiped)}, cannot be verified")
    # A stream's last sectors are some other file's: no program ends a compound file like that.
    for kind, byte in ("text", b"a line of foreign text "), ("ff", b"\xff"):
        pages = Compound([("VisioDocument", (b"\0\1\2\3 pages " * 600)[:5632])], tail=False).data
        save("ole", f"end-{kind}.vsd", pages[:-1024] + (byte * 1024)[:1024], verdict="unverified", length=len(pages),
             why=f"the last sector, up to {len(pages)}, cannot be verified")
        save("ole", f"wiped-{kind}.vsd", pages[:4096] + (byte * 4000)[:len(pages) - 4096], verdict="truncated", length=4096,
             why="equal bytes or text instead of the last sectors, from 4096 on")
    # Rows that go on as they began show nothing: another file's may look like them. Where a stream ends in its last sector, and
    # what fills that up begins, does.
    rows = Compound([("VisioDocument", (b"\0\1\2\3 pages " * 600)[:5632])], tail=False).data
    save("ole", "end-rows.vsd", rows, verdict="unverified", length=len(rows), why=f"the last sector, up to {len(rows)}, cannot be verified")
    filled = Compound([("VisioDocument", (b"\0\1\2\3 pages " * 600)[:5333])], tail=False)
    save("ole", "end-filled.vsd", filled.data, unchecked=filled.at(filled.mini_at) if filled.mini_at != END else 512)
    small = Compound([("VisioDocument", noise(5120)), ("other", noise(100, 3))], tail=False, mini_last=True)
    save("ole", "end-small.vsd", small.data, unchecked=small.at(2))
    other = small.data[:-512] + bytes((i * i >> 3) % 251 for i in range(512))
    save("ole", "end-other.vsd", other, verdict="unverified", length=len(other))
    # The stream is named, not FAT and directory, nor the sectors of a spreadsheet where a record starts.
    doc = Compound([("WordDocument", word)])
    save("ole", "stream.doc", doc.data, extension="doc", unchecked=doc.unchecked, unverified=f"512-{doc.at(doc.fat_at)}")
    book, at, starts = excel_records() + struct.pack("<HH", 0x203, 3000) + noise(3000), 0, set()
    sheet = Compound([("Workbook", book)])
    while at < len(book):
        starts |= {at // 512, (at + 3) // 512}
        at += 4 + struct.unpack_from("<H", book, at + 2)[0]
    last = max(starts)
    assert starts == set(range(last + 1)) and sheet.at(last + 1) < sheet.at(sheet.fat_at)
    save("ole", "stream.xls", sheet.data, extension="xls", unchecked=sheet.unchecked, unverified=f"{sheet.at(last + 1)}-{sheet.at(sheet.fat_at)}")
    header = bytearray(data)
    for name, offset, value, why in (("version", 26, 5, "an unknown version or sector size in the header"),
                                     ("order", 28, 0, "an unknown byte order or mini sector size in the header"),
                                     ("cutoff", 57, 0, "impossible fields in the header"), ("no-fat", 44, 0, "impossible fields in the header")):
        wrong = bytearray(data[:1024])
        wrong[offset] = value
        save("ole", name + ".doc", bytes(wrong), verdict="reject", why=why)
    huge = bytearray(data[:1024])
    huge[44:48] = struct.pack("<I", 0x7fffffff)
    save("ole", "huge-fat.doc", bytes(huge), verdict="truncated", length=512, why="an impossible FAT size at 44")
