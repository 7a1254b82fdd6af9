"""PDF documents, written by hand."""
import random, struct, zlib

from makers.common import save

TEXT = b"BT /F1 12 Tf 72 700 Td (A line of text on a page) Tj ET\n" * 6


class Document:
    def __init__(self, start=0, version=b"1.4"):
        self.data = b"%PDF-" + version + b"\n%\xe2\xe3\xcf\xd3\n"
        self.start = start  # bytes that stand before the header and are counted
        self.at, self.new = {}, []

    def place(self, number):
        self.at[number] = len(self.data) + self.start
        self.new.append(number)

    def add(self, number, value):
        self.place(number)
        self.data += b"%d 0 obj\n" % number + value + b"\nendobj\n"

    def stream(self, number, content=TEXT, entries=b"", length=None):
        packed = zlib.compress(content, 9)
        length = len(packed) if length is None else length
        if isinstance(length, int):
            length = b"%d" % length
        self.place(number)
        self.data += b"%d 0 obj\n<< %s/Filter /FlateDecode /Length %s >>\nstream\n" % (number, entries, length)
        self.data += packed + b"\nendstream\nendobj\n"

    def table(self, trailer=b"", line=b"%%EOF"):
        at = len(self.data) + self.start
        self.data += b"xref\n"
        if 1 in self.new:
            self.data += b"0 1\n0000000000 65535 f \n"
        for number in sorted(self.new):
            self.data += b"%d 1\n%010d 00000 n \n" % (number, self.at[number])
        self.data += b"trailer\n<< /Size %d /Root 1 0 R %s>>\n" % (max(self.at) + 1, trailer)
        self.data += b"startxref\n%d\n" % at + line
        self.new = []
        return at

    def xref_stream(self, number, prev=b""):
        at = len(self.data)
        self.place(number)
        rows = b"\0\0\0\xff" + b"".join(b"\1" + struct.pack(">H", self.at[n]) + b"\0" for n in sorted(self.new))
        packed = zlib.compress(rows)
        self.data += (b"%d 0 obj\n<< /Type /XRef /W [1 2 1] /Index [0 1 %s] /Size %d /Root 1 0 R %s/Filter /FlateDecode /Length %d >>\n"
                      b"stream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF"
                      % (number, b" ".join(b"%d 1" % n for n in sorted(self.new)), number + 1, prev, len(packed), packed, at))
        self.new = []
        return at


def pages(document, **stream):
    document.add(1, b"<< /Type /Catalog /Pages 2 0 R >>")
    document.add(2, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
    document.add(3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>")
    document.stream(4, **stream)


def plain(**stream):
    document = Document()
    pages(document, **stream)
    document.add(5, b"<< /Title (A \\(golden\\) document\\056) /CreationDate (D:20240229235958Z) >>")
    document.table(b"/Info 5 0 R ")
    return document.data


def linearized(length=None):
    """The first page's table comes first, and the first %%EOF with it."""
    document = Document()
    for _ in range(2):  # the second time, all places are known
        known, total = dict(document.at), len(document.data)
        document = Document()
        document.add(6, b"<< /Linearized 1 /L %06d /O 3 /N 1 /T %06d >>" % (length or total, known.get("main", 0)))
        document.new = []
        first = len(document.data)
        document.data += b"xref\n3 1\n%010d 00000 n \n" % known.get(3, 0)
        document.data += b"trailer\n<< /Size 7 /Root 1 0 R /Prev %06d >>\nstartxref\n0\n%%%%EOF\n" % known.get("main", 0)
        pages(document)
        document.at["main"] = len(document.data)
        document.data += b"xref\n1 2\n%010d 00000 n \n%010d 00000 n \n" % (document.at[1], document.at[2])
        document.data += b"trailer\n<< /Size 3 >>\nstartxref\n%d\n%%%%EOF" % first
    return document.data


def make():
    whole = plain()
    table = whole.index(b"xref\n0 1")
    save("pdf", "table.pdf", whole, title="A (golden) document.", time=1709251198)
    save("pdf", "line-end.pdf", whole + b"\r\n", sequence="yes")
    document = Document(version=b"1.5")
    pages(document)
    document.xref_stream(5)
    save("pdf", "stream.pdf", document.data)
    document = Document()
    pages(document)
    for number in (5, 6):
        document.data = document.data[:-1]  # the next object's number right after endobj
        document.add(number, b"<< /Type /Metadata >>")
    document.table()
    save("pdf", "joined.pdf", document.data)
    document = Document(version=b"2.0")
    pages(document)
    document.add(5, b"<< /Title <FEFF 00C4 006E 0064 0065 0072 0075 006E 0067> /ModDate (D:20240301015958+02'00') >>")
    prev = document.table(b"/Info 5 0 R ", b"%%EOF\n")
    document.add(3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>")
    document.table(b"/Info 5 0 R /Prev %d " % prev)
    updated = document.data
    save("pdf", "updated.pdf", updated, title="Änderung", time=1709251198, sequence="yes")
    first = updated.index(b"%%EOF\n") + 6
    save("pdf", "update-cut.pdf", updated[:first + 60] + random.Random(1).randbytes(500), verdict="truncated",
         length_min=first, length_max=first + 60)
    document = Document()
    pages(document)
    at = len(document.data)
    document.stream(6, b"\1\0\0\0", b"/Type /XRef /W [1 2 1] /Index [7 1] /Size 8 ")
    document.table(b"/XRefStm %d " % at)
    save("pdf", "hybrid.pdf", document.data)
    save("pdf", "linearized.pdf", linearized())
    save("pdf", "linearized-longer.pdf", linearized(9999))
    save("pdf", "not-a-number.pdf", plain().replace(b"[0 0 612 792]", b"[nan 1e-5 6 9]"))
    # The palette that GraphicsMagick leaves out.
    document = Document()
    pages(document)
    document.add(5, b"<<\n\nendstream")
    document.table()
    save("pdf", "no-palette.pdf", document.data)
    short = linearized()
    short = short[:short.index(b"%%EOF") + 6]
    save("pdf", "linearized-cut.pdf", short + random.Random(2).randbytes(700), verdict="truncated", length=len(short))
    # The length is an object of its own, behind the stream.
    document = Document()
    pages(document, length=b"5 0 R")
    document.add(5, b"%d" % len(zlib.compress(TEXT, 9)))
    document.table()
    save("pdf", "indirect-length.pdf", document.data)
    # Another document's end, from a sector on: its cross-references have objects at its own beginning, too.
    noise = random.Random(7)
    parts = []
    for title in (b"First", b"Another title"):
        document = Document()
        document.add(1, b"<< /Type /Catalog /Pages 2 0 R /Lang (%s) >>" % title)
        document.add(2, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
        document.add(3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>")
        document.stream(4, noise.randbytes(1500), length=b"5 0 R")
        document.add(5, b"1516")
        document.add(6, b"<< /Type /Metadata >>")
        document.add(7, b"<< /Type /Metadata >>")
        parts.append(document)
    for name, end in (("table", Document.table), ("stream", lambda document: document.xref_stream(8))):
        tail = Document()
        tail.data, tail.at, tail.new = parts[1].data, dict(parts[1].at), list(parts[1].new)
        end(tail)
        both = parts[0].data[:1024] + tail.data[1024:]
        save("pdf", f"other-end-{name}.pdf", both, verdict="unverified", length=len(both), why="no object where the cross-references have one, 3 times")
    damaged = bytearray(plain(content=noise.randbytes(3000)))
    at = damaged.index(b"stream") + 7
    damaged[at + 1000:at + 1512] = bytes(512)
    save("pdf", "invalid-stream.pdf", bytes(damaged), verdict="unverified", length=len(damaged), why=f"the deflated stream at {at} is invalid")
    wrong = plain(length=11)
    save("pdf", "wrong-length.pdf", wrong,
         why=f"whole, but the stream at {wrong.index(b'stream') + 7} has a wrong /Length")
    document = Document(start=128)
    pages(document)
    document.table()
    # The last sectors of another file, whose first ones were where this file begins or nearby.
    first, second = Document(), Document()
    pages(first)
    first.data = first.data.ljust(1535) + b"\n"
    second.add(1, b"<< /Type /Catalog /Pages 2 0 R >>")
    second.add(2, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
    second.data = second.data.ljust(1023) + b"\n"
    second.add(3, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>")
    second.stream(4)
    second.table()
    for name, head in ("spliced", first.data), ("spliced-before", first.data[:1024 - 512].rsplit(b"endobj\n", 1)[0].ljust(505) + b"endobj\n"):
        save("pdf", name + ".pdf", head + second.data[1024:], verdict="truncated", length=len(head),
             why=f"the cross-references are another file's, whose objects begin after {len(head)}")
    save("pdf", "behind-macbinary.pdf", document.data, why="offsets count 128 bytes before the header")
    loose = b"%PDF-1.1\n1 0 obj <</A 1>> 2 0 obj [ 1 0 R ] "
    save("pdf", "no-endobj.pdf", loose + b"xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n%010d 00000 n \n"
         b"trailer <</Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (loose.index(b"2 0 obj"), len(loose)))

    stream = whole.index(b"stream\n") + 7
    save("pdf", "cut.pdf", whole[:table + 30], verdict="truncated", length=table + 30)
    save("pdf", "stream-cut.pdf", whole[:stream + 40] + random.Random(3).randbytes(900), verdict="truncated",
         length_min=stream + 20, length_max=stream + 80, why=f"no end of the stream at {stream}")
    save("pdf", "stream-wiped.pdf", whole[:stream + 30] + bytes(900), verdict="truncated",
         length_min=stream + 20, length_max=stream + 40)
    at = whole.index(b"3 0 obj")
    save("pdf", "overwritten.pdf", whole[:at + 20] + random.Random(4).randbytes(900), verdict="truncated", length=at - 1 + 0)
    save("pdf", "joined.pdf", whole[:stream + 20] + whole, verdict="truncated", length_min=stream, length_max=stream + 40)
    save("pdf", "startxref.pdf", whole.replace(b"startxref\n%d" % table, b"startxref\n99"), verdict="unverified", length=len(whole) - 1,
         why="no cross-references at the offset in startxref or /Prev: 99")
    lost = whole.replace(b" 00000 n", b"7 00000 n").replace(b"\n000000", b"\n00000")
    save("pdf", "entries.pdf", lost, verdict="unverified", length=len(lost))
    save("pdf", "no-eof.pdf", whole[:-5] + b"and text", verdict="truncated", length=len(whole) - 6)
    noisy = Document()
    pages(noisy, content=random.Random(5).randbytes(5000))
    noisy.table()
    stream = noisy.data.index(b"stream\n") + 7
    data = noisy.data.decode("utf-8", "replace").encode()
    moved = data.index(b"stream\n") + 7
    save("pdf", "characters.pdf", data, verdict="unverified", length=len(data), why=f"the file was converted like text, as the stream at {moved} shows")
    lost = noisy.data[:stream + 1024] + noisy.data[stream + 2048:]
    save("pdf", "sectors-lost.pdf", lost, verdict="truncated", length=stream, why=f"the stream at {stream} does not end at its /Length")
    save("pdf", "text.pdf", b"%PDF-1.4 is what the first line of a PDF file looks like.\nThe next has four bytes.", verdict="reject")
    save("pdf", "version.pdf", whole.replace(b"1.4", b"1.x", 1), verdict="reject", why="no PDF header with a version at 0")
