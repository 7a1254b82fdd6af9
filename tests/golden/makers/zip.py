"""ZIP and the kinds of documents built on it."""
import io, random, struct, zipfile

from makers.common import save


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


def moved(data, spaces):
    """The archive with spaces[i] before member i, and the last before the directory; and where they are."""
    at = struct.unpack("<I", data[-6:-2])[0]
    out, table, places = b"", data[at:-22], []
    starts = sorted(struct.unpack_from("<I", table, i + 42)[0] for i in range(len(table)) if table[i:i + 4] == b"PK\1\2") + [at]
    for i, space in enumerate(spaces):
        places += [(len(out), len(out) + len(space))] if space else []
        if i < len(starts):
            table = table.replace(struct.pack("<I", starts[i]) + (name := data[starts[i] + 30:starts[i] + 31]), struct.pack("<I", len(out) + len(space)) + name)
        out += space + data[starts[i]:starts[i + 1]] if i + 1 < len(starts) else space
    return out + table + data[-22:-6] + struct.pack("<I", len(out)) + data[-2:], places


def ranges(places):
    return " ".join(f"{a}-{b}" for a, b in places)


def make_odd():
    members = [("a.txt", WORDS), ("b.txt", WORDS[::-1]), ("c.txt", WORDS * 3)]
    rng = random.Random(21)
    stale = archive([("old.txt", WORDS[5:])])
    stale = stale[:stale.index(b"PK\1\2")]
    for name, kind, pipe, spaces in (("gaps", "zip", False, (b"", rng.randbytes(90), bytes(40), b"")), ("stale", "zip", False, (b"", stale, b"", b"")),
                                     ("piped-gaps", "zip", True, (b"", stale[:60], b"", rng.randbytes(200))),
                                     ("padded", "zip", False, (b"", b"", b"", bytes(300)))):
        data, places = moved(archive(members, pipe=pipe), spaces)
        count, at = sum(map(len, spaces)), struct.unpack("<I", data[-6:-2])[0]
        save("zip", f"{name}.{kind}", data, extension=kind, unchecked=places[0][0], unverified=ranges(places),
             why=f"{count} bytes belong to no member in the directory at {at}")
    # A member between the gaps is damaged: the archive is cut before the first gap, as without a directory.
    data, places = moved(archive(members), (b"", rng.randbytes(90), b"", b""))
    wrong = bytearray(data)
    wrong[places[0][1] + 60] ^= 1
    save("zip", "gap-damaged.zip", bytes(wrong), verdict="truncated", length=places[0][0], why=f"no ZIP record at {places[0][0]}")
    at = data.index(b"PK\1\2")
    save("zip", "gap-cut.zip", data[:at + 20], verdict="truncated")
    wrong = bytearray(data)
    wrong[at + 46] ^= 1
    save("zip", "gap-name.zip", bytes(wrong), verdict="truncated")


def make():
    save("zip", "icon.zip", archive([("Icon\r", WORDS), ("two\nlines", WORDS)]), time=1709251198)
    make_odd()
    plain = [("a.txt", WORDS), ("folder/", b""), ("folder/b.txt", WORDS[::-1]), ("empty", b"")]
    save("zip", "deflated.zip", archive(plain), extension="zip", time=1709251198)
    save("zip", "stored.zip", archive(plain, zipfile.ZIP_STORED), extension="zip")
    save("zip", "bzip2.zip", archive(plain, zipfile.ZIP_BZIP2), extension="zip")
    comment = b"a comment, not text behind it"
    commented = archive(plain, comment=comment)
    save("zip", "comment.zip", commented, extension="zip", unverified=f"{len(commented) - len(comment)}-{len(commented)}")
    signature = b"signed by\0" + bytes(range(16)) + struct.pack("<HHH", 22, 0xFFFF, 32)
    save("zip", "signature.zip", archive(plain, comment=signature), extension="zip")
    # Without its last two bytes: the length of the comment is foreign, and so is the comment.
    lost = archive(plain)[:-2]
    save("zip", "length-lost.zip", lost + b"  " + random.Random(3).randbytes(9000), verdict="unverified", length=len(lost) + 2,
         why=f"an end record with a comment that is not text, after the directory at {lost.index(b'PK' + bytes((1, 2)))}")
    save("zip", "empty-length-lost.zip", archive([])[:-2] + b"  " + random.Random(4).randbytes(9000), verdict="unverified", length=22,
         why="a comment that is not text at 22")
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
    core = (b'<?xml version="1.0"?><cp:coreProperties><dc:title>Cats &amp; dogs</dc:title>'
            b'<dcterms:modified xsi:type="dcterms:W3CDTF">2020-02-29T12:34:56Z</dcterms:modified></cp:coreProperties>')
    save("zip", "title.docx", archive([("[Content_Types].xml", b"<Types/>"), ("word/document.xml", WORDS), ("docProps/core.xml", core)]),
         extension="docx", title="Cats & dogs", time=1582979696)
    meta = b"<office:meta><dc:title>Titel</dc:title><dc:date>2020-02-29T12:34:56.789</dc:date></office:meta>"
    save("zip", "title.odt", archive([("mimetype", b"application/vnd.oasis.opendocument.text"), ("meta.xml", meta)]), extension="odt",
         title="Titel", time=1582979696)
    save("zip", "no-title.epub", archive([("mimetype", b"application/epub+zip"), ("a.opf", b"<dc:title/><dc:date>soon</dc:date>")]),
         extension="epub", title="", time=1709251198)
    for name, extension in (("Index/Slide-1.iwa", "key"), ("Index/Tables/Tile.iwa", "numbers"), ("Index/ViewState.iwa", "pages")):
        save("zip", "new." + extension, archive([("Index/Document.iwa", WORDS), (name, WORDS)]), extension=extension)
    save("zip", "old.thmx", archive([("[Content_Types].xml", b"<Types/>"), ("theme/theme/theme1.xml", WORDS)]), extension="thmx")
    manifest = ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n")
    save("zip", "java.jar", archive([manifest, ("A.class", WORDS)], pipe=True), extension="jar")
    save("zip", "web.war", archive([manifest, ("WEB-INF/web.xml", WORDS)]), extension="war")
    volume = b"aff4://685e15cc-d0fb-4dbc-ba47-48117fc77044"
    image = [("container.description", volume), ("version.txt", b"major=1\nminor=0\n"), ("map/idx", volume + b"/data"), ("data/00000000", WORDS),
             ("information.turtle", b"@prefix aff4: <http://aff4.org/Schema#> .\n<" + volume + b"/data> a aff4:ImageStream .\n")]
    aff4 = archive(image, zipfile.ZIP_STORED, zip64=True)
    save("zip", "image.aff4", aff4, extension="aff4", unverified="none")
    save("zip", "commented.aff4", archive(image[3:], comment=volume), extension="aff4")
    save("zip", "image-cut.zip", aff4[:aff4.index(b"information.turtle") - 30], verdict="truncated", extension="zip")
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
    save("zip", "behind-stub.zip", out.getvalue()[len(stub):], extension="zip", why="100 other bytes precede the archive")

    whole = archive(plain)
    directory = whole.index(b"PK\1\2")
    second = whole.index(b"PK\3\4", 4)
    save("zip", "second-member.zip", whole[second:], verdict="reject",
         why=f"part of an archive that starts {second} bytes earlier")
    save("zip", "no-directory.zip", whole[:directory], verdict="truncated", length=directory, extension="zip")
    save("zip", "overwritten.docx", archive([("[Content_Types].xml", b"<Types/>"), ("word/x", WORDS)])[:120] + random.Random(9).randbytes(900),
         verdict="truncated", length_min=90, length_max=1020)
    cut = len(whole) - 10
    save("zip", "end-cut.zip", whole[:cut], verdict="truncated", length=cut)
    stored = bytearray(archive(plain, zipfile.ZIP_STORED))
    stored[100] ^= 1
    save("zip", "stored-damaged.zip", bytes(stored), verdict="unverified", length=len(stored), why="the CRC of the stored data at 35 is wrong")
    flipped = bytearray(whole)
    flipped[60] ^= 1
    save("zip", "deflated-damaged.zip", bytes(flipped), verdict="unverified", length=len(whole),
         why="the CRC of the deflated data at 35 is wrong")
    piped = bytearray(archive(plain, zipfile.ZIP_STORED, pipe=True))
    piped[100] ^= 1
    save("zip", "piped-damaged.zip", bytes(piped), verdict="unverified", length=len(piped), why="the CRC of the stored data at 35 is wrong")
    noise = archive([("a", random.Random(12).randbytes(9000)), ("b", WORDS)], zipfile.ZIP_STORED)
    save("zip", "first-wiped.zip", noise[:5000] + bytes(6000), verdict="truncated", length_min=4000, length_max=5100)
    words = archive([("a", WORDS * 10), ("b", WORDS)], zipfile.ZIP_STORED)
    save("zip", "first-random.zip", words[:5000] + random.Random(13).randbytes(9000), verdict="truncated", length_min=3900, length_max=6100)
    save("zip", "stored-cut.zip", archive([("a", WORDS)], zipfile.ZIP_STORED)[:200], verdict="truncated", length=200, embedded=31)
    wrong = bytearray(whole)
    wrong[directory + 16] ^= 1  # the CRC of the first entry
    save("zip", "crc-differs.zip", bytes(wrong), verdict="unverified", length=len(whole),
         why=f"the directory at {directory} does not match the members before it")
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
