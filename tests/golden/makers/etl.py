"""Event trace logs, buffer by buffer; the events behind the first are made up."""
import random, struct

from makers.common import save
from makers.elf import code

TIME, NAME = 1262304000, "A golden session"


def log(length, written, wide=True, mode=1, processors=2):
    width = 8 if wide else 4
    head = struct.pack("<IIIIQIIIIIIII", length, 0x0501000a, 7601, processors, 0, 156250, 0, mode, written, 1, width, 0, 2400)
    head += bytes(2 * width) + bytes(172)
    head += bytes(-len(head) % 8)
    head += struct.pack("<QQQII", 0, 10000000, (TIME + 11644473600) * 10000000, 1, 0)
    body = head + (NAME + "\0").encode("utf-16-le") + "C:\\golden.etl\0".encode("utf-16-le")
    marker = struct.pack("<HBBHHIIQII", 2, 2 if wide else 1, 0xc0, 32 + len(body), 0, 4, 4, 0, 0, 0)
    return marker + body


def buffer(events, length=1024, number=0, fill=b"\xff"):
    used = 72 + len(events)
    head = struct.pack("<IIIiQqQIIIHHQQ", length, used, used, 0, 5, number, 0, 1, 3, used, 1, 0, 0, 0)
    assert len(head) == 72 and used <= length
    return (head + events).ljust(length, fill)


def trace(count=3, last=400, **options):
    parts = [buffer(log(1024, count, **options))]
    parts += [buffer(code(900 if i < count - 1 else last, i), number=i) for i in range(1, count)]
    return b"".join(parts)


def make():
    about = dict(title=NAME, time=TIME)
    save("etl", "wide.etl", trace(), **about)
    save("etl", "narrow.etl", trace(wide=False), **about)
    save("etl", "one.etl", trace(1), **about)
    full = trace(last=952)
    save("etl", "full.etl", full, verdict="unverified", length=len(full), why=f"the last buffer, before {len(full)}, cannot be verified")
    open_ = trace().replace(log(1024, 3), log(1024, 0))
    save("etl", "open.etl", open_ + bytes(500), verdict="unverified", length=3072, why="was not closed: ends where no buffer follows, at 3072", **about)
    packed = trace(1, mode=0x04000001) + code(700, 9)
    save("etl", "packed.etl", packed, verdict="unverified", length=1024, why="compressed buffers: ends where no buffer follows, at 1024")
    plain = trace()
    save("etl", "cut.etl", plain[:2500], verdict="truncated", length=2500, why="the image ends at 2500, before the file does", **about)
    save("etl", "cut-even.etl", plain[:2048], verdict="truncated", length=2048, why="the image ends at 2048, before the file does")
    save("etl", "random.etl", plain[:2048] + random.Random(2).randbytes(3000), verdict="truncated", length=2048,
         why="no buffer at 2048, but the header counts 3")
    for where, value in ((1024, 1), (1024 + 7, 9), (1024 + 51, 9), (1024 + 48, 0)):
        bad = bytearray(plain)
        bad[where] = value
        if where == 1024 + 48:
            bad[where + 1] = 0
        save("etl", f"buffer-{where}.etl", bytes(bad), verdict="truncated", length=1024)
    for where, value in ((0, 1), (72, 3), (74, 3), (75, 0xc1), (78, 1), (105, 9), (104 + 12, 0), (104 + 44, 5), (50, 1)):
        bad = bytearray(plain)
        bad[where] = value
        save("etl", f"head-{where}.etl", bytes(bad), verdict="reject", why="no header of a log at 72")
