"""HEIF, HEIC and AVIF, box by box; coded pictures are noise in the frames that they have. Two by libheif's heif-enc and libavif's avifenc
(Debian's libheif-examples and libavif-bin), whose data nothing bears out; and some by pillow-heif (of PyPI) and its x265, with what
H.265 has for pictures: rows that begin anew (wpp), each format of colours, blocks of all sizes."""
import os, struct, subprocess, tempfile

from makers.bmff import box, ftyp, full, nal, noise, track, wide
from makers.common import landscape, picture, save

HVCC = box(b"hvcC", b"\1" + bytes(20) + b"\x0f\0")
AV1C = box(b"av1C", b"\x81\0\0\0")


def obu(count, seed, kind=6):
    """An OBU with a size of its own below 128."""
    return bytes([kind << 3 | 2, count]) + noise(count, seed)


def exif(date=b"2023:06:15 08:09:10"):
    """The 4 bytes in front, then a directory with a date."""
    tiff = b"MM\0*" + struct.pack(">IH", 8, 1) + struct.pack(">HHII", 0x132, 2, 20, 26) + bytes(4) + date + b"\0"
    return struct.pack(">I", 0) + tiff


def iloc(items, version=0):
    """items: (number, method, [(offset, length), ...])"""
    out = struct.pack(">H", 0x4440 if version else 0x4400)
    out += struct.pack(">I" if version == 2 else ">H", len(items))
    for number, method, extents in items:
        out += struct.pack(">I" if version == 2 else ">H", number)
        if version:
            out += struct.pack(">H", method)
        out += bytes(2) + (bytes(4) if version else b"") + struct.pack(">H", len(extents))
        for offset, length in extents:
            out += struct.pack(">II", offset, length)
    return full(b"iloc", version, out)


def meta(types, locations, version=0, config=HVCC, more=b""):
    infes = [full(b"infe", 2, struct.pack(">HH4s", n, 0, kind), b"\0") for n, kind in types]
    return full(b"meta", 0, full(b"hdlr", 0, bytes(4), b"pict", bytes(13)), full(b"pitm", 0, b"\0\1"),
                full(b"iinf", 0, struct.pack(">H", len(types)), *infes),
                box(b"iprp", box(b"ipco", config, full(b"ispe", 0, struct.pack(">II", 64, 64)))),
                more, iloc(locations, version))


def still(head, types, parts, version=0, config=HVCC, mdat=box, more=b"", behind=b"", shift=0, extents=None):
    """A file whose items lie in mdat one behind the other. Returns it and where each of them starts."""
    places = [(0, 0)] * len(parts)
    for _ in range(2):
        methods = [(n, 0, extents(places[i]) if extents else [places[i]]) for i, (n, _) in enumerate(types)]
        description = meta(types, methods, version, config, more)
        at = len(head) + len(description) + len(mdat(b"mdat")) + shift
        for i, part in enumerate(parts):
            places[i] = (at, len(part))
            at += len(part)
    return head + description + mdat(b"mdat", *parts) + behind, [p[0] - shift for p in places]


def encoded(program, extension):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.png"), os.path.join(folder, "a." + extension)
        picture("RGB", (64, 64)).save(source)
        subprocess.run(program + [source, "-o", target], check=True, capture_output=True)
        return open(target, "rb").read()


def h265(name, mode="RGB", chroma=420, **options):
    import io, pillow_heif
    out, image = io.BytesIO(), landscape((232, 152)).convert(mode)
    parameters = {"x265:" + key: str(value) for key, value in options.items()}
    pillow_heif.from_pillow(image).save(out, quality=60, chroma=chroma, enc_params=parameters)
    data = out.getvalue()
    save("heif", f"h265-{name}.heic", data, verdict="unverified", length=len(data), extension="heic")


def make_h265():
    h265("rows", wpp=1, ctu=16)
    h265("444", chroma=444, wpp=0, ctu=32)
    h265("422", chroma=422, wpp=0, ctu=64)
    h265("grey", mode="L", wpp=0, ctu=32)


def make():
    make_h265()
    tiles = [nal(200 + 30 * i, i) for i in range(4)]
    types = [(i + 1, b"hvc1") for i in range(4)] + [(5, b"Exif"), (6, b"hvc1")]
    parts = tiles + [exif(), nal(24, 9)]
    heic = ftyp(b"heic", b"mif1", b"heic")
    grid, at = still(heic, types, parts)
    save("heif", "grid.heic", grid, extension="heic", time=1686816550)
    for version in (1, 2):
        save("heif", f"iloc{version}.heic", still(heic, types, parts, version)[0], extension="heic", time=1686816550)
    save("heif", "wide.heic", still(heic, types, parts, mdat=wide)[0], extension="heic", time=1686816550)
    save("heif", "generic.heif", still(ftyp(b"mif1", b"mif1", b"avci"), types, parts)[0], extension="heif", time=1686816550)
    save("heif", "compatible.heic", still(ftyp(b"mif1", b"mif1", b"heic"), types, parts)[0], extension="heic", time=1686816550)
    idat = box(b"idat", b"\0\0\1\1\0\x40\0\x40")
    save("heif", "idat.heic", still(heic, types, parts, more=idat)[0], extension="heic", time=1686816550)
    two = lambda place: [(place[0], place[1] // 2), (place[0] + place[1] // 2, place[1] - place[1] // 2)]
    save("heif", "extents.heic", still(heic, [(1, b"hvc1")], [nal(300, 1)], extents=two, behind=box(b"free", bytes(20)))[0], extension="heic")
    behind = still(heic, [(1, b"hvc1")], [nal(300, 1)], behind=box(b"free", bytes(30)))[0]
    save("heif", "behind.heic", behind, extension="heic", unverified=f"{len(behind) - 338}-{len(behind) - 38}")
    # Samsung's and Google's boxes; one of a type that nobody knows in front of one that is known.
    save("heif", "phone.heic", still(heic, [(1, b"hvc1")], [nal(300, 1)], behind=box(b"ABCD", bytes(9)) + box(b"mpvd", noise(24, 3)))[0],
         extension="heic")
    save("heif", "jpeg.heif", still(ftyp(b"mif1"), [(1, b"jpeg")], [b"\xff\xd8\xff\xe0" + noise(200, 5) + b"\xff\xd9"])[0], extension="heif")
    # Nothing verifies the last unit, in which a cluster begins.
    two_units = [(1, b"hvc1"), (2, b"hvc1")]
    room = 4096 - 30 - still(heic, two_units, [b"", b""])[1][0]
    crossing = still(heic, two_units, [nal(room - 4, 1), nal(100, 2)])[0]
    save("heif", "cluster.heic", crossing, verdict="unverified", length=len(crossing))
    avif = [(1, b"av01"), (2, b"av01")]
    obus = [obu(20, 1, 1) + obu(120, 2), obu(10, 3, 1) + obu(15, 4)]
    save("heif", "two.avif", still(ftyp(b"avif", b"mif1"), avif, obus, config=AV1C)[0], extension="avif")
    save("heif", "two-compatible.avif", still(ftyp(b"mif1", b"avif"), avif, obus, config=AV1C)[0], extension="avif")
    samples = [nal(90, 20), nal(70, 21), nal(22, 22)]
    head = ftyp(b"hevc", b"msf1", b"hevc", b"iso8")
    for name, wide_offsets in (("sequence.heics", False), ("sequence64.heics", True)):
        offset = 0
        for _ in range(2):
            moov = box(b"moov", full(b"mvhd", 0, bytes(96)), track(b"hvc1", [len(s) for s in samples], [offset], 3, HVCC, wide_offsets))
            offset = len(head) + len(moov) + 8
        save("heif", name, head + moov + box(b"mdat", *samples), extension="heics")

    # What nothing bears out: one large coded picture.
    single = still(heic, [(1, b"hvc1")], [nal(700, 1)])[0]
    save("heif", "single.heic", single, verdict="unverified", length=len(single), why="the last 698 bytes cannot be verified")
    for program, extension in ((["heif-enc"], "heic"), (["avifenc", "-s", "8"], "avif")):
        data = encoded(program, extension)
        save("heif", "encoded." + extension, data, verdict="unverified", length=len(data), extension=extension)

    # Damage: cut in the data, at the third of four tiles; wiped; a unit's length; parts outside of the data.
    cut = grid[:at[2] + 50]
    save("heif", "cut.heic", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("heif", "random.heic", cut + noise(3000, 77), verdict="truncated", length=at[3], why=f"invalid media data at {at[3]}")
    save("heif", "wiped.heic", cut + bytes(3000), verdict="truncated", length_min=len(cut), length_max=len(cut))
    save("heif", "erased.heic", cut + b"\xff" * 3000, verdict="truncated", length=len(cut))
    broken = bytearray(grid)
    broken[at[1]:at[1] + 4] = b"\0\0\xff\0"
    save("heif", "unit.heic", bytes(broken), verdict="truncated", length=at[1], why=f"invalid media data at {at[1]}")
    moved, at = still(heic, types, parts, shift=40)
    save("heif", "moved.heic", moved, verdict="truncated", length=at[0] + 40, why=f"invalid media data at {at[0] + 40}")
    outside = bytearray(grid)
    last = grid.index(struct.pack(">II", at[5], 28))
    outside[last + 7] += 1
    save("heif", "outside.heic", bytes(outside), verdict="unverified", length=len(grid),
         why=f"data at {at[5]} would be outside the file's media data")
    opened = bytearray(grid)
    mdat = at[0] - 8
    opened[mdat:mdat + 4] = bytes(4)
    save("heif", "open.heic", bytes(opened), verdict="unverified", length=len(grid))
    save("heif", "open-followed.heic", bytes(opened) + noise(500, 5), verdict="unverified", length=len(grid))
    words = (b"what stands here instead of a picture " * 9, b"and what stands behind it")
    stub, places = still(heic, [(1, b"hvc1"), (2, b"hvc1")], words)
    assert places[0] % 512
    save("heif", "stub.heic", stub, verdict="unverified", length=len(stub),
         why=f"invalid media data at {places[0]}, but no sector starts there")
    aligned, places = still(heic, [(1, b"hvc1"), (2, b"hvc1")], words, more=box(b"free", bytes(504 - places[0] % 512)))
    assert places[0] % 512 == 0
    save("heif", "stub-at-sector.heic", aligned, verdict="truncated", length=places[0], why=f"invalid media data at {places[0]}")
    save("heif", "no-data.heic", grid[:mdat], verdict="truncated", length=mdat, why=f"no media data at {mdat}")
    description = len(heic)
    save("heif", "description-cut.heic", grid[:description + 100] + noise(3000, 4), verdict="truncated",
         length_min=description + 50, length_max=description + 120)
    odd = bytearray(grid)
    place = grid.index(b"infe") - 4
    odd[place:place + 4] = b"\x7f\0\0\0"
    save("heif", "description.heic", bytes(odd), verdict="unverified", length=len(grid),
         why=f"the description of the pictures is broken at {place}, but media data follows")
    save("heif", "nothing.heic", heic + noise(500, 6), verdict="reject", why=f"no box of a known type at {len(heic)}")
    save("heif", "brand.heic", ftyp(b"isom") + box(b"mdat", noise(100, 7)), verdict="reject", why="no brand of HEIF at 8")
    save("heif", "size.heic", struct.pack(">I", 7) + grid[4:], verdict="reject", why="no file type box at 0")
