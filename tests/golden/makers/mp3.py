"""MPEG audio: frames by hand around noise, tags of all kinds. Sound of other formats behind ID3v2 is made by their makers."""
import struct

from makers.common import PNG, save
from makers.sound import ape_tag, id3v1, id3v2, noise, text_frame

BITS = {(1, 3): [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320], (1, 2): [0, 32, 48, 56, 64, 80, 96, 112, 128, 160],
        (1, 1): [0, 32, 64, 96, 128], (2, 3): [0, 8, 16, 24, 32, 40, 48, 56, 64], (2, 1): [0, 32, 48, 56, 64]}


def head(version, layer, rate, bits, padding=0, mono=False):
    """A header and its frame's length, by the standard's tables."""
    code = {1: 3, 2: 2, 2.5: 0}[version]
    kilobits = BITS[(1 if version == 1 else 2, layer)][bits]
    hertz = [44100, 48000, 32000][rate] // {1: 1, 2: 2, 2.5: 4}[version]
    if layer == 1:
        length = (12000 * kilobits // hertz + padding) * 4
    else:
        length = (72000 if layer == 3 and version != 1 else 144000) * kilobits // hertz + padding
    return bytes([0xFF, 0xE0 | code << 3 | (4 - layer) << 1 | 1, bits << 4 | rate << 2 | padding << 1, 0xC0 if mono else 0x40]), length


def frames(count, version=1, layer=3, rate=0, bits=1, mono=False, vary=()):
    out = b""
    for i in range(count):
        start, length = head(version, layer, rate, vary[i % len(vary)] if vary else bits, i & 1, mono)
        # No byte that could start a header.
        out += start + bytes(b % 255 for b in noise(length - 4, i))
    return out


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def xing(count, size, sound=None, version=1, bits=5, mono=False, word=b"Xing", libavformat=False):
    start, length = head(version, 3, 0, bits, 0, mono)
    side = (17 if mono else 32) if version == 1 else (9 if mono else 17)
    out = start + bytes(side) + word + struct.pack(">III", 15, count, size + length) + bytes(100) + struct.pack(">I", 50)
    if sound is not None:
        out += b"LAME3.100" + bytes(11 + 8) + struct.pack(">IH", size + length, crc16(sound))
        out += struct.pack(">H", crc16(out.ljust(190, b"\0") if libavformat else out))
    return out.ljust(length, b"\0")


def make():
    mp3 = lambda name, data, **expected: save("mp3", name, data, **expected)
    plain = frames(14)
    guess = dict(verdict="unverified", why=f"no frame at {len(plain)}, and the number of frames is not stored")
    mp3("plain.mp3", plain, length=len(plain), **guess)
    mp3("followed.mp3", plain + noise(700), length=len(plain), **guess)
    sound = frames(6, vary=(1, 2, 4))
    last, noted = len(frames(1, bits=4)), len(xing(6, 0))
    mp3("lame.mp3", xing(6, len(sound), sound) + sound, unchecked=noted + len(sound))
    mp3("xing.mp3", xing(6, len(sound)) + sound, verdict="unverified", length=noted + len(sound), why="the last frame, at 860, cannot be verified")
    mp3("all-counted.mp3", xing(7, len(sound)) + sound, verdict="unverified", length=noted + len(sound), why="the last frame, at 860, cannot be verified")
    counted = xing(5, len(sound)) + sound
    mp3("count.mp3", counted, verdict="unverified", length=len(counted), why="the last frame, at 860, cannot be verified")
    small = frames(6, 2, mono=True, bits=3)
    mp3("mpeg2-mono.mp3", xing(6, len(small), small, 2, 8, True, b"Info") + small)
    mp3("libavformat.mp3", xing(6, len(small), small, 2, 8, True, b"Info", True) + small)
    vbri = bytearray(xing(6, len(sound)))
    vbri[36:40], vbri[40:140] = b"VBRI", bytes(100)
    vbri[46:54] = struct.pack(">II", 417 + len(sound), 6)
    mp3("vbri.mp3", bytes(vbri) + sound, verdict="unverified", length=len(vbri) + len(sound), why="the last frame, at 860, cannot be verified")
    for version in (2, 3, 4):
        tag = id3v2(text_frame(b"TT2" if version == 2 else b"TIT2", "Golden hour", version) +
                    text_frame(b"TP1" if version == 2 else b"TPE1", "Nobody", version), version, padding=50)
        mp3(f"id3v2-{version}.mp3", tag + xing(6, len(sound), sound) + sound, title="Golden hour")
    cover = text_frame(b"TIT2", "Gold") + text_frame(b"APIC", b"\0image/png\0\3\0" + PNG)
    mp3("cover.mp3", id3v2(cover) + plain, verdict="unverified", length=len(id3v2(cover) + plain), title="Gold", embedded=(id3v2(cover)).index(PNG))
    date = text_frame(b"TIT2", b"\1\xff\xfeG\0o\0l\0d\0", 4) + text_frame(b"TDRC", "2024-02-29T23:59:58", 4)
    mp3("utf16.mp3", id3v2(date, 4) + xing(6, len(sound), sound) + sound, title="Gold", time=1709251198)
    footed = id3v2(date, 4, 0x10) + plain
    mp3("footer.mp3", footed, verdict="unverified", length=len(footed), title="Gold")
    unsync = text_frame(b"TIT2", b"\1\xff\0\xfeG\0o\0l\0d\0")
    mp3("unsynchronised.mp3", id3v2(unsync, 3, 0x80) + xing(6, len(sound), sound) + sound, title="Gold")
    extended = struct.pack(">IHI", 6, 0, 0)
    mp3("extended.mp3", id3v2(extended + text_frame(b"TIT2", "Gold"), 3, 0x40) + xing(6, len(sound), sound) + sound, title="Gold")
    mp3("itunes.mp3", id3v2(b"TIT2" + struct.pack(">IH", 200, 0) + b"\0" + b"G" * 199 + text_frame(b"TPE1", "Nobody", 4), 4) +
        xing(6, len(sound), sound) + sound, title="G" * 127)
    two = id3v2(text_frame(b"TIT2", "Gold"))
    mp3("two-tags.mp3", two + two + xing(6, len(sound), sound) + sound, title="Gold")
    mp3("gap.mp3", two + bytes(300) + xing(6, len(sound), sound) + sound, title="Gold")
    # Clusters in a tag's padding that are another file's: one more, one in place of the tag's own, one of zeros.
    padded, counted = id3v2(text_frame(b"TIT2", "Gold"), padding=1000), xing(6, len(sound), sound) + sound
    for name, data, why in (("padding-more", padded[:512] + noise(512, 6) + padded[512:] + counted, "not only zeros follow a tag's frames at 512"),
                            ("padding-foreign", padded[:512] + noise(512, 6) + padded[1024:] + counted, "not only zeros follow a tag's frames at 512"),
                            ("padding-twice", padded + bytes(512) + counted, f"sectors of zeros between tag and audio, at {len(padded)}")):
        mp3(name + ".mp3", data, verdict="unverified", length=len(data), title="Gold", why=why)
    mp3("padding.mp3", padded + counted, title="Gold")
    tail = lambda name, end, **more: mp3(name, plain + end, **{"title": "Golden hour", **more})
    tail("id3v1.mp3", id3v1(), unchecked=len(plain) - 200)
    tail("ape-tag.mp3", ape_tag(), unchecked=len(plain) - 200)
    tail("ape-id3v1.mp3", ape_tag(header=False) + id3v1(), sequence="yes")
    lyrics = b"LYRICSBEGININD0000200LYR00011La la la la"
    tail("lyrics3.mp3", lyrics + b"%06d" % len(lyrics) + b"LYRICS200" + id3v1(), sequence="yes")
    tail("lyrics3-1.mp3", b"LYRICSBEGIN" + b"La " * 30 + b"LYRICSEND" + id3v1(), sequence="yes")
    tail("enhanced.mp3", b"TAG+" + bytes(223) + id3v1(), unchecked=len(plain) - 200)
    tail("id3v2-behind.mp3", id3v2(text_frame(b"TIT2", "Golden hour", 4), 4, 0x10), unchecked=len(plain) - 200)
    for name, data, extension in (("layer2.mp2", frames(13, layer=2, bits=1), "mp2"), ("mpeg25.mp3", frames(13, 2.5, bits=3), ""),
                                  ("layer1.mp1", two + frames(13, layer=1, bits=1), "mp1"), ("mpeg2-layer1.mp1", two + frames(5, 2, 1), "mp1")):
        mp3(name, data, verdict="unverified", length=len(data), extension=extension)

    # Zeros from a sector on that starts within the last frame, of 13.
    for count in range(13, 30):
        many = frames(count, bits=9)
        sector = (len(many) - 257) // 512 * 512
        if sector > len(frames(count - 1, bits=9)) + 40 and many[sector - 1]:
            mp3("wiped.mp3", many[:sector] + bytes(len(many) - sector + 600), verdict="truncated", length=sector,
                why=f"zeros instead of the last frame's data at {sector}")
            break
    noted = xing(6, len(sound), sound) + sound
    cut = noted[:-last - 30]
    mp3("cut.mp3", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    whole = len(noted) - last
    for name, junk in (("zeros", bytes(900)), ("random", noise(900, 77)), ("text", b"Lorem ipsum dolor sit amet. " * 30)):
        mp3(f"cut-{name}.mp3", cut + junk, verdict="truncated", length_min=whole - 320, length_max=len(cut))
    other = bytearray(noted)
    other[-50] ^= 1
    mp3("crc.mp3", bytes(other), verdict="unverified", length=len(noted),
        why=f"the CRC of the frames before {len(noted)} differs from LAME's tag")
    # A tag was written into the last frame; that the announced ones are not all there is seen.
    short = cut[:-150] + id3v1()
    mp3("tag-within.mp3", short + noise(900, 5), verdict="truncated", length=len(short), title="Golden hour",
        why="a tag starts within frame 4 of 6")
    mp3("tag-within-end.mp3", plain[:-200] + id3v1(), verdict="unverified", length=len(plain) - 200 + 128, title="Golden hour",
        why="a tag starts within the last frame, number 13")
    eighth = bytearray(two)
    eighth[9] |= 0x80
    mp3("eighth-bit.mp3", bytes(eighth) + xing(6, len(sound), sound) + sound, title="Gold")
    eighth[17] += 1
    mp3("eighth-bit-frames.mp3", bytes(eighth) + xing(6, len(sound), sound) + sound, verdict="reject")
    mp3("tag-alone.mp3", two, verdict="truncated", length=len(two), why=f"no audio at {len(two)} after the tag")
    mp3("tag-cut.mp3", id3v2(text_frame(b"TIT2", "Gold") + text_frame(b"TPE1", "N" * 200))[:100], verdict="truncated", length=100, title="Gold")
    mp3("tag-empty.mp3", id3v2(b"") + bytes(50), verdict="reject")
    mp3("few.mp3", frames(11) + noise(100), verdict="reject")
    mp3("free.mp3", b"\xff\xfb\x00\x40" + noise(400), verdict="reject", why="neither a tag nor a frame of MPEG audio at 0")
