#!/usr/bin/env python3
"""Makes the golden files of tests/golden and what is expected of them (see README.md there). Needs Pillow (python3-pil).

    tests/golden/make.py            all again; the result should equal what is committed, but for a newer Pillow's encoders

A file NAME has a file NAME.expected with lines `key value`; what a carver finds has to agree with each of them. What is expected is
computed here from how the file was made, never taken from a carver.
"""
import io, os, random, struct, sys, zipfile, zlib

from PIL import Image, PngImagePlugin

ROOT = os.path.dirname(os.path.abspath(__file__))


def save(carver, name, data, **expected):
    folder = os.path.join(ROOT, carver)
    os.makedirs(folder, exist_ok=True)
    expected.setdefault("verdict", "complete")
    if expected["verdict"] == "complete":
        expected.setdefault("length", len(data))
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)
    with open(os.path.join(folder, name + ".expected"), "w") as out:
        for key, value in expected.items():
            out.write(f"{key} {value}\n")


def picture(mode, size=(48, 40)):
    """A smooth picture with some noise, always the same."""
    rng = random.Random(mode)
    image = Image.new("RGB", size)
    for y in range(size[1]):
        for x in range(size[0]):
            image.putpixel((x, y), (x * 5 % 256, y * 6 % 256, (x + y + rng.randint(0, 30)) % 256))
    return image.convert(mode)


def encoded(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


# ---- PNG --------------------------------------------------------------------------------------

def chunk(kind, data, crc=None):
    crc = zlib.crc32(kind + data) if crc is None else crc
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


SIGNATURE = b"\x89PNG\r\n\x1a\n"


def header(width, height, depth=8, colour=0, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def rows(width, height, seed=1):
    """Grey rows of 8 bits that hardly compress."""
    rng = random.Random(seed)
    return b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(width)) for _ in range(height))


def interlaced(width, height):
    rng, out = random.Random(7), b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        across, down = len(range(x0, width, dx)), len(range(y0, height, dy))
        if across:
            out += b"".join(b"\1" + bytes(rng.randrange(256) for _ in range(across)) for _ in range(down))
    return out


def make_png():
    for mode, name in (("L", "grey"), ("RGB", "rgb"), ("RGBA", "rgba"), ("P", "palette"), ("1", "bilevel")):
        save("png", name + ".png", encoded(picture(mode), format="PNG"))
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "A golden picture")
    save("png", "title.png", encoded(picture("L"), format="PNG", pnginfo=info), title="A golden picture")
    info = PngImagePlugin.PngInfo()
    info.add_itxt("Title", "Ein Bild", "de", "Titel")
    save("png", "itxt.png", encoded(picture("L"), format="PNG", pnginfo=info), title="Ein Bild")
    frames = [picture("L", (24, 24)), picture("1", (24, 24)).convert("L")]
    save("png", "animated.png", encoded(frames[0], format="PNG", save_all=True, append_images=frames[1:]))
    noise = zlib.compress(rows(64, 40), 9)
    end = chunk(b"IEND", b"")
    time = chunk(b"tIME", struct.pack(">HBBBBB", 2024, 2, 29, 23, 59, 58))
    save("png", "time.png", SIGNATURE + header(64, 40) + time + chunk(b"IDAT", noise) + end, time=1709251198)
    save("png", "interlaced.png", SIGNATURE + header(21, 13, interlace=1) + chunk(b"IDAT", zlib.compress(interlaced(21, 13))) + end)
    many = b"".join(chunk(b"IDAT", noise[i:i + 100]) for i in range(0, len(noise), 100))
    save("png", "many-idat.png", SIGNATURE + header(64, 40) + many + end)
    bare = zlib.compressobj(9, zlib.DEFLATED, -15)
    bare = bare.compress(rows(8, 8)) + bare.flush()
    save("png", "apple.png", SIGNATURE + chunk(b"CgBI", b"\x50\x00\x20\x02") + header(8, 8) + chunk(b"IDAT", bare) + end)

    # A wrong CRC where no viewer minds it.
    head = SIGNATURE + header(64, 40)
    text = chunk(b"tEXt", b"Comment\0damaged", 0)
    save("png", "text-crc.png", head + text + chunk(b"IDAT", noise) + end,
         why=f"opens, though the CRC of a chunk at {len(head)} is wrong")
    # The second of three IDAT chunks is damaged: sound up to the row where it shows, and to 256 bytes.
    parts = [noise[:800], noise[800:1600], noise[1600:]]
    broken = bytearray(parts[1])
    broken[400:] = random.Random(3).randbytes(400)
    data = head + chunk(b"IDAT", parts[0]) + chunk(b"IDAT", bytes(broken), zlib.crc32(b"IDAT" + parts[1])) + chunk(b"IDAT", parts[2]) + end
    at = len(head) + 800 + 12
    save("png", "idat-crc.png", data, verdict="truncated", length_min=at, length_max=at + 800 + 12,
         why=f"the CRC of chunk IDAT at {at} is wrong")
    cut = head + chunk(b"IDAT", noise)[:1000]
    save("png", "cut.png", cut, verdict="truncated", length=len(cut),
         why=f"the image ends at {len(cut)}, before the file does")
    save("png", "overwritten.png", cut + bytes(5000), verdict="truncated", length_min=len(cut) - 300, length_max=len(cut))
    save("png", "no-ihdr.png", SIGNATURE + chunk(b"IDAT", noise) + end, verdict="reject", why="IHDR does not come first at 8")
    save("png", "no-idat.png", head + end, verdict="truncated", length=len(head),
         why=f"IEND without any IDAT at {len(head)}")
    save("png", "size.png", SIGNATURE + header(0, 40) + chunk(b"IDAT", noise) + end, verdict="reject",
         why="IHDR has an impossible size at 8")


# ---- JPEG -------------------------------------------------------------------------------------

def exif(big):
    """EXIF with title, date and a thumbnail, in either byte order."""
    o = ">" if big else "<"
    thumb = encoded(picture("RGB", (16, 16)), format="JPEG", quality=40)
    title, date = b"Golden hour\0", b"2024:02:29 23:59:58\0"
    ifd0 = 8
    sub = ifd0 + 2 + 2 * 12 + 4
    ifd1 = sub + 2 + 12 + 4
    data = ifd1 + 2 + 2 * 12 + 4
    at_date, at_thumb = data + len(title), data + len(title) + len(date)
    entry = lambda tag, kind, count, value: struct.pack(o + "HHII", tag, kind, count, value)
    out = (b"MM\0*" if big else b"II*\0") + struct.pack(o + "I", ifd0)
    out += struct.pack(o + "H", 2) + entry(0x010E, 2, len(title), data) + entry(0x8769, 4, 1, sub) + struct.pack(o + "I", ifd1)
    out += struct.pack(o + "H", 1) + entry(0x9003, 2, len(date), at_date) + struct.pack(o + "I", 0)
    out += struct.pack(o + "H", 2) + entry(0x0201, 4, 1, at_thumb) + entry(0x0202, 4, 1, len(thumb)) + struct.pack(o + "I", 0)
    return b"Exif\0\0" + out + title + date + thumb


def scan_start(data):
    """The offset of the coded data of the first scan."""
    at = data.index(b"\xff\xda")
    return at + 2 + struct.unpack(">H", data[at + 2:at + 4])[0]


def make_jpeg():
    colour = picture("RGB", (72, 56))
    for name, options in (("baseline", {}), ("progressive", dict(progressive=True)), ("optimized", dict(optimize=True)),
                          ("444", dict(subsampling=0)), ("422", dict(subsampling=1)), ("restart", dict(restart_marker_blocks=3)),
                          ("progressive-restart", dict(progressive=True, restart_marker_rows=1))):
        save("jpeg", name + ".jpg", encoded(colour, format="JPEG", quality=70, **options))
    save("jpeg", "grey.jpg", encoded(picture("L", (37, 29)), format="JPEG"))
    save("jpeg", "cmyk.jpg", encoded(picture("CMYK"), format="JPEG"))
    for big in (False, True):
        save("jpeg", f"exif-{'big' if big else 'little'}.jpg", encoded(colour, format="JPEG", exif=exif(big)),
             title="Golden hour", time=1709251198)
    mpo = encoded(colour, format="MPO", save_all=True, append_images=[picture("RGB", (40, 40))])
    save("jpeg", "two.mpo", mpo)
    save("jpeg", "two-cut.mpo", mpo[:-100], verdict="truncated", length=len(mpo) - 100)

    whole = encoded(colour, format="JPEG", quality=70)
    start = scan_start(whole)
    middle = (start + len(whole)) // 2
    rng = random.Random(5)
    save("jpeg", "cut.jpg", whole[:middle], verdict="truncated", length=middle,
         why=f"the image ends at {middle}, before the file does")
    save("jpeg", "random-behind.jpg", whole[:middle] + rng.randbytes(4000), verdict="truncated", length_min=middle - 8, length_max=middle + 1500)
    save("jpeg", "zeros-behind.jpg", whole[:middle] + bytes(4000), verdict="truncated", length_min=middle - 8, length_max=middle + 8)
    text = b"and so the picture ended, and a letter began that had nothing to do with it. " * 50
    save("jpeg", "text-behind.jpg", whole[:middle] + text, verdict="truncated", length_min=middle - 8, length_max=middle + 1500)
    other = encoded(picture("L"), format="JPEG")
    save("jpeg", "jpeg-behind.jpg", whole[:middle] + other, verdict="truncated", length_min=middle - 8, length_max=middle)
    progressive = encoded(colour, format="JPEG", quality=70, progressive=True)
    middle = scan_start(progressive) + (len(progressive) - scan_start(progressive)) * 2 // 3
    save("jpeg", "progressive-random-behind.jpg", progressive[:middle] + rng.randbytes(4000), verdict="truncated",
         length_min=middle - 8, length_max=middle + 1500)
    save("jpeg", "short.jpg", whole[:-60] + b"\xff\xd9", verdict="truncated", length=len(whole) - 58)
    save("jpeg", "no-scan.jpg", whole[:2] + rng.randbytes(200), verdict="reject")


# ---- ZIP --------------------------------------------------------------------------------------

class Pipe(io.RawIOBase):
    """Takes writes but can't seek, so that zipfile writes descriptors."""
    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


DATE = (2024, 2, 29, 23, 59, 58)
WORDS = ("the archive holds what was put into it, and nothing else, as it should. " * 12).encode()


def archive(members, method=zipfile.ZIP_DEFLATED, comment=b"", pipe=False, zip64=False):
    out = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name, data in members:
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else method
            with target.open(info, "w", force_zip64=zip64) as member:
                member.write(data)
        target.comment = comment
    return out.data if pipe else out.getvalue()


def office(main, folder, extension):
    types = f'<?xml version="1.0"?><Types><Override PartName="/{folder}/x.xml" ContentType="application/{main}"/></Types>'
    save("zip", "office." + extension, archive([("[Content_Types].xml", types.encode()), (folder + "/x.xml", WORDS)]),
         extension=extension, time=1709251198)


def make_zip():
    plain = [("a.txt", WORDS), ("folder/", b""), ("folder/b.txt", WORDS[::-1]), ("empty", b"")]
    save("zip", "deflated.zip", archive(plain), extension="zip", time=1709251198)
    save("zip", "stored.zip", archive(plain, zipfile.ZIP_STORED), extension="zip")
    save("zip", "bzip2.zip", archive(plain, zipfile.ZIP_BZIP2), extension="zip")
    save("zip", "comment.zip", archive(plain, comment=b"a comment, not text behind it"), extension="zip")
    save("zip", "streamed.zip", archive(plain, pipe=True), extension="zip")
    save("zip", "streamed-stored.zip", archive(plain, zipfile.ZIP_STORED, pipe=True), extension="zip")
    save("zip", "zip64.zip", archive(plain, zip64=True), extension="zip")
    save("zip", "streamed-zip64.zip", archive(plain, pipe=True, zip64=True), extension="zip")
    save("zip", "empty.zip", archive([]), extension="zip")
    inner = archive(plain, zipfile.ZIP_STORED)
    save("zip", "nested.zip", archive([("inner.zip", inner), ("z", WORDS)], zipfile.ZIP_STORED), extension="zip")
    save("zip", "nested-streamed.zip", archive([("inner.zip", archive(plain, zipfile.ZIP_STORED, pipe=True)), ("z", WORDS)],
                                               zipfile.ZIP_STORED, pipe=True), extension="zip")
    office("vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml", "word", "docx")
    office("vnd.ms-word.document.macroEnabled.main+xml", "word", "docm")
    office("vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "xl", "xlsx")
    office("vnd.openxmlformats-officedocument.presentationml.presentation.main+xml", "ppt", "pptx")
    office("vnd.ms-visio.drawing.main+xml", "visio", "vsdx")
    save("zip", "folders.docx", archive([("[Content_Types].xml", b"<Types/>"), ("word/document.xml", WORDS)]), extension="docx")
    for mimetype, extension in (("application/epub+zip", "epub"), ("application/vnd.oasis.opendocument.text", "odt"),
                                ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
                                ("application/vnd.oasis.opendocument.presentation", "odp")):
        save("zip", "typed." + extension, archive([("mimetype", mimetype.encode()), ("content.xml", WORDS)]), extension=extension)
    manifest = ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n")
    save("zip", "java.jar", archive([manifest, ("A.class", WORDS)], pipe=True), extension="jar")
    save("zip", "web.war", archive([manifest, ("WEB-INF/web.xml", WORDS)]), extension="war")
    save("zip", "places.kmz", archive([("doc.kml", WORDS)]), extension="kmz")
    apk = archive([("AndroidManifest.xml", WORDS), ("classes.dex", WORDS), manifest])
    save("zip", "android.apk", apk, extension="apk")
    # Its signatures stand in front of the directory, whose place moves.
    at = struct.unpack("<I", apk[-6:-2])[0]
    pairs = struct.pack("<QI", 4 + 20, 0x7109871A) + b"signature of nothing"
    block = struct.pack("<Q", len(pairs) + 24) + pairs + struct.pack("<Q", len(pairs) + 24) + b"APK Sig Block 42"
    signed = apk[:at] + block + apk[at:-6] + struct.pack("<I", at + len(block)) + apk[-2:]
    save("zip", "signed.apk", signed, extension="apk")
    # Another program before the archive, and offsets that count from its start.
    stub = b"MZ" + bytes(98)
    out = io.BytesIO(stub)
    out.seek(0, 2)
    with zipfile.ZipFile(out, "a") as target:
        target.writestr(zipfile.ZipInfo("a.txt", DATE), WORDS)
    save("zip", "behind-stub.zip", out.getvalue()[len(stub):], extension="zip", why="the archive has 100 other bytes before it")

    whole = archive(plain)
    directory = whole.index(b"PK\1\2")
    second = whole.index(b"PK\3\4", 4)
    save("zip", "second-member.zip", whole[second:], verdict="reject",
         why=f"belongs to an archive that starts {second} bytes earlier")
    save("zip", "no-directory.zip", whole[:directory], verdict="truncated", length=directory, extension="zip")
    save("zip", "overwritten.docx", archive([("[Content_Types].xml", b"<Types/>"), ("word/x", WORDS)])[:120] + random.Random(9).randbytes(900),
         verdict="truncated", length_min=90, length_max=1020)
    cut = len(whole) - 10
    save("zip", "end-cut.zip", whole[:cut], verdict="truncated", length=cut)
    save("zip", "stored-cut.zip", archive([("a", WORDS)], zipfile.ZIP_STORED)[:200], verdict="truncated", length=200)
    wrong = bytearray(whole)
    wrong[directory + 16] ^= 1  # the CRC of the first entry
    save("zip", "crc-differs.zip", bytes(wrong), verdict="unverified", length=len(whole),
         why=f"the directory at {directory} lists other members than those before it")
    wrong = bytearray(whole)
    wrong[-6] ^= 1  # the directory's place in the end record
    save("zip", "place-differs.zip", bytes(wrong), verdict="unverified", length=len(whole))
    save("zip", "followed.zip", whole[:directory] + whole, verdict="truncated", length=directory,
         why=f"another archive starts at {directory}")
    # A comparison with the signature, then jumps and moves, as compilers write them.
    code = b"PK\3\4\x0f\x84\x7d\x01\0\0\xc7\x05\x10\x20\0\0\0\0\0\0\xc7\x05\x14\x20\0\0\x01\0\0\0\x48\x89\xc2\x31\xc0\x48\x83\xfa\x02"
    save("zip", "machine-code.zip", code * 3, verdict="reject",
         why="an impossible version, flag, method or date in the first local header at 0")
    save("zip", "text.zip", b"PK\3\4 is how an archive starts, but this is a sentence about it.", verdict="reject")


if __name__ == "__main__":
    make_png()
    make_jpeg()
    make_zip()
