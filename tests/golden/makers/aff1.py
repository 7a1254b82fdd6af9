"""Disk images of the Advanced Forensic Format, segment by segment."""
import hashlib, struct, zlib

from makers.common import save
from makers.packing import junk, text

HEADER = b"AFF10\r\n\0"
PAGE = 4096


def segment(name, data=b"", argument=0):
    return b"AFF\0" + struct.pack(">III", len(name), len(data), argument) + name + data + b"ATT\0" + struct.pack(">I", len(name) + len(data) + 24)


def page(number, content, compressed=True):
    return segment(b"page%d" % number, zlib.compress(content) if compressed else content, int(compressed))


def tail(image, digest=None):
    return (segment(b"imagesize", struct.pack(">II", len(image) & 0xffffffff, len(image) >> 32), 2) +
            segment(b"md5", digest or hashlib.md5(image).digest()) + segment(b"image_gid", junk(16, 9)))


def make():
    start = HEADER + segment(b"badflag", b"BAD SECTOR\0" + junk(20, 8)) + segment(b"pagesize", argument=PAGE) + segment(b"sectorsize", argument=512)
    image = text(PAGE) + junk(600, 1) + text(PAGE - 600, 2) + text(1024, 3)
    parts = [image[at:at + PAGE] for at in range(0, len(image), PAGE)]
    pages = [page(number, part) for number, part in enumerate(parts)]
    whole = start + b"".join(pages) + tail(image)

    def agrees(data):
        return dict(verdict="unverified", length=len(data),
                    why=f"no segment at {len(data)}, and the number of segments is not stored; the MD5 of the image agrees")

    save("aff1", "zlib.aff", whole, embedded=f"{len(start)} {len(start) + 100} {len(whole) - 1}", **agrees(whole))
    stored = start + b"".join(page(number, part, number == 1) for number, part in enumerate(parts)) + tail(image)
    save("aff1", "stored.aff", stored, **agrees(stored))
    deleted = start + segment(b"", bytes(40)) + b"".join(pages) + tail(image)
    save("aff1", "deleted.aff", deleted, **agrees(deleted))
    for name, after in (("random", junk(900, 2)), ("zeros", bytes(900)), ("again", whole)):
        save("aff1", name + ".aff", whole + after, **agrees(whole))

    def unchecked(name, data, why):
        save("aff1", name + ".aff", data, verdict="unverified", length=len(data), why=f"no segment at {len(data)}, and no " + why)

    unchecked("lzma", start + segment(b"page0", junk(300, 3), 0x21) + tail(image), "MD5 that could be checked")
    unchecked("order", start + b"".join(reversed(pages)) + tail(image), "MD5 that could be checked")
    unchecked("missing", start + b"".join(pages[:2]) + tail(image), "MD5 that could be checked")
    unchecked("no-size", start + b"".join(pages), "size of the image before it")
    unchecked("no-page", start + tail(image), "page before it")
    save("aff1", "md5.aff", start + b"".join(pages) + tail(image, bytes(16)), verdict="unverified", length=len(whole), why="the MD5 of the image is wrong")
    at = len(start) + len(pages[0]) + 16 + 5
    spoiled = bytearray(whole)
    spoiled[at + 620:at + 630] = b"\xff" * 10
    save("aff1", "page.aff", bytes(spoiled), verdict="unverified", length=len(whole))
    short = start.replace(struct.pack(">I", PAGE), struct.pack(">I", 512)) + b"".join(pages) + tail(image)
    save("aff1", "page-size.aff", short, verdict="unverified", length=len(short), why=f"page 0 is wrong at {len(start) + len(pages[0]) - 8}")

    cut = at + 400
    save("aff1", "cut.aff", whole[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    why = f"the segment at {at - 21} is broken"
    for name, after in (("overwritten", junk(3000, 4)), ("wiped", bytes(3000)), ("erased", b"\xff" * 3000)):
        save("aff1", name + ".aff", whole[:cut] + after, verdict="truncated", length_min=at - 21, length_max=cut + 600, why=why)
    last = len(whole) - len(segment(b"image_gid", junk(16)))
    save("aff1", "tail.aff", whole[:-1] + b"x", verdict="truncated", length=last, why=f"the segment at {last} is broken")
    save("aff1", "name.aff", whole[:last + 16] + b"\1" + whole[last + 17:], verdict="truncated", length=last)
    save("aff1", "name-length.aff", whole[:last + 6] + b"\1" + whole[last + 7:], verdict="truncated", length=last)
    save("aff1", "header.aff", b"AFF20" + whole[5:], verdict="reject", why="no header at 0")
    save("aff1", "nothing.aff", HEADER + junk(500), verdict="reject", why="no segment at 8")
    save("aff1", "first.aff", HEADER + segment(b"badflag", b"x")[:-1] + b"x" + junk(90), verdict="reject", why="no segment at 8")
