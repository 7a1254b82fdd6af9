"""Enhanced metafiles, record by record."""
import random, struct

from makers.common import save


def record(kind, data=b""):
    data += bytes(-len(data) % 4)
    return struct.pack("<II", kind, 8 + len(data)) + data


END = record(14, struct.pack("<III", 0, 16, 20))


def metafile(records, count, title="", size=None):
    text = ("Maker\0" + title + "\0\0").encode("utf-16-le") if title else b""
    length = 88 + len(text) + -len(text) % 4
    size = length + len(records) if size is None else size
    head = struct.pack("<II4i4i", 1, length, 0, 0, 100, 100, 0, 0, 2000, 2000) + b" EMF" + struct.pack("<IIIHHIII", 0x10000, size, count, 1, 0,
                                                                                                       len(text) // 2, 88 if text else 0, 0)
    head += struct.pack("<IIII", 1024, 768, 320, 240)
    return head.ljust(88, b"\0") + text + bytes(-len(text) % 4) + records


def make():
    rng = random.Random(6)
    start = record(17, b"\x08\0\0\0") + record(9, bytes(8)) + record(37, b"\x07\0\0\x80") + record(27, struct.pack("<ii", 5, 6))
    bitmap = record(81, rng.randbytes(300))
    body = start + bitmap + record(40, b"\1\0\0\0")
    whole = metafile(body + END, 8)
    save("emf", "plain.emf", whole)
    save("emf", "title.emf", metafile(body + END, 8, "Gr\u00fc\u00dfe \u20ac"), title="Gr\u00fc\u00dfe \u20ac")
    save("emf", "comment.emf", metafile(start + record(70, struct.pack("<I", 8) + b"EMF+" + bytes(4)) + body + END, 13))
    save("emf", "no-end.emf", metafile(body, 7))
    save("emf", "size.emf", metafile(body + END, 8, size=999))
    both = metafile(body + END, 77, size=999)
    save("emf", "size-and-count.emf", both, verdict="unverified", length=len(both), why=f"the header has another size than {len(both)}")

    at = 88 + len(start)
    cut = whole[:at + 100]
    save("emf", "cut.emf", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("emf", "random.emf", cut + rng.randbytes(3000), verdict="truncated", length=at, why=f"no known record at {at + len(bitmap)}")
    save("emf", "wiped.emf", cut + bytes(3000), verdict="truncated", length=at)
    save("emf", "header.emf", b"\2" + whole[1:], verdict="reject", why="no header record at 0")
    save("emf", "header-size.emf", whole[:4] + b"\x30" + whole[5:], verdict="reject", why="the header has an impossible size at 0")
    save("emf", "signature.emf", whole[:40] + b" EMG" + whole[44:], verdict="reject", why="no header record at 0")
    save("emf", "no-size.emf", whole[:48] + bytes(4) + whole[52:], verdict="reject", why="the header has an impossible file size at 0")
    save("emf", "few.emf", whole[:88] + rng.randbytes(600), verdict="reject", why="no known record at 88")
