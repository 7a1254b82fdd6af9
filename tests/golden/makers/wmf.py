"""Windows metafiles, record by record."""
import random, struct

from makers.common import save


def record(function, *words):
    return struct.pack("<IH", 3 + len(words), function) + struct.pack(f"<{len(words)}H", *words)


END = record(0)


def metafile(records, version=0x300):
    size = 9 + len(records) // 2
    return struct.pack("<HHHIHIH", 1, 9, version, size, 2, 40, 0) + records


def placeable(data, wrong=0):
    head = struct.pack("<IHhhhhHI", 0x9ac6cdd7, 0, 0, 0, 1000, 800, 1440, 0)
    checksum = 0
    for word in struct.unpack("<10H", head):
        checksum ^= word
    return head + struct.pack("<H", checksum ^ wrong) + data


def make():
    rng = random.Random(5)
    lines = record(0x20b, 0, 0) + record(0x20c, 800, 1000) + record(0x2fa, 0, 1, 0, 0, 0) + record(0x12d, 0)
    points = record(0x325, 10, *[rng.randrange(800) for _ in range(20)])
    bitmap = record(0xf43, *[rng.randrange(65536) for _ in range(120)])
    body = lines + points + bitmap + record(0x1f0, 0)
    save("wmf", "placeable.wmf", placeable(metafile(body + END)))
    save("wmf", "plain.wmf", metafile(body + END))
    save("wmf", "old.wmf", metafile(body + END, 0x100))
    save("wmf", "saved.wmf", metafile(record(0x1e) + body + record(0x127, 0xffff) + END))
    whole = placeable(metafile(body + END))
    zero = whole[:20] + b"\0\0" + whole[22:]
    save("wmf", "no-checksum.wmf", zero)

    at = 40 + len(lines + points)
    cut = whole[:at + 100]
    save("wmf", "cut.wmf", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    longer = metafile(body + struct.pack("<IH", 5000, 0x1f0) + bytes(600))
    save("wmf", "record.wmf", longer, verdict="truncated", length=len(metafile(lines + points + bitmap)), why=f"no known record at {len(metafile(body))}")
    follow = at + len(bitmap)
    save("wmf", "random.wmf", cut + rng.randbytes(3000), verdict="truncated", length=at, why=f"no known record at {follow}")
    save("wmf", "wiped.wmf", cut + bytes(3000), verdict="truncated", length=at)
    save("wmf", "checksum.wmf", placeable(metafile(body + END), 1), verdict="reject",
         why="the checksum of the placeable header is wrong at 0")
    save("wmf", "header.wmf", placeable(b"\1\0\10\0" + metafile(body + END)[4:]), verdict="reject", why="no metafile header at 22")
    save("wmf", "function.wmf", placeable(metafile(record(0x3333, 1) + END)), verdict="reject", why="no known record at 40")
    save("wmf", "few.wmf", placeable(metafile(record(0x20b, 0, 0) + record(0x20c, 8, 8)) + rng.randbytes(500)), verdict="reject")
