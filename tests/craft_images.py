"""The hostile images of tests/crafts: a function each, of a size in bytes, with thousands of headers of a format that each lead over the same
long chain of parts. Each was written from its format's specification; where a header says much that does not matter here, it is a golden file's."""
import os
import zlib

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")


def be(width, value):
    return value.to_bytes(width, "big")


def le(width, value):
    return value.to_bytes(width, "little")


def fill(unit, length):
    return (unit * (length // len(unit) + 1))[:length]


def jumping(size, head, unit, share=0.25, align=1):
    """Headers in the first part of the image, each with a part that reaches up to the chain of `unit` after them. head(left): a header
    that is followed by `left` bytes to skip."""
    chain = int(size * share)
    out = bytearray()
    while True:
        length = len(head(0))
        length += -length % align
        left = chain - len(out) - length
        if left < length:
            break
        out += head(left + length - len(head(left))).ljust(length, b"\0")
    out += bytes(chain - len(out))
    return bytes(out + fill(unit, size - chain))


def stepping(size, head, link, step, tail, share=0.25):
    """For parts whose length is limited: headers whose first part ends at the next multiple of `step`, where links lead to the tail."""
    end = max(1, int(size * share) // step) * step
    out = bytearray()
    while len(out) < end:
        left = step - len(out) % step
        made = head(left)
        if made is None or len(made) >= left or not len(out) % step:
            if not len(out) % step:
                out += link(step).ljust(32, b"\1")
            else:
                out += b"\1" * left
            continue
        out += made
    return bytes((out[:end] + tail(size - end))[:size])


def repeated(size, head, unit, share=0.25):
    start = fill(head, int(size * share) // len(head) * len(head))
    return start + fill(unit, size - len(start))


# ---- pictures ------------------------------------------------------------------------------------


def jpeg(size):
    def table(kind):
        return b"\xff\xc4" + be(2, 20) + bytes([kind, 1]) + bytes(15) + b"\0"
    tail = (b"\xff\xdb" + be(2, 67) + b"\0" + b"\1" * 64 + b"\xff\xc0" + be(2, 11) + b"\x08" + be(2, 65500) + be(2, 65500) + b"\1\1\x11\0" +
            table(0) + table(0x10) + b"\xff\xda" + be(2, 8) + b"\1\1\0\0\x3f\0")
    return stepping(size, lambda left: b"\xff\xd8\xff\xe1" + be(2, left - 4) if left > 12 else None, lambda step: b"\xff\xe1" + be(2, step - 2),
                    32768, lambda left: tail + bytes(left))


def png(size):
    header = b"IHDR" + be(4, 100) + be(4, 100) + b"\x08\2\0\0\0"
    start = b"\x89PNG\r\n\x1a\n" + be(4, 13) + header + be(4, zlib.crc32(header))
    out = bytearray()
    while len(out) < size // 4:
        out += start + be(4, size - len(out) - len(start) - 12) + b"teSt"
    return bytes(out + bytes(size - len(out)))


def gif(size):
    return stepping(size, lambda left: (b"GIF89a" + le(2, 10) * 2 + b"\0\0\0\x21\xfe" + bytes([left - 16])) if left > 20 else None,
                    lambda step: b"\xff", 256, lambda left: fill(b"\xff" + b"\1" * 255, left))


def webp(size):
    return jumping(size, lambda left: b"RIFF" + le(4, size & ~1) + b"WEBPVP8X" + le(4, 10) + bytes(4) + b"\x0f\0\0\x0f\0\0JUNK" + le(4, left),
                   b"JUNK" + le(4, 0), align=2)


def tiff(size):
    unit = 18 # headers and directories are aligned to it, so that each header's chain meets the others'
    count = int(size * 0.25) // unit
    out = bytearray((b"II*\0" + le(4, count * unit)).ljust(unit, b"\0") * count)
    while len(out) + unit <= size:
        out += le(2, 1) + le(2, 256) + le(2, 4) + le(4, 1) + le(4, 1) + le(4, len(out) + unit)
    return bytes(out.ljust(size, b"\0"))


def bmp(size):
    def head(left):
        return b"BM" + le(4, size) + bytes(4) + le(4, 62 + left) + le(4, 40) + le(4, 30000) + le(4, 30000) + le(2, 1) + le(2, 8) + le(4, 1) + \
            bytes(12) + le(4, 2) + bytes(12)
    return jumping(size, head, b"\1\0")


def psd(size):
    def head(left):
        return b"8BPS\0\1" + bytes(6) + be(2, 3) + be(4, 20000) + be(4, 20000) + be(2, 8) + be(2, 3) + be(4, 0) + be(4, left)
    return jumping(size, head, bytes(4), align=4)


def mng(size):
    header = b"MHDR" + be(4, 100) * 2 + bytes(20)
    start = b"\x8aMNG\r\n\x1a\n" + be(4, 28) + header + be(4, zlib.crc32(header))
    out = bytearray()
    while len(out) < size // 4:
        out += start + be(4, size - len(out) - len(start) - 12) + b"teSt"
    return bytes(out + bytes(size - len(out)))


def step(size):
    return repeated(size, b"ISO-10303-21;\nHEADER;\n", b"A();\n")


# ---- audio and video -----------------------------------------------------------------------------


def mp4(size):
    return jumping(size, lambda left: be(4, 16) + b"ftypisom" + be(4, 512) + be(4, left + 8) + b"free", be(4, 8) + b"free")


def mp4_nested(size):
    return repeated(size, be(4, 16) + b"ftypisom" + be(4, 512), b"".join(be(4, 8 * (2000 - n)) + b"moov" for n in range(2000)))


def wav(size):
    form = b"WAVEfmt " + le(4, 16) + le(2, 1) * 2 + le(4, 44100) + le(4, 88200) + le(2, 2) + le(2, 16) + b"JUNK"
    return jumping(size, lambda left: b"RIFF" + le(4, size & ~1) + form + le(4, left), b"JUNK" + le(4, 0))


def aiff(size):
    form = b"AIFFCOMM" + be(4, 18) + be(2, 1) + be(4, 1000) + be(2, 16) + b"\x40\x0e\xac\x44\0\0\0\0\0\0ANNO"
    return jumping(size, lambda left: b"FORM" + be(4, size & ~1) + form + be(4, left), b"ANNO" + be(4, 0))


def midi(size):
    return jumping(size, lambda left: b"MThd" + be(4, 6) + be(2, 1) + be(2, 2) + be(2, 96) + b"XTrk" + be(4, left), b"Xyzw" + be(4, 0))


def mkv(size):
    start = b"\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska\x18\x53\x80\x67\x01" + b"\xff" * 7 + b"\xec\x01"
    return jumping(size, lambda left: start + be(7, left), b"\xec\x80")


def flac(size):
    info = be(2, 4096) * 2 + bytes(6) + be(8, 44100 << 44 | 1 << 41 | 15 << 36 | 1000) + bytes(16)
    return jumping(size, lambda left: b"fLaC\0" + be(3, 34) + info + b"\1" + be(3, left), b"\1\0\0\0", align=4)


def mp3(size):
    def head(left):
        return b"ID3\3\0\0" + bytes(left >> shift & 127 for shift in (21, 14, 7, 0))
    return jumping(size, head, (b"\xff\xf3\x14\xc4").ljust(24, b"\0"))


def ogg_crc(page):
    crc = 0
    for byte in page:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04c11db7 if crc >> 31 else crc << 1) & 0xffffffff
    return crc


def ogg_page(flags, body, serial=7):
    page = b"OggS\0" + bytes([flags]) + bytes(8) + le(4, serial) + le(4, 0) + bytes(4) + b"\1" + bytes([len(body)]) + body
    return page[:22] + le(4, ogg_crc(page)) + page[26:]


VORBIS = b"\1vorbis" + le(4, 0) + b"\2" + le(4, 44100) + bytes(12) + b"\xb8\1"


def ogg(size):
    return repeated(size, ogg_page(2, VORBIS), ogg_page(0, b"x"))


def ogg_streams(size):
    """Each page begins another stream."""
    return fill(b"".join(ogg_page(2, VORBIS, serial) for serial in range(1024)), size)


def swf(size):
    return jumping(size, lambda left: b"FWS\6" + le(4, size) + b"\x40" + bytes(4) + b"\0\x0c\1\0" + le(2, 0x3f | 777 << 6) + le(4, left), b"\x40\0")


def flv(size):
    return jumping(size, lambda left: b"FLV\1\5" + be(4, 9) + be(4, 0) + b"\x12" + be(3, max(left - 4, 0)) + bytes(7), be(4, 11) + b"\x12" + bytes(10))


def caf(size):
    start = b"caff" + be(2, 1) + be(2, 0) + b"desc" + be(8, 32) + b"\x40\xe5\x88\x80\0\0\0\0lpcm" + be(4, 0) + be(4, 2) + be(4, 1) * 2 + be(4, 16) + b"free"
    return jumping(size, lambda left: start + be(8, left), b"free" + be(8, 0))


def voc(size):
    start = b"Creative Voice File\x1a" + le(2, 26) + le(2, 0x10a) + le(2, 0x1129) + b"\5"
    return jumping(size, lambda left: start + le(3, min(left, 0xffffff)), b"\7\0\0\0")


# ---- documents -----------------------------------------------------------------------------------


def html(size):
    return repeated(size, b"<html><!--", b"--><p>x</p>")


def xml(size):
    return repeated(size, b'<?xml version="1.0"?><a><![CDATA[', b"]]><b x='1'>y")


def svg(size):
    return repeated(size, b'<svg xmlns="http://www.w3.org/2000/svg"><![CDATA[', b"]]><b x='1'/>")


def pdf(size):
    out = bytearray(fill(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", size // 60 * 15))
    number = 1
    while len(out) < size:
        out += b"%d 0 obj\n<</A[1 2 3]/B(x)>>\nendobj\n" % number
        number += 1
    return bytes(out[:size])


def pdf_nested(size):
    return repeated(size, b"%PDF-1.4\n1 0 obj\n<<", b"/A[<<")


def ps(size):
    return repeated(size, b"%!PS-Adobe-3.0\n", b"1 2 moveto\n")


def ps_nested(size):
    return repeated(size, b"%!PS-Adobe-3.0\n", b"%%BeginDocument: a\n")


def rtf(size):
    return repeated(size, b"{\\rtf1\\ansi ", b"a b c {x}\n")


def mail(size):
    return repeated(size, b"Return-Path: <a@b.c>\r\nReceived: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n", b"\r\nhello world\r\n")


def ole(size):
    """All headers name the same allocation table, in which sector n is followed by n + 1."""
    first = max(1, int(size * 0.25) // 512)
    out = bytearray()
    for number in range(first):
        tables = [first - number - 1 + n for n in range(109)]
        out += (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + le(2, 0x3e) + le(2, 3) + b"\xfe\xff" + le(2, 9) + le(2, 6) + bytes(10) + le(4, 109) +
                le(4, 0) + bytes(4) + le(4, 4096) + le(4, 0xfffffffe) + le(4, 0) + le(4, 0xfffffffe) + le(4, 0) + b"".join(le(4, n) for n in tables))
    for number in range(109 * 128):
        out += le(4, number + 1)
    return bytes(out.ljust(size, b"\0")[:size])


# ---- archives and compressed data ----------------------------------------------------------------


def zip_member(length):
    return b"PK\3\4" + le(2, 20) + bytes(6) + le(2, 0x21) + le(4, 0) + le(4, length) * 2 + le(2, 1) + le(2, 0) + b"a"


def zip_stored(size):
    return jumping(size, zip_member, zip_member(0))


def crx(size):
    def head(left):
        return b"Cr24" + le(4, 3) + le(4, 4) + b"\x12\2ab" + zip_member(left)
    return jumping(size, head, zip_member(0))


def avro(size):
    def head(left):
        number = left * 2
        length = bytes(number >> 7 * i & 0x7f | (0x80 if i < 4 else 0) for i in range(5))
        return b"Obj\1\2\x16avro.schema\4{}\0" + bytes(range(16)) + b"\2" + length
    return jumping(size, head, bytes(range(16)) + b"\2\0")


def gz(size):
    def stored(length):
        return b"\0" + le(2, length) + le(2, length ^ 0xffff)
    return stepping(size, lambda left: b"\x1f\x8b\x08\0\0\0\0\0\0\3" + stored(left - 15) if left > 20 else None, lambda step: stored(step - 5), 32768,
                    lambda left: fill(stored(0), left))


def zst(size):
    def head(left):
        return b"\x28\xb5\x2f\xfd\0\x58" + le(3, left - 9 << 3) if left > 12 else None
    return stepping(size, head, lambda step: le(3, step - 3 << 3), 32768, lambda left: fill(le(3, 1 << 3) + b"x", left))


def lz4(size):
    def head(left):
        return b"\x04\x22\x4d\x18\x60\x40\x82" + le(4, left - 11 | 1 << 31) if left > 15 else None
    return stepping(size, head, lambda step: le(4, step - 4 | 1 << 31), 32768, lambda left: fill(le(4, 1 | 1 << 31) + b"x", left))


def bz2(size):
    return repeated(size, b"BZh91AY&SY", b"\x5a\x17\xc3")


def xz(size):
    flags = b"\0\1"
    block = b"\2\0\x21\1\x16" + bytes(3)
    head = b"\xfd7zXZ\0" + flags + le(4, zlib.crc32(flags)) + block + le(4, zlib.crc32(block))
    return jumping(size, lambda left: head + b"\1" + be(2, min(left, 65535)), b"\2\0\0x")


def tar_header(length):
    block = bytearray(512)
    block[0:1], block[100:107], block[108:115], block[116:123] = b"a", b"0000644", b"0000000", b"0000000"
    block[124:135], block[136:147], block[156:157], block[257:265], block[148:156] = b"%011o" % length, b"%011o" % 0, b"0", b"ustar\x0000", b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def tar(size):
    return jumping(size // 2048 * 2048, tar_header, tar_header(0))


def ar(size):
    def member(length):
        return b"a/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + (b"%d" % length).ljust(10) + b"`\n"
    return jumping(size & ~7, lambda left: b"!<arch>\n" + member(left), member(0))


def cpio(size):
    def entry(length):
        return b"070701" + b"".join(b"%08x" % field for field in (1, 0o100644, 0, 0, 1, 0, length, 0, 0, 0, 0, 2, 0)) + b"a\0"
    return jumping(size & ~15, entry, entry(0), align=4)


def rar(size):
    def block(kind, flags, body):
        head = bytes([kind]) + le(2, flags) + le(2, 7 + len(body)) + body
        return le(2, zlib.crc32(head) & 0xffff) + head
    def member(length):
        return block(0x74, 0x8000, le(4, length) + le(4, length) + b"\2" + le(4, 0) + le(4, 0x21) + b"\x14\x30" + le(2, 1) + le(4, 0x20) + b"a")
    return jumping(size, lambda left: b"Rar!\x1a\x07\0" + block(0x73, 0, bytes(6)) + member(left), member(0))


def rar5(size):
    def vint(value):
        return bytes([value >> 7 * n & 127 | 128 for n in range(4)]) + bytes([value >> 28 & 127])
    def block(body):
        body = bytes([len(body)]) + body
        return le(4, zlib.crc32(body)) + body
    def member(length):
        return block(b"\2\2" + vint(length) + b"\0" + vint(length) + b"\0\0\0\1a")
    return jumping(size, lambda left: b"Rar!\x1a\x07\1\0" + block(b"\1\0\0") + member(left), member(0))


def sevenzip(size):
    """All headers name the same end header, whose CRC differs from theirs."""
    end = b"\1\4\6\0\x80" + bytes(min(size // 2, 60000))
    def head(left):
        fields = le(8, size - int(size * 0.25) - len(end) + left) + le(8, len(end)) + le(4, zlib.crc32(end) ^ 1)
        return b"7z\xbc\xaf\x27\x1c\0\4" + le(4, zlib.crc32(fields)) + fields
    return jumping(size, head, b"\0")[:size - len(end)] + end


def cab(size):
    def head(left):
        return (b"MSCF" + bytes(4) + le(4, size) + bytes(4) + le(4, 44) + bytes(4) + b"\3\1" + le(2, 1) * 2 + le(2, 0) + bytes(4) +
                le(4, 62 + left) + le(2, 65535) + le(2, 0) + le(4, 100) + le(4, 0) + bytes(8) + b"a\0")
    return jumping(size, head, bytes(4) + le(2, 1) * 2 + b"x")


# ---- programs, databases, logs -------------------------------------------------------------------


def elf(size):
    def head(left):
        return (b"\x7fELF\2\1\1" + bytes(9) + le(2, 2) + le(2, 62) + le(4, 1) + le(8, 0) + le(8, 0) + le(8, 64 + left) + le(4, 0) + le(2, 64) + le(2, 56) +
                le(2, 0) + le(2, 64) + le(2, 65000) + le(2, 1))
    return jumping(size, head, le(4, 0) + le(4, 1) + bytes(24) + le(8, 1) + bytes(24))


def exe(size):
    def head(left):
        return b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff".ljust(60, b"\0") + le(4, 64 + left)
    sections = b".text\0\0\0" + le(4, 16) * 2 + le(4, 16) + le(4, 1024) + bytes(12) + le(4, 0x60000020)
    pe = b"PE\0\0" + le(2, 0x14c) + le(2, 96) + bytes(12) + le(2, 224) + le(2, 0x102) + (b"\x0b\1" + bytes(26) + le(4, 0x400000) + le(4, 4096) + le(4, 512)).ljust(224, b"\0")
    return jumping(size, head, pe + sections * 96)


def sqlite(size):
    page = bytearray(512)
    page[:24] = b"SQLite format 3\0" + be(2, 512) + b"\1\1\0\x40\x20\x20"
    page[24:28] = page[92:96] = page[40:44] = page[56:60] = be(4, 1)
    page[44:48], page[100:101], page[105:107] = be(4, 4), b"\x0d", be(2, 512)
    out = bytearray()
    while len(out) < size // 4:
        page[28:32] = be(4, (size - len(out)) // 512)
        out += page
    leaf = b"\x0d\0\0\0\0\2\0\0".ljust(512, b"\0")
    return bytes(out + fill(leaf, size - len(out)))


def evtx(size):
    head = b"ElfFile\0" + le(8, 0) + le(8, 9999) + le(8, 1) + le(4, 128) + le(2, 1) + le(2, 3) + le(2, 4096) + le(2, 9999)
    head = head.ljust(120, b"\0")
    head = (head + le(4, 0) + le(4, zlib.crc32(head))).ljust(4096, b"\0")
    chunk = b"ElfChnk\0" + le(8, 1) * 4 + le(4, 128) + le(4, 512) * 2 + le(4, 0)
    chunk = chunk.ljust(512, b"\0")
    chunk = chunk[:124] + le(4, zlib.crc32(chunk[:120] + chunk[128:512])) + chunk[128:]
    return repeated(size, head, chunk.ljust(65536, b"\0"))


def pst(size):
    """The CRC of a header covers 471 bytes from its eighth on; MS-PST uses the usual polynomial, without the inversions."""
    def crc(data):
        return zlib.crc32(data, 0xffffffff) ^ 0xffffffff
    out = bytearray()
    while len(out) < size // 4:
        root = bytes(4) + le(8, size - len(out)) + le(8, 0x4400) + bytes(16) + le(8, 1) + le(8, 0x4600) + le(8, 2) + le(8, 0x4800) + b"\2\0\0\0"
        part = (b"SM" + le(2, 23) + le(2, 19) + b"\1\1" + bytes(8) + bytes(8) + le(8, 4) + le(4, 1) + bytes(128) + bytes(8) + root).ljust(516, b"\xff")
        part = part[:504] + b"\x80\0\0\0" + part[508:]
        out += (b"!BDN" + le(4, crc(part[:471])) + part + le(4, crc(part))).ljust(1024, b"\0")
    return bytes(out + bytes(size - len(out)))


# ---- from golden files ---------------------------------------------------------------------------


def golden(name, start=0, end=None):
    """A part of one of the golden files: where a header says much that does not matter here."""
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return file.read()[start:end]


def frames(name, length=None):
    """Files of frames: each frame is a header, and all are followed by all that come after; noise ends them, so that none is complete."""
    def craft(size):
        noise = bytes(n * n * 7 + n * 13 >> 3 & 255 for n in range(4096))
        return repeated(size - len(noise), golden(name, 0, length), golden(name, 0, length)) + noise
    return craft


# ---- more pictures -------------------------------------------------------------------------------


def icns(size):
    return jumping(size, lambda left: b"icns" + be(4, min(size, 0xffffff)) + b"info" + be(4, left + 8), b"info" + be(4, 8))


def jp2(size):
    start = be(4, 12) + b"jP  \r\n\x87\n" + be(4, 20) + b"ftypjp2 " + be(4, 0) + b"jp2 "
    return jumping(size, lambda left: start + be(4, left + 8) + b"free", be(4, 8) + b"free")


def jxl(size):
    start = be(4, 12) + b"JXL \r\n\x87\n" + be(4, 20) + b"ftypjxl " + be(4, 0) + b"jxl "
    return jumping(size, lambda left: start + be(4, left + 8) + b"Exif", be(4, 8) + b"free")


def jxl_slow(size):
    """Pictures side by side whose few bytes are decoded to much."""
    return fill(golden("jxl/slow.jxl"), size)


def jxl_dense(size):
    """The same, cut after 64 bytes."""
    return fill(golden("jxl/prefix.jxl", 0, 64), size)


def heif(size):
    return jumping(size, lambda left: be(4, 16) + b"ftypheic" + be(4, 0) + be(4, left + 8) + b"free", be(4, 8) + b"free")


def heif_items(size):
    """Pictures side by side, of 4,096 items each, whose types are looked for among 1,024 of other items."""
    def box(name, content):
        return be(4, len(content) + 8) + name + content
    types = b"".join(box(b"infe", b"\2\0\0\0" + be(2, 60000) + be(2, 0) + b"hvc1\0") for _ in range(1024))
    items = b"".join(be(2, n) + be(4, 0) for n in range(4095))
    head = box(b"ftyp", b"heic" + be(4, 0) + b"heic")
    meta_len = 12 + 14 + len(types) + 16 + len(items) + 14
    last = be(2, 4095) + be(2, 0) + be(2, 1) + be(4, len(head) + meta_len + 8) + be(4, 64)
    meta = box(b"meta", be(4, 0) + box(b"iinf", be(4, 0) + be(2, 1024) + types) +
               box(b"iloc", be(4, 0) + b"\x44\0" + be(2, 4096) + items + last))
    unit = head + meta + box(b"mdat", bytes(64))
    return fill(unit, size)


def cr3(size):
    return jumping(size, lambda left: be(4, 16) + b"ftypcrx " + be(4, 1) + be(4, left + 8) + b"free", be(4, 8) + b"free")


def j2k(size):
    start = golden("j2k/lossy.j2c", 0, 107)
    return stepping(size, lambda left: start + b"\xff\x64" + be(2, left - len(start) - 2) if left > len(start) + 8 else None,
                    lambda step: b"\xff\x64" + be(2, step - 2), 32768, lambda left: fill(b"\xff\x64" + be(2, 4) + b"\0\1", left))


def xcf(size):
    start = b"gimp xcf v011\0" + be(4, 100) * 2 + be(4, 0) + be(4, 150)
    return jumping(size, lambda left: start + be(4, 21) + be(4, left), be(4, 21) + be(4, 0))


def exr(size):
    return jumping(size, lambda left: b"\x76\x2f\x31\x01\2\0\0\0a\0string\0" + le(4, left), b"a\0string\0" + le(4, 0))


def mrw(size):
    return jumping(size, lambda left: b"\0MRM" + be(4, min(size, 0xffff00)) + b"\0PAD" + be(4, left), b"\0PAD" + be(4, 0))


def emf(size):
    start = le(4, 1) + le(4, 88) + le(4, 0) * 2 + le(4, 100) * 2 + le(4, 0) * 2 + le(4, 100) * 2 + b" EMF" + le(4, 0x10000) + le(4, size & ~3) + \
        le(4, size // 16) + le(2, 1) + bytes(2) + le(4, 0) * 3 + le(4, 100) * 4
    return jumping(size, lambda left: start + le(4, 70) + le(4, left + 12) + le(4, left), le(4, 70) + le(4, 12) + le(4, 0), align=4)


def wmf(size):
    def head(left):
        return b"\1\0\x09\0\0\3" + le(4, size // 2) + le(2, 1) + le(4, size // 2) + bytes(2) + le(4, left // 2 + 5) + le(2, 0x626) + le(2, 15) + le(2, min(left, 65535))
    return jumping(size, lambda left: head(left)[:28], le(4, 3) + le(2, 0x1e), align=2)


def wpg(size):
    def head(left):
        return b"\xffWPC" + le(4, 16) + b"\1\x16\1\0" + bytes(4) + b"\x0f\xff" + le(2, 0x8000 | left >> 16) + le(2, left & 0xffff)
    return jumping(size, head, b"\x02\0")


def fits(size):
    return repeated(size, b"SIMPLE  =                    T".ljust(80), b"COMMENT a".ljust(80))


def dicom(size):
    meta = b"\2\0\x10\0UI" + le(2, 20) + b"1.2.840.10008.1.2.1\0"
    start = bytes(128) + b"DICM\2\0\0\0UL" + le(2, 4) + le(4, len(meta)) + meta + b"\x08\0\x40\x11SQ\0\0" + le(4, 0xffffffff) + b"\xfe\xff\0\xe0"
    return jumping(size, lambda left: start + le(4, left), b"\xfe\xff\0\xe0" + le(4, 0))


def glb(size):
    text = b'{"asset":{"version":"2.0"}} '
    start = b"glTF" + le(4, 2) + le(4, size & ~3) + le(4, len(text)) + b"JSON" + text
    return jumping(size, lambda left: start + le(4, left) + b"ABCD", le(4, 0) + b"ABCD", align=4)


def threeds(size):
    return jumping(size, lambda left: b"MM" + le(4, size) + b"\2\0\x0a\0\0\0\3\0\0\0" + b"\0\xb0" + le(4, left + 6), b"\0\xb0" + le(4, 6))


def blend(size):
    def block(length):
        return b"DATA" + le(4, length) + le(8, 1) + le(4, 0) + le(4, 1)
    return jumping(size, lambda left: b"BLENDER-v279" + block(left), block(0), align=4)


def dxf(size):
    return repeated(size, b"0\nSECTION\n", b"0\nLINE\n")


def fbx(size):
    return repeated(size, golden("fbx/model.fbx", 0, 27), golden("fbx/model.fbx", 27))


def pnm(size):
    return repeated(size, b"P5\n9999 9999\n255\n", b"\1\2")


def qoi(size):
    return repeated(size, b"qoif" + be(4, 20000) * 2 + b"\3\0", b"\xfe\1\2\3")


def hdr(size):
    return repeated(size, b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 9999 +X 9999\n", b"\1\2\3\4")


def pcx(size):
    start = b"\x0a\5\1\x08" + bytes(4) + le(2, 30000) * 2 + le(2, 72) * 2 + bytes(48) + b"\0\1" + le(2, 30002) + le(2, 1)
    return repeated(size, start.ljust(128, b"\0"), b"\1\2")


def sgi(size):
    start = (b"\1\xda\1\1\0\3" + be(2, 1000) + be(2, 20) + be(2, 3) + be(4, 0) + be(4, 255)).ljust(512, b"\0")
    row = 512 + 480
    return repeated(size, start + be(4, row) * 60 + be(4, 30000) * 60, b"\x81\1")


def ico(size):
    entry = b"\x20\x20\0\0\1\0\x20\0"
    head = b"\0\0\1\0\xff\0" + entry + le(4, 60000) + b"\x16\0\0\0"
    return repeated(size, head, entry + le(4, 60000) + le(4, 4086))


def dds(size):
    start = (b"DDS " + le(4, 124) + le(4, 0x1007) + le(4, 16000) * 2 + bytes(56) + le(4, 32) + le(4, 0x41) + le(4, 0) + le(4, 32) +
             le(4, 0xff0000) + le(4, 0xff00) + le(4, 0xff) + le(4, 0xff000000) + le(4, 0x1000)).ljust(128, b"\0")
    return repeated(size, start, b"\1\2\3\4")


# ---- more audio and video ------------------------------------------------------------------------


def asf(size):
    start = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + le(8, size) + le(4, size // 24) + b"\1\2"
    pad = bytes.fromhex("74d40618dfca0945a4ba9aabcb96aae8")
    return jumping(size, lambda left: start + pad + le(8, left + 24), pad + le(8, 24))


def rm(size):
    start = golden("rm/no-data.rm", 0, 68)
    return jumping(size, lambda left: start[:14] + be(4, 60000) + start[18:] + b"CONT" + be(4, left + 10) + bytes(2), b"CONT" + be(4, 10) + bytes(2))


def mxf(size):
    key = bytes.fromhex("060e2b34010101020301021001000000")
    start = golden("mxf/alone.mxf", 0, 108)
    return jumping(size, lambda left: start + key + b"\x84" + be(4, left), key + b"\x84" + be(4, 0))


def dff(size):
    return jumping(size, lambda left: b"FRM8" + be(8, size & ~1) + b"DSD FVER" + be(8, 4) + be(4, 0x01050000) + b"COMT" + be(8, left), b"COMT" + be(8, 0), align=2)


def dsf(size):
    fmt = b"fmt " + le(8, 52) + le(4, 1) + le(4, 0) + le(4, 2) * 2 + le(4, 2822400) + le(4, 1) + le(8, size * 4) + le(4, 4096) + le(4, 0)
    return repeated(size, b"DSD " + le(8, 28) + le(8, size) + le(8, 0) + fmt + b"data" + le(8, size), b"\x69\x96")


def au(size):
    return repeated(size, b".snd" + be(4, 24) + be(4, size) + be(4, 3) + be(4, 8000) + be(4, 1), b"\1\2\3\5")


def h264(size):
    sets = b"\0\0\0\1\x67\x42\xc0\x1e\xda\x11\xe4" + b"\0\0\0\1\x68\xce\x38\x80"
    return repeated(size, sets, b"\0\0\1\x41\x9b\x73\xa9\xbe")


def ivf(size):
    start = b"DKIF" + le(2, 0) + le(2, 32) + b"VP80" + le(2, 100) * 2 + le(4, 30) + le(4, 1) + le(4, size // 12) + le(4, 0)
    return jumping(size, lambda left: start + le(4, left) + le(8, 0), le(4, 0) + le(8, 0))


def ape(size):
    """All audio is hashed for each header, and the MD5 is wrong."""
    out = bytearray()
    while len(out) < size // 4:
        frames_len = size - len(out) - 52 - 24 - 4
        out += b"MAC " + le(2, 3990) + le(2, 0) + le(4, 52) + le(4, 24) + le(4, 4) + le(4, 0) + le(4, frames_len) + le(4, 0) + le(4, 0) + b"\1" * 16 + \
            le(2, 2000) + le(2, 0) + le(4, 73728) + le(4, 100) + le(4, 1) + le(2, 16) + le(2, 2) + le(4, 44100) + le(4, 80)
    return bytes(out + fill(bytes(n * 37 & 255 for n in range(251)), size - len(out)))


def tta(size):
    """One frame for each header, up to the image's end; its CRC is wrong."""
    out = bytearray()
    while len(out) < size // 4:
        head = b"TTA1" + le(2, 1) + le(2, 1) + le(2, 16) + le(4, 2000000000) + le(4, 1 << 30)
        table = le(4, size - len(out) - 22 - 12)
        out += head + le(4, zlib.crc32(head)) + table + le(4, zlib.crc32(table))
    return bytes(out + fill(bytes(n * 37 & 255 for n in range(251)), size - len(out)))


def mpc(size):
    start = b"MPCK" + golden("mpc/packets.mpc", 4, 4 + golden("mpc/packets.mpc", 6, 7)[0])
    def packet(length):
        return b"RG" + bytes([length >> 28 & 127 | 128, length >> 21 & 127 | 128, length >> 14 & 127 | 128, length >> 7 & 127 | 128, length & 127])
    return jumping(size, lambda left: start + packet(left + 7), packet(7))


def amr(size):
    return repeated(size, b"#!AMR\n", b"\x7c")


def it(size):
    """Many samples' headers at one place."""
    start = (b"IMPM".ljust(32, b"\0") + le(2, 1) * 3 + le(2, 4000) + bytes(8)).ljust(192, b"\0") + b"\xff" + le(4, 40000) * 4
    return repeated(size, start, b"IMPS".ljust(80, b"\0"))


# ---- more documents ------------------------------------------------------------------------------


def djvu(size):
    info = b"INFO" + be(4, 10) + be(2, 100) * 2 + b"\x18\0\x2c\1\x16\1"
    return jumping(size, lambda left: b"AT&TFORM" + be(4, size + 12) + b"DJVU" + info + b"ANTa" + be(4, left), b"ANTa" + be(4, 0), align=2)


def mat(size):
    start = golden("mat/plain.mat", 0, 128)
    return jumping(size, lambda left: start + le(4, 15) + le(4, left), le(4, 15) + le(4, 0))


def shp(size):
    return repeated(size, golden("shp/lines.shp", 0, 100), golden("shp/lines.shp", 100))


def dbf(size):
    start = golden("dbf/fox.dbf", 0, 0x1a8)
    return repeated(size, start[:4] + le(4, 0x7fffff) + start[8:], b" ".ljust(0x2f, b"a"))


def netcdf(size):
    start = b"CDF\1" + be(4, 0) + bytes(8) + be(4, 12) + be(4, 0xffffff)
    def attribute(length):
        return be(4, 1) + b"a\0\0\0" + be(4, 1) + be(4, length)
    return jumping(size, lambda left: start + attribute(left), attribute(0), align=4)


def parquet(size):
    return repeated(size, b"PAR1\x15\0\x15\0", le(4, 8) + b"PAR1")


def arrow(size):
    return repeated(size, golden("arrow/nothing.arrow", 0, 8), golden("arrow/nothing.arrow", 8, 208))


def gguf(size):
    def pair(length):
        return le(8, 1) + b"a" + le(4, 8) + le(8, length)
    return jumping(size, lambda left: b"GGUF" + le(4, 3) + le(8, 1) + le(8, size) + pair(left), pair(0))


def json_text(size):
    return repeated(size, b'{"type":"Feature","a":', b"[1,")


def torrent(size):
    return repeated(size, b"d4:infod1:a", b"l")


def pfb(size):
    start = b"\x80\1" + le(4, 16) + b"%!PS-AdobeFont-1"
    return jumping(size, lambda left: start + b"\x80\2" + le(4, left), b"\x80\2" + le(4, 1) + b"x")


def sfnt(size):
    """Each header's one large table reaches to the image's end, and its checksum is wrong."""
    out = bytearray()
    while len(out) < size // 4:
        place = 12 + 4 * 16
        out += b"\0\1\0\0\0\4\0\x40\0\2\0\0"
        for name, length in ((b"cmap", 4), (b"glyf", size - len(out) - 200), (b"head", 54), (b"maxp", 6)):
            out += name + be(4, 1) + be(4, place) + be(4, length)
            place += length + 3 & ~3 if length < 100 else 0
    return bytes(out + fill(b"\1\2\3\5", size - len(out)))


def woff(size):
    out = bytearray()
    while len(out) < size // 4:
        out += b"wOFF\0\1\0\0" + be(4, size - len(out)) + be(2, 1) + be(2, 0) + be(4, size) + bytes(24) + b"glyf" + be(4, 64) + be(4, size - len(out) - 80) * 2 + be(4, 1)
    return bytes(out + fill(b"\1\2\3\5", size - len(out)))


def mobi(size):
    start = b"a".ljust(60, b"\0") + b"BOOKMOBI" + bytes(8) + be(2, 60000)
    return repeated(size, start, be(4, 500000) + b"\0\0\0\1")


def chm(size):
    return repeated(size, golden("chm/beyond.chm", 0, 96), golden("chm/beyond.chm", 96))


def hdf5(size):
    """All headers lead to object headers, which continue at each other."""
    return repeated(size, golden("hdf5/version-0.h5", 0, 96), golden("hdf5/version-0.h5", 96, 512))


# ---- more mail -----------------------------------------------------------------------------------


def tnef(size):
    start = le(4, 0x223e9f78) + le(2, 1) + b"\1" + bytes.fromhex("069008000400000000000100") + le(2, 1)
    return repeated(size, start, b"\1" + bytes.fromhex("0d800400") + le(4, 0) + le(2, 0))


def vobject(size):
    return repeated(size, b"BEGIN:VCARD\r\n", b"X:y\r\n")


def calendar(size):
    return repeated(size, b"BEGIN:VCALENDAR\r\n", b"BEGIN:VEVENT\r\nEND:VEVENT\r\n")


# ---- more archives -------------------------------------------------------------------------------


def arj(size):
    def header(body):
        body = body + b"a\0\0"
        return b"\x60\xea" + le(2, len(body)) + body + le(4, zlib.crc32(body)) + le(2, 0)
    main = header(b"\x1e\x0b\1\0\0\0\2\0" + bytes(22))
    def member(length):
        return header(b"\x1e\x0b\1\0\0\0\0\0" + le(4, 0x21) + le(4, length) * 2 + le(4, 0) + bytes(2) + le(2, 0x20) + bytes(2))
    return jumping(size, lambda left: main + member(left), member(0))


def lzh(size):
    def member(length):
        body = b"-lh0-" + le(4, length) * 2 + le(4, 0x210000) + b"\x20\0\1a" + le(2, 0)
        return bytes([len(body), sum(body) & 255]) + body
    return jumping(size, member, member(0))


def lzop(size):
    fields = be(2, 0x1030) + be(2, 0x2080) + be(2, 0x940) + b"\1\5" + be(4, 0) + be(4, 0o100644) + be(4, 0) * 2 + b"\0"
    start = b"\x89LZO\0\r\n\x1a\n" + fields + be(4, zlib.adler32(fields))
    return stepping(size, lambda left: start + be(4, left - len(start) - 8) * 2 if left > len(start) + 12 else None,
                    lambda step: be(4, step - 8) * 2, 32768, lambda left: fill(be(4, 1) * 2 + b"x", left))


def lzma(size):
    return repeated(size, b"\x5d\0\0\x10\0" + b"\xff" * 8 + b"\0", bytes(64))


def lzip(size):
    return repeated(size, b"LZIP\1\x14\0", bytes(64))


def hqx(size):
    return repeated(size, b"(This file must be converted with BinHex 4.0)\n\n:", b"$f*TEQKPH#jdCA0d,R0TEfJi" * 2 + b"\n")


def iso(size):
    start = golden("iso/small.iso", 32768, 34816)
    return bytes(32768) + repeated(size - 32768, start, b"\2CD001\1".ljust(2048, b"\0"))


def squashfs(size):
    return repeated(size, golden("squashfs/cut-zeros.sqfs", 0, 96), golden("squashfs/cut-zeros.sqfs", 96, 1120))


def wim(size):
    return repeated(size, golden("wim/packed-table.wim", 0, 208), golden("wim/packed-table.wim", 208))


def xar(size):
    out = bytearray()
    while len(out) < size // 4:
        out += b"xar!" + be(2, 28) + be(2, 1) + be(8, size - len(out) - 28) + be(8, size) + be(4, 1)
    return bytes(out + fill(b"\0\2\0\xfd\xffab", size - len(out)))


def rpm(size):
    return repeated(size, golden("rpm/gz.rpm", 0, 96), golden("rpm/gz.rpm", 96))


# ---- more programs, databases, logs, keys --------------------------------------------------------


def macho(size):
    def head(left):
        return le(4, 0xfeedfacf) + le(4, 0x01000007) + le(4, 3) + le(4, 2) + le(4, 60000) + le(4, size & ~7) + le(4, 0) * 2 + le(4, 0x31) + le(4, left + 8)
    return jumping(size, head, le(4, 0x31) + le(4, 8), align=8)


def wasm(size):
    def section(length):
        length += 2
        return b"\0" + bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14 & 127 | 128, length >> 21 & 127 | 128, length >> 28 & 15]) + b"\1a"
    return jumping(size, lambda left: b"\0asm\1\0\0\0" + section(left), section(0))


def java_class(size):
    return stepping(size, lambda left: b"\xca\xfe\xba\xbe" + be(4, 52) + be(2, 65535) + b"\1" + be(2, left - 13) if left > 16 else None,
                    lambda step: b"\1" + be(2, step - 3), 32768, lambda left: fill(b"\1\0\0", left))


def dex(size):
    """Each header's checksum is of all that follows, and is wrong."""
    out = bytearray()
    start = golden("dex/changed.dex", 0, 112)
    while len(out) < size // 4:
        out += start[:8] + le(4, 1) + start[12:32] + le(4, size - len(out)) + start[36:]
    return bytes(out + fill(b"\1\2\3\5", size - len(out)))


def e01(size):
    return bytes(512) + repeated(size - 512, golden("e01/first.e01", 0, 13), golden("e01/first.e01", 13, 89))


def ese(size):
    return repeated(size, golden("ese/checksum.edb", 0, 2048), golden("ese/checksum.edb", 4096, 6144))


def etl(size):
    return repeated(size, golden("etl/one.etl"), golden("etl/one.etl"))


def evt(size):
    return repeated(size, golden("evt/no-record.evt", 0, 48), golden("evt/ring.evt", 48, 200))


def regf(size):
    return repeated(size, golden("regf/hive.dat", 0, 4096), golden("regf/hive.dat", 4096, 8192))


def journal(size):
    head = golden("journal/header.journal", 0, 240).ljust(256, b"\0")
    head = head[:88] + le(8, 256) + le(8, size) + head[104:]
    def item(length):
        return b"\1".ljust(8, b"\0") + le(8, length)
    return jumping(size, lambda left: head + item(left + 16), item(64).ljust(64, b"\0"), align=8)


def kbx(size):
    start = golden("kbx/two.kbx", 0, 32)
    return jumping(size, lambda left: start + be(4, left + 5) + b"\0", be(4, 5) + b"\0")


def snss(size):
    return stepping(size, lambda left: b"SNSS\1\0\0\0" + le(2, left - 10) if left > 12 else None, lambda step: le(2, step - 2), 32768,
                    lambda left: fill(le(2, 1) + b"\1", left))


def wal(size):
    name = "sqlitewal/older-frames.wal"
    return repeated(size, golden(name, 0, 32), golden(name, 32, 32 + 24 + 1024))


def sqlite_journal(size):
    name = "sqlitejournal/first.journal"
    return repeated(size, golden(name, 0, 512), golden(name, 512))


def thumbcache(size):
    start = golden("thumbcache/version21.db", 0, 24)
    return repeated(size, start, golden("thumbcache/version21.db", 24))


def tracev3(size):
    start = golden("tracev3/log.tracev3", 0, 0xe0)
    def part(length):
        return le(4, 0x6001) + le(4, 0) + le(8, length)
    return jumping(size, lambda left: start + part(left), part(0), align=8)


def mft(size):
    return frames("mft/one.mft", 1024)(size)


def pcap(size):
    start = bytes.fromhex("d4c3b2a1020004000000000000000000") + le(4, 262144) + le(4, 1)
    def packet(length):
        return le(4, 1700000000) + le(4, 0) + le(4, length) * 2
    return stepping(size, lambda left: start + packet(left - 40) if left > 44 else None, lambda step: packet(step - 16), 32768,
                    lambda left: fill(packet(1) + b"x", left))


def pcapng(size):
    start = b"\x0a\x0d\x0d\x0a" + le(4, 28) + b"\x4d\x3c\x2b\x1a" + le(2, 1) + le(2, 0) + b"\xff" * 8 + le(4, 28)
    return repeated(size, start, le(4, 4) + le(4, 12) * 2)


def vmdk(size):
    """Each header's directory is the whole rest."""
    out = bytearray(512)
    while len(out) < size // 4:
        out += (b"KDMV" + le(4, 1) + le(4, 3) + le(8, 1 << 30) + le(8, 128) + le(8, 0) * 2 + le(4, 512) + le(8, 1) + le(8, 1) + le(8, 128) + b"\0\n \r\n").ljust(512, b"\0")
    return bytes(out + fill(le(4, 1), size - len(out)))


def qcow2(size):
    head = b"QFI\xfb" + be(4, 2) + be(8, 0) + be(4, 0) + be(4, 9) + be(8, 1 << 40) + be(4, 0) + be(4, 1 << 20) + be(8, 512) + be(8, 512) + be(4, 4096) + be(4, 0) + be(8, 0)
    return bytes(512) + repeated(size - 512, head.ljust(512, b"\0"), be(8, 512))


def qcow(size):
    head = b"QFI\xfb" + be(4, 1) + be(8, 0) + be(8, 1 << 40) + b"\x09\x0c" + bytes(2) + be(4, 0) + be(8, 64)
    return bytes(512) + repeated(size - 512, head.ljust(64, b"\0"), be(8, 512))


def vdi(size):
    return bytes(512) + repeated(size - 512, golden("vdi/map.vdi", 0, 512), le(4, 1))


def bplist(size):
    return repeated(size, b"bplist00", b"\x50")


def der(size):
    return repeated(size, b"\x30\x82\xff\xff\x30\x82\xff\xf0\xa0\3\2\1\2\2\1\1", b"\x30\x80")


def pem(size):
    return repeated(size, b"-----BEGIN PRIVATE KEY-----\n", b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n")


def pgp(size):
    return frames("pgp/ring-old.gpg")(size)


def pgp_text(size):
    return repeated(size, b"-----BEGIN PGP MESSAGE-----\n\n", b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n")


def age(size):
    return repeated(size, golden("age/one.age", 0, 120), b"-> a b\nAAAA\n")


def jks(size):
    return jumping(size, lambda left: b"\xfe\xed\xfe\xed" + be(4, 2) + be(4, 60000) + be(4, 2) + be(2, 1) + b"a" + be(8, 0) + be(2, 5) + b"X.509" + be(4, left),
                   be(4, 2) + be(2, 1) + b"a" + be(8, 0) + be(2, 5) + b"X.509" + be(4, 0))


def kdbx(size):
    start = bytes.fromhex("03d9a29a67fb4bb5") + le(4, 0x40000)
    return jumping(size, lambda left: start + b"\x0c" + le(4, left), b"\x0c" + le(4, 0))


def bdb(size):
    return repeated(size, golden("bdb/hash-places.db", 0, 512), golden("bdb/hash-places.db", 512, 1024))


def binarycookies(size):
    return repeated(size, b"cook" + be(4, 60000), be(4, 4096))


def dsstore(size):
    return repeated(size, golden("dsstore/desk.DS_Store", 0, 36), golden("dsstore/desk.DS_Store", 36, 2048))


def leveldb(size):
    return repeated(size, golden("leveldb/manifest.log", 0, 512).ljust(512, b"\0"), golden("leveldb/small.log"))


def urlcache(size):
    return repeated(size, golden("urlcache/map.dat", 0, 512), golden("urlcache/map.dat", 16384, 16896))


def mdb(size):
    return repeated(size, golden("mdb/jet4.mdb", 0, 4096), golden("mdb/jet4.mdb", 4096, 8192))


def dbx(size):
    return repeated(size, golden("dbx/empty.dbx", 0, 0x24bc), golden("dbx/empty.dbx", 0x24bc))


def indd(size):
    return repeated(size, golden("indd/plain.indd", 0, 4096), golden("indd/plain.indd", 8192, 12288))


def one(size):
    return repeated(size, golden("one/store.one", 0, 1024), golden("one/store.one", 1024, 2048))


def ani(size):
    return jumping(size, lambda left: b"RIFF" + le(4, size & ~1) + b"ACONJUNK" + le(4, left), b"JUNK" + le(4, 0), align=2)


def xm(size):
    def head(left):
        return b"Extended Module: ".ljust(37) + b"\x1a" + b"a".ljust(20) + le(2, 0x104) + le(4, left + 4 + 16) + le(2, 1) * 2 + le(2, 4) + le(2, 256) + le(2, 0) * 2 + \
            le(2, 6) + le(2, 125)
    return jumping(size, head, le(4, 9) + b"\0" + le(2, 1) + le(2, 0))


def deb(size):
    def member(name, length):
        return name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"100644".ljust(8) + (b"%d" % length).ljust(10) + b"`\n"
    start = b"!<arch>\n" + member(b"debian-binary", 4) + b"2.0\n"
    return jumping(size & ~7, lambda left: start + member(b"control.tar.gz", left), member(b"data.tar", 0), align=2)


def mozlz4(size):
    return repeated(size, b"mozLz40\0" + le(4, 1 << 29), b"\x11a\1\0")


def text(size):
    return repeated(size, b"[a]\nb=c\n", b"d=e\n")


def usn(size):
    return frames("usn/two.usn", 80)(size)


def jumplist(size):
    name = "jumplist/tasks.customDestinations-ms"
    return repeated(size, golden(name, 0, 128), golden(name, 36))


def safetensors(size):
    start = b'{"__metadata__":{"format":"pt"},'
    return repeated(size, le(8, size) + start, b'"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},')


def eot(size):
    name = "eot/first.eot"
    return repeated(size, golden(name, 0, 256), golden(name, 256))


def x3f(size):
    return repeated(size, golden("x3f/section.x3f", 0, 256), golden("x3f/section.x3f", 256))


def crw(size):
    return repeated(size, golden("crw/little.crw", 0, 256), golden("crw/little.crw", 256))


def dwg(size):
    return repeated(size, golden("dwg/old.dwg", 0, 128), golden("dwg/old.dwg", 128))


def eps(size):
    return repeated(size, b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"1 2 moveto\n")


def lnk(size):
    return repeated(size, golden("lnk/place.lnk", 0, 76), golden("lnk/place.lnk", 76))


def emlx(size):
    return repeated(size, b"9000000   \nReturn-Path: <a@b.c>\r\nReceived: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n", b"\r\nhello world\r\n")


def xpm(size):
    """Comments may follow each other, and each says that a picture begins."""
    start = b"/* XPM */" * 440 + b'static char *a[] = {\n"64 65535 1 1",\n"a c #000",\n'
    return (start + fill(b'"' + b"a" * 64 + b'",\n', max(size - len(start), 0)))[:size]


def xwd(size):
    head = golden("xwd/direct.xwd", 0, 111)
    return repeated(size, head[:16] + be(4, 16384) * 2 + head[24:48] + be(4, 3 * 16384) + head[52:80] + be(4, 16384) * 2 + head[88:], b"\0")


def sunras(size):
    return fill(be(4, 0x59a66a95) + be(4, 32768) * 2 + be(4, 24) + be(4, 0) + be(4, 2) + be(4, 0) * 2, size)


def viff(size):
    head = golden("viff/colour.viff", 0, 1024)
    return repeated(size, head[:520] + be(4, 16384) * 2 + head[528:], b"\1")


def pict(size):
    start = bytes(522) + bytes.fromhex("001102ff0c00") + bytes.fromhex("fffe0000004800000048000000000000000a000a00000000")
    return jumping(size, lambda left: start + b"\x82\0" + be(4, left), b"\0\x1e", align=2)


def tga(size):
    return fill(bytes.fromhex("000002000000000000000000000cff031800"), size)


def tga_coded(size):
    return repeated(size, bytes.fromhex("00000a000000000000000000000cff031800"), b"\xff\1\2\3")


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def onnx(size):
    def head(left):
        return b"\x08\7\x12\7pytorch\x1a" + varint(left)
    return jumping(size, head, b"\x1a\0")


def ber(size):
    start = bytes.fromhex("3080020103308006092a864886f70d010701")
    return jumping(size, lambda left: start + b"\4\x83" + be(3, min(left, 0xffffff)), b"\5\0")


def w64(size):
    start = golden("w64/plain.w64", 0, 80)
    guid = b"junk" + start[28:40]
    return jumping(size, lambda left: start[:16] + le(8, size) + start[24:] + guid + le(8, left + 24), guid + le(8, 24), align=8)


def dts(size):
    def head(left):
        if left < 96:
            return None
        return b"\x7f\xfe\x80\1" + be(4, 0xfc << 24 | 31 << 18 | (min(left, 16384) - 1) << 4) + b"\x34" + bytes(7)
    frame = head(96).ljust(96, b"\5")
    return stepping(size, head, lambda left: head(left) if left >= 96 else b"", 8192, lambda left: fill(frame, left))


def h265(size):
    return repeated(size, golden("h265/sets.h265", 0x1c, 0x50), b"\0\0\1\2\1\xd0\x9b\x73\xa9\xbe\x55")


def stl(size):
    facet = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    return fill(b"solid ", size // 4) + b"\n" + fill(facet, size - size // 4 - 1)


def dmg(size):
    return fill(b"\x78\xda\xed\xd1" + bytes(range(28)), size)


def psp(size):
    start = golden("psp/picture.pspimage", 0, 36)
    attributes = b"~BK\0" + le(2, 0) + le(4, 46) + le(4, 46) + bytes(42)
    return jumping(size, lambda left: start + attributes + b"~BK\0" + le(2, 1) + le(4, left), b"~BK\0" + le(2, 1) + le(4, 0), align=2)


def jffs2(size):
    name = "jffs2/image.jffs2"
    return repeated(size, golden(name, 0, 12), golden(name, 12, 4096))


def cramfs(size):
    head = golden("cramfs/image.cramfs", 0, 76)
    return repeated(size, head[:4] + le(4, size // 2) + head[8:], bytes(range(256)))


def backup(size):
    return jumping(size // 2048 * 2048, lambda left: b"ANDROID BACKUP\n1\n0\nnone\n" + tar_header(left), tar_header(0))


def uuencode(size):
    return repeated(size, b"begin 644 a\n", b"M" + b"!" * 60 + b"\n")


def mdmp(size):
    def head(left):
        return b"MDMP\x93\xa7" + bytes(2) + le(4, 1024) + le(4, left) + bytes(16)
    return jumping(size, head, le(4, 5) + le(4, min(size, 1 << 20)) + le(4, 64), align=4)


def compress_z(size):
    name = "compress_z/text.Z"
    return repeated(size, golden(name, 0, 3), golden(name, 3))


def warc(size):
    def head(left):
        return b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:a>\r\nWARC-Target-URI: a\r\nContent-Length: %010d\r\n\r\n" % left
    return jumping(size, head, b"\r\n\r\n" + head(0))


def tdf(size):
    return jumping(size, lambda left: b"TDF$" + le(4, 1) + be(4, left), be(4, 0xffffffff), align=4)


def simplecache(size):
    entry = golden("simplecache/alone.cache")
    end = entry[entry.index(le(8, 0xf4fa6f45970d41d8)):][:12]
    return repeated(size, entry[:128], end + le(4, 1) + le(4, 100) + bytes(4))


def bks(size):
    def entry(length):
        return b"\4\0\1a" + be(8, 1 << 40) + be(4, 0) + be(4, length)
    return jumping(size, lambda left: be(4, 2) + be(4, 20) + bytes(range(20)) + be(4, 1024) + entry(left), entry(0))


def vimswap(size):
    name = "vimswap/text.swp"
    return repeated(size, golden(name, 0, 4096), golden(name, 4096))


def qm(size):
    start = golden("qm/golden.qm", 0, 16)
    return jumping(size, lambda left: start + b"\x69" + be(4, left), b"\x69" + be(4, 0))


def cram(size):
    return jumping(size, lambda left: b"CRAM\2\1".ljust(26, b"a") + le(4, left) + bytes(8), le(4, 0) + bytes(8))


def summed(head, at):
    """With the word at `at` such that the sum of all is 0."""
    total = sum(int.from_bytes(head[place:place + 4], "big") for place in range(0, len(head), 4))
    return head[:at] + be(4, -total % (1 << 32)) + head[at + 4:]


def romfs(size):
    def node(length):
        return summed(be(4, 2) + be(4, 0) + be(4, length) + bytes(4) + b"a".ljust(16, b"\0"), 12)
    def head(left):
        return summed((b"-rom1fs-" + be(4, size) + bytes(4) + b"a".ljust(16, b"\0") + node(left + 512 - 64)).ljust(512, b"\0"), 12)
    return jumping(size & ~511, head, node(0))


def dv(size):
    """Ten streams of frames, each in bytes of its blocks that the others do not look at."""
    blocks = [(0x1f, 0)] + [(0x3f, n) for n in range(2)] + [(0x5f, n) for n in range(3)]
    for n in range(9):
        blocks += [(0x7f, n)] + [(0x9f, 15 * n + i) for i in range(15)]
    frame = b"".join(bytes([kind, sequence << 4 | 7, number, 0x3f if kind == 0x1f else 0xff, 0xff, 0x78, 0x78, 0x78]) * 10
                     for sequence in range(10) for kind, number in blocks)
    return fill(frame, size)


def mo(size):
    """What follows each header is its table, and headers are entries of it, too."""
    head = bytes.fromhex("de120495") + le(4, 0) + le(4, min(size // 4 * 3 // 8, 0xfffff)) + le(4, 28) * 2 + le(4, 0) + le(4, 28) + le(4, 0)
    return repeated(size, head, le(4, 28) + le(4, 0))


def appledouble(size):
    """All lead to one resource fork, whose map ends with a name that does not."""
    fork = (be(4, 16) * 2 + be(4, 0) + be(4, 65536)) * 2 + bytes(8) + be(2, 28) + be(2, 30) + be(2, 8186)
    fork = fork.ljust(16 + 65535, b"\0") + b"\5"
    chain = size // 4 // 38 * 38
    heads = (be(4, 0x00051607) + be(4, 0x00020000) + bytes(16) + be(2, 1) + be(4, 2) + be(4, chain - at) + be(4, len(fork)) for at in range(0, chain, 38))
    return (b"".join(heads) + fork).ljust(size, b"\0")


def parallels(size):
    """Each header's table is the whole rest."""
    head = b"WithouFreSpacExt" + le(4, 2) + le(4, 16) + le(4, 1024) + le(4, 1 << 20) + le(4, size // 4 * 3 // 4)
    return repeated(size, head.ljust(64, b"\0"), le(4, 0))


def luac(size):
    """The names of the sources reach up to one list of constants."""
    start = b"\x1bLuaS\0\x19\x93\r\n\x1a\n\4\x08\4\x08\x08" + le(8, 0x5678) + le(8, 0x4077280000000000) + b"\1\xff"
    function = bytes(8) + b"\0\2\2" + le(4, 1) + bytes(4) + le(4, 0x7fffffff)
    return jumping(size, lambda left: start + le(8, left + 1), function + bytes(size))


def ppk(size):
    """Headers in one line, before the longest list."""
    start = b"PuTTY-User-Key-File-2: " * 100 + b"a\nEncryption: none\nComment: a\nPublic-Lines: 10000\n"
    return fill(start + (b"A" * 64 + b"\n") * 10000, size)


def fit(size):
    """Each header is a message of those before it."""
    return fill(b"\x0c\x20\0\0" + le(4, 0x0fffffff) + b".FIT" + b"\x4c\0\0\0\0\1\0\x14\x0d", size)


def aff(size):
    """The pages are stored blocks up to the image's middle and beyond."""
    def block(left):
        return b"\0" + le(2, left - 5) + le(2, 0xffff - (left - 5))

    def head(left):
        start = b"AFF10\r\n\0" + b"AFF\0" + bytes(12) + b"ATT\0" + be(4, 24) + b"AFF\0" + be(4, 5) + be(4, size // 2) + be(4, 1) + b"page0x\1"
        return start + block(left - len(start)) if left > len(start) + 5 else None
    return stepping(size, head, block, 32768, lambda left: fill(b"\0\0\0\xff\xff", left))


def ace(size):
    def block(kind, flags, fields):
        body = bytes((kind,)) + le(2, flags) + fields
        return le(2, ~zlib.crc32(body) & 0xffff) + le(2, len(body)) + body

    def member(left):
        return block(1, 1, le(4, left) * 2 + bytes(16) + le(2, 0) + le(2, 1) + b"a")
    return jumping(size, lambda left: block(0, 0, b"**ACE**" + bytes(16)) + member(left), member(0))


def zoo(size):
    def head(left):
        entry = bytes.fromhex("dca7c4fd") + b"\1\0" + le(4, 85 + left) + le(4, 85) + bytes(6) + le(4, left) * 2 + bytes(10) + b"a".ljust(13, b"\0")
        return bytes(20) + entry[:4] + le(4, 34) + le(4, (1 << 32) - 34) + bytes(2) + entry
    return jumping(size, head, bytes.fromhex("dca7c4fd") + bytes(47))


def mbdb(size):
    def record(left):
        key = le(2, left) if left else b"\xff\xff"
        return b"\0\12HomeDomain" + b"\xff\xff" * 3 + key, be(2, 0x41ed) + bytes(38)

    def link(left):
        return b"".join(record(0))

    def head(left):
        start = b"mbdb\5\0\0\12HomeDomain" + b"\xff\xff" * 3
        return start + be(2, left - len(start) - 42) if left > len(start) + 100 else None
    return stepping(size, head, lambda step: be(2, 0x41ed) + bytes(38), 30000, lambda left: fill(be(2, 0x41ed) + bytes(38) + link(0)[:-40], left))


def jbd2(size):
    head = golden("jbd2/old.jbd2", 0, 1024)
    head = head[:12] + be(4, 4096) + be(4, 1 << 24) + head[20:]
    return repeated(size, head.ljust(1031, b"\0"), bytes(4096))


def av1(size):
    start = bytes.fromhex("12000a0b00000024c4fffe3ff3a0a432")

    def head(left):
        return start + bytes((left + 1) >> 7 * i & 0x7f | (0x80 if i < 4 else 0) for i in range(5)) + b"\x10"
    return jumping(size, head, bytes.fromhex("12001a0188"))


def mbx(size):
    def message(left):
        return b"29-Feb-2024 23:59:58 +0000,%010d;000000000000-00000000\r\n" % left

    def head(left):
        mail = b"From: a\r\nTo: b\r\nSubject: c\r\nDate: d\r\n\r\n"
        return (b"*mbx*\r\n" + b"0" * 16 + b"\r\n").ljust(2048, b"\0") + message(len(mail) + left) + mail
    return jumping(size, head, message(0))


def ethereum(size):
    return fill(b'{"id":"a","b":', size)


CRAFTS = {
    "jpeg": jpeg, "png": png, "gif": gif, "webp": webp, "tiff": tiff, "bmp": bmp, "psd": psd, "mp4": mp4, "mp4_nested": mp4_nested, "wav": wav,
    "aiff": aiff, "midi": midi, "mkv": mkv, "flac": flac, "mp3": mp3, "ogg": ogg, "ogg_streams": ogg_streams, "swf": swf, "flv": flv, "html": html, "xml": xml, "svg": svg,
    "pdf": pdf, "pdf_nested": pdf_nested, "ps": ps, "ps_nested": ps_nested, "rtf": rtf, "mail": mail, "ole": ole, "zip": zip_stored, "gz": gz,
    "zst": zst, "lz4": lz4, "bz2": bz2, "xz": xz, "tar": tar, "ar": ar, "cpio": cpio, "rar": rar, "rar5": rar5, "sevenzip": sevenzip, "cab": cab,
    "elf": elf, "exe": exe, "sqlite": sqlite, "evtx": evtx, "pst": pst,
    "mng": mng, "step": step, "caf": caf, "voc": voc,
    "icns": icns, "jp2": jp2, "jxl": jxl, "jxl_slow": jxl_slow, "jxl_dense": jxl_dense, "heif": heif, "heif_items": heif_items, "cr3": cr3, "j2k": j2k, "xcf": xcf, "exr": exr, "mrw": mrw, "emf": emf, "wmf": wmf,
    "wpg": wpg, "fits": fits, "dicom": dicom, "glb": glb, "threeds": threeds, "blend": blend, "dxf": dxf, "fbx": fbx, "pnm": pnm,
    "qoi": qoi, "hdr": hdr, "pcx": pcx, "sgi": sgi, "ico": ico, "dds": dds, "asf": asf, "rm": rm, "mxf": mxf, "dff": dff,
    "dsf": dsf, "au": au, "ivf": ivf, "h264": h264, "ape": ape, "tta": tta, "mpc": mpc, "amr": amr, "it": it, "djvu": djvu, "mat": mat, "shp": shp, "dbf": dbf,
    "netcdf": netcdf, "parquet": parquet, "arrow": arrow, "gguf": gguf, "json": json_text, "torrent": torrent, "pfb": pfb, "sfnt": sfnt, "woff": woff,
    "mobi": mobi, "chm": chm, "hdf5": hdf5, "tnef": tnef, "vcf": vobject, "ics": calendar, "arj": arj, "lzh": lzh, "lzop": lzop, "lzma": lzma,
    "lzip": lzip, "hqx": hqx, "iso": iso, "squashfs": squashfs, "wim": wim, "xar": xar, "rpm": rpm, "macho": macho, "wasm": wasm,
    "class": java_class, "dex": dex, "e01": e01, "ese": ese, "etl": etl, "evt": evt, "regf": regf, "journal": journal, "kbx": kbx, "snss": snss,
    "wal": wal, "sqlite_journal": sqlite_journal, "thumbcache": thumbcache, "tracev3": tracev3, "mft": mft, "pcap": pcap, "pcapng": pcapng,
    "vmdk": vmdk, "qcow2": qcow2, "qcow": qcow, "vdi": vdi, "bplist": bplist, "der": der, "pem": pem, "pgp": pgp, "pgp_text": pgp_text, "age": age,
    "jks": jks, "kdbx": kdbx, "bdb": bdb, "binarycookies": binarycookies, "dsstore": dsstore, "leveldb": leveldb, "urlcache": urlcache,
    "mdb": mdb, "dbx": dbx, "indd": indd, "one": one, "ani": ani, "xm": xm, "deb": deb, "mozlz4": mozlz4, "text": text, "usn": usn,
    "jumplist": jumplist, "safetensors": safetensors, "eot": eot, "x3f": x3f, "crw": crw, "dwg": dwg, "eps": eps, "lnk": lnk, "emlx": emlx,
    "aac": frames("adts/few.aac"), "dts": frames("dts/two.dts"), "latm": frames("latm/few.latm"),
    "mpv": frames("mpv/rows.m1v"), "mpg": frames("mpg/one.mpg"), "ts": frames("mpegts/plain.ts"), "wavpack": frames("wavpack/cut.wv"),
    "xpm": xpm, "xwd": xwd, "sunras": sunras, "viff": viff, "pict": pict, "tga": tga, "tga_coded": tga_coded, "onnx": onnx, "ber": ber, "w64": w64,
    "dts_long": dts, "h265": h265, "stl": stl, "dmg": dmg, "ac3": frames("ac3/film.ac3"), "utmp": frames("utmp/wtmp", 384), "psp": psp, "jffs2": jffs2,
    "cramfs": cramfs, "ab": backup, "uuencode": uuencode, "mdmp": mdmp, "compress_z": compress_z, "warc": warc, "tdf": tdf, "simplecache": simplecache, "bks": bks,
    "vimswap": vimswap, "qm": qm, "cram": cram, "romfs": romfs, "dv": dv, "mo": mo, "appledouble": appledouble, "parallels": parallels, "luac": luac, "ppk": ppk, "crx": crx, "avro": avro,
    "ace": ace, "zoo": zoo, "mbdb": mbdb, "jbd2": jbd2, "av1": av1, "mbx": mbx, "ethereum": ethereum,
    "fit": fit, "aff": aff,
}
