"""MP4, QuickTime and 3GPP, box by box; coded data are noise in the frames that they have."""
import struct

from makers.bmff import box, ftyp, full, noise, wide
from makers.common import PNG, encoded, picture, save
from makers.h264_films import CABAC, CAVLC

TIME = 1700000000


def nal(count, seed):
    return struct.pack(">I", count) + b"\x65" + noise(count - 1, seed)


def aac(count, seed):
    """A frame of AAC: an element of two channels first, the end's id last."""
    return b"\x21" + noise(count - 2, seed) + b"\x1c"


def amr(count, seed):
    """Frames of AMR at 12.2 kbit/s."""
    return b"".join(b"\x3c" + noise(31, seed * 100 + i) for i in range(count))


def mpeg4(count, seed):
    return b"\0\0\1\xb6" + noise(count - 4, seed)


def esds(kind=0x40):
    return full(b"esds", 0, b"\3\x19\0\1\0\4\x11", bytes([kind]), b"\x15", bytes(11), b"\5\2\x12\x10\6\1\2")


AVCC = box(b"avcC", b"\1\x42\0\x1e\xff\xe0\0")
KINDS = {b"QDM2": (b"soun", b"", b""), b"avc1": (b"vide", bytes(70), AVCC), b"mp4v": (b"vide", bytes(70), b""), b"mp4a": (b"soun", bytes(20), esds()),
         b"samr": (b"soun", bytes(20), b""), b"sowt": (b"soun", bytes(20), b""), b"abcd": (b"vide", bytes(70), b""), b"jpeg": (b"vide", bytes(70), b"")}


def track(number, coding, sizes, offsets, per_chunk, big=False, fixed=0):
    handler, fields, config = KINDS[coding]
    entry = box(coding, bytes(6) + b"\0\1", fields, config)
    if coding == b"QDM2":  # version 1: samples of a packet, and its bytes
        entry = box(coding, bytes(6) + b"\0\1" + struct.pack(">H", 1) + bytes(18) + struct.pack(">IIII", 2048, 185, 370, 2))
        sizes, per_chunk, fixed = range(2048 * len(sizes)), 2048 * per_chunk, 1
    if big:
        chunks = full(b"co64", 0, struct.pack(">I", len(offsets)), *[struct.pack(">Q", o) for o in offsets])
    else:
        chunks = full(b"stco", 0, struct.pack(">I", len(offsets)), *[struct.pack(">I", o) for o in offsets])
    table = b"" if fixed else b"".join(struct.pack(">I", s) for s in sizes)
    count = len(sizes)
    stbl = box(b"stbl", full(b"stsd", 0, struct.pack(">I", 1), entry), full(b"stts", 0, struct.pack(">III", 1, count, 100)),
               full(b"stsc", 0, struct.pack(">IIII", 1, 1, per_chunk, 1)), full(b"stsz", 0, struct.pack(">II", fixed, count), table), chunks)
    dref = full(b"dref", 0, struct.pack(">I", 1), struct.pack(">I4sI", 12, b"url ", 1))
    minf = box(b"minf", full(b"vmhd", 0, bytes(8)), box(b"dinf", dref), stbl)
    mdia = box(b"mdia", full(b"mdhd", 0, bytes(20)), full(b"hdlr", 0, bytes(4), handler, bytes(12), b"\0"), minf)
    return box(b"trak", full(b"tkhd", 0, bytes(8), struct.pack(">I", number), bytes(68)), mdia)


def mvhd(time=TIME, version=0):
    if version:
        return full(b"mvhd", 1, struct.pack(">QQ", time + 2082844800 if time else 0, 0), bytes(92))
    return full(b"mvhd", 0, struct.pack(">II", time + 2082844800 if time else 0, 0), bytes(88))


def itunes(title):
    data = box(b"data", struct.pack(">II", 1, 0), title)
    return box(b"udta", full(b"meta", 0, full(b"hdlr", 0, bytes(4), b"mdir", bytes(13)), box(b"ilst", box(b"\xa9nam", data))))


def cover():
    data = b"".join(box(b"data", struct.pack(">II", 14, 0), PNG) for _ in range(2))
    return box(b"udta", full(b"meta", 0, full(b"hdlr", 0, bytes(4), b"mdir", bytes(13)), box(b"ilst", box(b"covr", data))))


def quicktime(title):
    return box(b"udta", box(b"\xa9nam", struct.pack(">HH", len(title), 0), title), bytes(4))


def threegp(title):
    return box(b"udta", full(b"titl", 0, struct.pack(">H", 0x15c7), title))


def film(head, tracks, first=False, mdat=box, udta=b"", big=False, between=b"", behind=b"", lost=0, version=0):
    """tracks: (coding, samples, per_chunk, fixed), chunks interleaved. Returns the file, and offset and length of each sample in order."""
    chunks = []
    for number, (coding, samples, per_chunk, fixed) in enumerate(tracks):
        for i in range(0, len(samples), per_chunk):
            chunks.append((i // per_chunk, number, samples[i:i + per_chunk]))
    chunks.sort(key=lambda c: c[:2])
    data = b"".join(b"".join(c[2]) for c in chunks)
    start = 0
    for _ in range(2):
        at, offsets, places = start, [[] for _ in tracks], []
        for _, number, samples in chunks:
            offsets[number].append(at)
            for sample in samples:
                places.append((at, len(sample)))
                at += len(sample)
        traks = [track(i + 1, t[0], [len(s) for s in t[1]], offsets[i], t[2], big, t[3]) for i, t in enumerate(tracks)]
        moov = box(b"moov", mvhd(version=version), *traks, udta)
        media = mdat(b"mdat", data[:len(data) - lost] if lost else data)
        out = head + (moov + between + media if first else between + media + moov) + behind
        start = len(head) + len(between) + (len(moov) if first else 0) + len(media) - len(data) + lost
    return out, places


def video(count=8, coding=b"avc1", maker=nal):
    return (coding, [maker(60 + 5 * i, i) for i in range(count)], 2, 0)


def sound(count=12):
    return (b"mp4a", [aac(40 + 3 * i, 50 + i) for i in range(count)], 3, 0)


def fragment(number, tracks, flags=0x20000):
    """moof and mdat of samples: (track, samples)"""
    data = b"".join(b"".join(s) for _, s in tracks)
    size = 0
    for _ in range(2):
        at, trafs = size + 8, []
        for track_id, samples in tracks:
            trun = box(b"trun", struct.pack(">III", 0x201, len(samples), at), *[struct.pack(">I", len(s)) for s in samples])
            trafs.append(box(b"traf", box(b"tfhd", struct.pack(">II", flags, track_id)), trun))
            at += sum(len(s) for s in samples)
        moof = box(b"moof", full(b"mfhd", 0, struct.pack(">I", number)), *trafs)
        size = len(moof)
    return moof + box(b"mdat", data)


def fragmented():
    trex = full(b"trex", 0, struct.pack(">IIIII", 1, 1, 0, 0, 0)) + full(b"trex", 0, struct.pack(">IIIII", 2, 1, 0, 0, 0))
    moov = box(b"moov", mvhd(), track(1, b"avc1", [], [], 1), track(2, b"mp4a", [], [], 1), box(b"mvex", trex))
    parts = [fragment(n, [(1, [nal(80, n), nal(60, n + 9)]), (2, [aac(50 + i, n * 10 + i) for i in range(5)])]) for n in range(3)]
    return ftyp(b"iso5", b"iso5", b"dash") + moov, parts


def make():
    isom = ftyp(b"isom", b"isom", b"avc1")
    both = [video(), sound()]
    last, places = film(isom, both, udta=itunes("Café".encode()))
    save("mp4", "last.mp4", last, extension="mp4", title="Café", time=TIME, unchecked=len(last) - 60)
    save("mp4", "h264-cabac.mp4", CABAC, extension="mp4", unchecked=len(CABAC) - 60)
    save("mp4", "h264-cavlc.mp4", CAVLC, extension="mp4", unchecked=len(CAVLC) - 60)
    save("mp4", "free.mp4", film(isom, both, between=box(b"free"), behind=box(b"free", bytes(700)))[0], extension="mp4", time=TIME,
         sequence="yes")
    save("mp4", "first.mp4", film(isom, both, first=True, version=1)[0], extension="mp4", time=TIME)
    save("mp4", "wide.mp4", film(isom, both, mdat=wide, big=True)[0], extension="mp4", time=TIME)
    save("mp4", "sound.m4a", film(ftyp(b"M4A ", b"M4A ", b"mp42"), [sound(30)], first=True, udta=itunes(b"A song"))[0], extension="m4a",
         title="A song", time=TIME, unchecked=2900)
    save("mp4", "sound.mp4", film(isom, [sound()])[0], extension="m4a", time=TIME)
    pixels = film(ftyp(b"M4V "), [video(20, b"mp4v", mpeg4)], first=True)[0]
    save("mp4", "pixels.m4v", pixels, extension="m4v", time=TIME, unchecked=len(pixels) * 15 // 16)
    # The frames of a row have one length.
    frames = (b"samr", [amr(1, i) for i in range(20)], 5, 32)
    save("mp4", "phone.3gp", film(ftyp(b"3gp5"), [frames], first=True, udta=threegp(b"Memo\0"))[0], extension="3gp", title="Memo", time=TIME)
    save("mp4", "utf16.3g2", film(ftyp(b"3g2a"), [frames], udta=threegp(b"\xfe\xff\0M\0\xe9\0\0"))[0], extension="3g2", title="Mé", time=TIME, unchecked=1000)
    save("mp4", "new.mov", film(ftyp(b"qt  "), both, between=box(b"wide"), udta=quicktime(b"Holiday"))[0], extension="mov", title="Holiday", time=TIME, unchecked=1000)
    old, _ = film(b"", both, between=box(b"wide"))
    packets = (b"QDM2", [noise(370, 90 + i) for i in range(15)], 3, 0)
    save("mp4", "packets.mov", film(b"", [video(8, b"mp4v", mpeg4), packets], first=True)[0], extension="mov", time=TIME, verdict="unverified", length_min=1000)
    save("mp4", "old.mov", old, extension="mov", time=TIME)
    save("mp4", "old-first.mov", film(b"", both, first=True)[0], extension="mov", time=TIME)
    save("mp4", "flash.f4v", film(ftyp(b"f4v "), both)[0], extension="f4v", time=TIME)
    save("mp4", "two.mov", film(ftyp(b"qt  "), both, between=box(b"mdat", noise(40, 3)))[0], extension="mov", time=TIME)
    head, parts = fragmented()
    whole = head + b"".join(parts)
    mfra = box(b"mfra", full(b"tfra", 0, bytes(12)), full(b"mfro", 0, struct.pack(">I", 8 + 24 + 16)))
    # What is in front of a fragment is a file, too.
    save("mp4", "fragments.mp4", whole, extension="mp4", time=TIME, sequence="yes")
    save("mp4", "indexed.mp4", whole + mfra, extension="mp4", time=TIME, sequence="yes")
    segment = box(b"styp", b"msdh", bytes(4)) + full(b"sidx", 0, bytes(36)) + parts[0] + parts[1]
    save("mp4", "segment.m4s", segment, extension="m4s", verdict="unverified", length=len(segment))
    save("mp4", "head.mp4", head, verdict="unverified", length=len(head), why=f"a fragmented file's head, but no fragment at {len(head)}")
    cut = len(head) + len(parts[0]) + len(parts[1]) - 150
    save("mp4", "fragment-cut.mp4", whole[:cut] + noise(2000, 9), verdict="truncated", length_min=cut - 250, length_max=cut + 150)

    # Samples that nothing bears out.
    plain, _ = film(isom, [(b"abcd", [noise(100, i) for i in range(9)], 3, 0)], first=True)
    save("mp4", "unknown.mp4", plain, verdict="unverified", length=len(plain), why="the last 900 bytes cannot be verified")
    # Data without length.
    opened, _ = film(isom, both, first=True)
    at = opened.index(b"mdat") - 4
    opened = opened[:at] + bytes(4) + opened[at + 4:]
    save("mp4", "open.mp4", opened, verdict="unverified", length=len(opened))
    save("mp4", "open-followed.mp4", opened + noise(1500, 5), verdict="unverified", length=len(opened))

    # Damage.
    mdat = last.index(b"mdat") - 4
    moov = last.index(b"moov") - 4
    for name, junk in (("random", noise(2000, 4)), ("another", last)):
        save("mp4", f"lost-{name}.mp4", last[:moov - 300] + junk, verdict="truncated", length_min=moov - 300, length_max=moov)
    save("mp4", "lost-end.mp4", last[:moov - 300], verdict="truncated", length=moov - 300,
         why=f"the image ends at {moov - 300}, before the file does")
    save("mp4", "lost-moov.mp4", last[:moov] + bytes(1500), verdict="truncated", length=moov,
         why=f"no movie box before {moov}: the media data's description is lost")
    # Pictures in media data whose description is lost: named as long as they follow each other.
    pngs = [encoded(picture("L", (12 + i, 10)), format="PNG") for i in range(3)]
    jpegs = [encoded(picture("RGB", (16 + 8 * i, 16)), format="JPEG") for i in range(3)]
    head = ftyp(b"qt  ") + struct.pack(">I4sI4s", 8, b"wide", 9000, b"mdat")
    for name, frames in (("png", pngs), ("jpeg", [jpegs[0], bytes(4), jpegs[1], jpegs[2]])):
        data = b"".join(frames)
        starts = [len(head) + data.index(frame) for frame in frames if any(frame)]
        save("mp4", f"lost-{name}.mov", head + data[:-50], verdict="truncated", length=len(head) + len(data) - 50,
             embedded=" ".join(map(str, starts)))
    data = pngs[0] + noise(400, 8) + pngs[1] + noise(400, 9)
    save("mp4", "lost-apart.mov", head + data, verdict="truncated", length=len(head) + len(data), embedded=str(len(head)))
    # Sound between them; one that begins at a sector may be another file.
    frame = encoded(picture("RGB", (24, 16)), format="JPEG")
    codestream = box(b"jP  ", b"\r\n\x87\n") + ftyp(b"jp2 ", b"jp2 ") + box(b"jp2h", noise(37, 1)) + box(b"jp2c", noise(600, 2))
    for name, frame, gaps, named in (("sound", frame, [300, 311, 0, 40], 4), ("sector", frame, [300, -1], 1), ("jp2", codestream, [400, 17], 2)):
        data, starts = b"", []
        for i, gap in enumerate(gaps):
            starts.append(len(head) + len(data))
            data += frame + noise(gap if gap >= 0 else 300, 20 + i).replace(b"\xff\xd8", b"\xff\xd7")
            if i + 1 < len(gaps) and gaps[i + 1] < 0:
                data += noise(-(len(head) + len(data)) % 512, 30)
        save("mp4", f"lost-{name}.mov", head + data, verdict="truncated", length=len(head) + len(data), embedded=" ".join(map(str, starts[:named])))
    # A description that is there, and pictures that are not, or not whole.
    jpegs = [encoded(picture("RGB", (24 + i, 16)), format="JPEG") for i in range(8)]
    shown, places = film(ftyp(b"qt  "), [(b"jpeg", jpegs, 1, 0), sound()], first=True)
    starts = [at for at, len_ in places if shown[at:at + 2] == b"\xff\xd8"]
    cut = starts[4] + 200
    save("mp4", "first-jpeg.mov", shown[:cut], verdict="truncated", length=cut, embedded=" ".join(map(str, starts[:5])))
    described = box(b"moov", mvhd(), track(1, b"jpeg", [], [], 1), box(b"mvex", full(b"trex", 0, struct.pack(">IIIII", 1, 1, 0, 0, 0))))
    whole = ftyp(b"qt  ", b"iso5") + described + fragment(1, [(1, jpegs)])
    save("mp4", "fragment-jpeg.mov", whole[:-300] + noise(300, 40), verdict="unverified", length=len(whole),
         why=f"the sample at {len(whole) - len(jpegs[-1])} differs from those before it")
    # The rest of a fragment's data may be another file's: of the last unit only the head is confirmed.
    described = box(b"moov", mvhd(), track(1, b"avc1", [], [], 1), track(2, b"sowt", [], [], 1),
                    box(b"mvex", full(b"trex", 0, struct.pack(">IIIII", 1, 1, 0, 0, 0)) + full(b"trex", 0, struct.pack(">IIIII", 2, 1, 0, 0, 0))))
    whole = ftyp(b"iso5", b"iso5") + described + fragment(1, [(1, [nal(800, i) for i in range(4)]), (2, [noise(40, 41)])])
    save("mp4", "fragment-samples.mp4", whole, verdict="unverified", length=len(whole), why="the last 838 bytes cannot be verified")
    save("mp4", "moov-cut.mp4", last[:moov + 300] + noise(2000, 5), verdict="truncated", length_min=moov, length_max=moov + 310)
    first, places = film(isom, both, first=True)
    fifth = places[9][0]
    for name, junk in (("random", noise(2000, 6)), ("zeros", bytes(2000)), ("ff", b"\xff" * 2000), ("text", b"Now for something different. " * 70)):
        save("mp4", f"first-{name}.mp4", first[:fifth] + junk, verdict="truncated", length_min=fifth - 120, length_max=fifth + 200)
    at = first.index(b"mdat") - 4
    save("mp4", "no-data.mp4", first[:at] + noise(2000, 7), verdict="truncated", length=at,
         why=f"media data at {at + 8} are missing: the boxes end at {at}")
    broken = bytearray(last)
    broken[places[4][0]:places[4][0] + 4] = b"\0\0\xff\0"
    broken = bytearray(last)
    at = mdat + 8
    second = at + 94
    broken[second + 4 * 24:second + 4 * 24 + 300] = bytes(300)
    save("mp4", "wiped.mp4", bytes(broken), verdict="unverified", length=len(last))
    tables = bytearray(last)
    at = last.index(b"stsz") + 12
    tables[at + 4:at + 8] = b"\0\0\xff\0"
    save("mp4", "tables.mp4", bytes(tables), verdict="truncated")
    covered = film(ftyp(b"M4A ", b"M4A ", b"mp42"), [sound(30)], first=True, udta=cover())[0]
    second = covered.rindex(PNG)
    save("mp4", "covers.m4a", covered, extension="m4a", unchecked=second + len(PNG), embedded=f"{covered.index(PNG)} {second}")
    loose, _ = film(isom, both, udta=itunes(noise(1500, 8)))
    save("mp4", "loose.mp4", loose, verdict="unverified", length=len(loose))
    spare = box(b"udta", full(b"meta", 0, full(b"hdlr", 0, bytes(4), b"mdir", bytes(13)), box(b"free", b"Text of another file. " * 40)))
    spare, _ = film(isom, both, udta=spare)
    save("mp4", "text-in-free.mp4", spare, verdict="unverified", length=len(spare), why="the last 880 bytes cannot be verified")
    # The rest of a file whose head is lost.
    save("mp4", "rest-moov.mov", first[first.index(b"moov") - 4:], verdict="reject")
    save("mp4", "rest-mdat.mov", last[mdat:], verdict="reject")
    save("mp4", "moov-alone.mov", old[old.index(b"moov") - 4:], verdict="reject")
    save("mp4", "nothing.mp4", isom + noise(500, 6), verdict="reject",
         why=f"neither media data nor their description before {len(isom)}")
    save("mp4", "picture.mp4", ftyp(b"heic") + last[len(isom):], verdict="reject", why="a picture format's brand at 8")
    save("mp4", "raw.mp4", ftyp(b"crx ") + last[len(isom):], verdict="reject", why="a picture format's brand at 8")
    save("mp4", "size.mp4", struct.pack(">I", 7) + last[4:], verdict="reject", why="no file type or movie box at 0")
    # A cover that ends the file, and text in its place.
    last = film(ftyp(b"M4A ", b"M4A ", b"mp42"), [sound(30)], udta=cover())[0]
    save("mp4", "cover-text.m4a", last[:-50] + (b"nothing but words, " * 3)[:50], verdict="unverified", length=len(last), extension="m4a")
