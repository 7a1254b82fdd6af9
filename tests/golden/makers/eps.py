"""EPS with a preview."""
import random, struct

from makers.common import save
from makers.ps import BODY, HEAD, TAIL

POST = HEAD.replace(b"3.0\n", b"3.0 EPSF-3.0\n", 1) + BODY + TAIL + b"\n"
TIFF = b"II*\0\x08\0\0\0" + struct.pack("<H", 3) + b"".join(struct.pack("<HHII", *e) for e in (
    (256, 3, 1, 8), (257, 3, 1, 64), (273, 4, 1, 60))) + bytes(4 + 10) + bytes(range(64))
WMF = struct.pack("<I", 0x9ac6cdd7) + bytes(18) + struct.pack("<HHHIHIH", 1, 9, 0x300, 9 + 40 + 3, 0, 40, 0)
WMF += struct.pack("<IH", 40, 0xf43) + bytes(range(74)) + struct.pack("<IH", 3, 0)  # one bitmap
# As Photoshop ends it.
BARE = POST[:POST.rindex(b"%%EOF")] + b"[/NamespacePop pdfmark\n"


def wrap(post=POST, wmf=b"", tiff=b"", front=False):
    at, parts, body = 30, {}, b""
    for name, data in (("wmf", wmf), ("tiff", tiff), ("post", post)) if front else (("post", post), ("wmf", wmf), ("tiff", tiff)):
        parts[name] = (at if data else 0, len(data))
        body += data
        at += len(data)
    return b"\xc5\xd0\xd3\xc6" + struct.pack("<IIIIII", *parts["post"], *parts["wmf"], *parts["tiff"]) + b"\xff\xff" + body


def make():
    whole = wrap(tiff=TIFF)
    preview = 30 + len(POST)
    pixels = len(whole) - 64
    entries = ((256, 3, 1, 8), (257, 3, 1, 64), (273, 4, 1, 166), (34377, 1, 104, 62))
    resources = b"8BIM\4\x0c\0\0" + struct.pack(">I", 60) + bytes(60) + b"8BIM\4\x22\0\0" + struct.pack(">I", 20) + bytes(20)
    directory = b"II*\0\x08\0\0\0" + struct.pack("<H", 4) + b"".join(struct.pack("<HHII", *e) for e in entries) + bytes(4)
    assert len(directory) == 62 and len(resources) == 104
    save("eps", "thumbnail.eps", wrap(tiff=directory + resources + bytes(range(64))), unchecked=30 + len(POST) + 4,
         embedded=f"30 {preview} {preview + 62 + 12 + 28} {preview + 62 + 72 + 12}")
    save("eps", "tiff.eps", whole, title="A golden page", embedded=preview, unverified=f"{preview + 50}-{len(whole)}", unchecked=30 + len(POST) + 4)
    save("eps", "wmf.eps", wrap(wmf=WMF), title="A golden page", embedded=preview, unverified=f"{preview + 40}-{preview + len(WMF)}", unchecked=30 + len(POST) + 4)
    save("eps", "front.eps", wrap(tiff=TIFF, front=True), unchecked=30 + len(TIFF + POST) - 40)
    save("eps", "alone.eps", wrap(), unchecked=30 + len(POST) - 40)
    strange = whole[:-64] + bytes(random.Random(4).randbytes(64))
    save("eps", "pixels.eps", strange, verdict="unverified", length=len(strange),
         why=f"the preview's last pixels, up to {len(strange)}, cannot be verified")
    save("eps", "cut.eps", whole[:pixels], verdict="truncated", length=pixels)
    save("eps", "photoshop.eps", wrap(BARE, tiff=TIFF), title="A golden page", unchecked=30 + len(BARE) - 80)
    foreign = b"A letter about nothing in particular.\n" * 40
    for kind, rest in ("text", foreign), ("zeros", bytes(len(foreign))), ("ff", b"\xff" * len(foreign)):
        long = wrap(POST[:-len(TAIL)] + b"% more\n" * 200 + TAIL, wmf=WMF)
        save("eps", f"lost-{kind}.eps", (long[:len(whole)] + rest)[:len(long)],
             verdict="truncated", length_min=len(whole) - 60, length_max=len(long))
    bare = wrap(POST[:200] + foreign)
    shown = wrap(POST[:200] + foreign, tiff=TIFF)
    save("eps", "preview-no-eof.eps", shown, verdict="unverified", length=len(shown), embedded=f"30 {len(shown) - len(TIFF)}")
    save("eps", "no-eof.eps", bare, verdict="unverified", length=len(bare))
    wrong = wrap(wmf=WMF)
    save("eps", "wmf-record.eps", wrong[:-6] + b"AAAAAA", verdict="truncated", length=len(wrong) - 6,
         why=f"an invalid preview at {len(wrong) - 6}")
    # A record of function 0 that is longer than the one that ends a metafile is the begin of one whose rest was wiped.
    save("eps", "wmf-wiped.eps", wrap(wmf=WMF[:-6] + struct.pack("<IH", 8, 0) + bytes(10)), verdict="truncated", length=len(wrong) - 6,
         why=f"an invalid preview at {len(wrong) - 6}")
    strip = bytearray(whole)
    strip[30 + len(POST) + 4:30 + len(POST) + 8] = struct.pack("<I", 5000)  # the directory's place
    save("eps", "directory.eps", bytes(strip), verdict="truncated", length=30 + len(POST),
         why=f"an invalid preview at {30 + len(POST)}")
    lost = 30 + 200
    save("eps", "overwritten.eps", whole[:lost] + b"\1\2\3" * 300, verdict="truncated", length_min=lost - 60, length_max=lost)
    save("eps", "no-preview.eps", whole[:30 + len(POST)] + b"\1" * len(TIFF), verdict="truncated", length=30 + len(POST),
         why=f"an invalid preview at {30 + len(POST)}")
    wrong = bytearray(whole)
    wrong[20:24] = struct.pack("<I", 40)
    save("eps", "overlap.eps", bytes(wrong), verdict="reject", why="overlapping sections at 0")
    wrong[4:8] = struct.pack("<I", 10)
    save("eps", "inside.eps", bytes(wrong), verdict="reject", why="a section inside the header at 0")
    save("eps", "no-post.eps", wrap(b"not PostScript at all " * 5), verdict="reject", why="no PostScript at 30")
    save("eps", "empty.eps", wrap(b"", tiff=TIFF), verdict="reject", why="no PostScript at 0")
