"""RAF, by hand, with a JPEG by Pillow."""
import random, struct

from makers.common import encoded, picture, save
from makers.jpeg import exif


def raf(places=None, order=(0, 1, 2)):
    rng = random.Random(1)
    jpeg = encoded(picture("RGB"), format="JPEG", quality=60, exif=exif(True))
    parts = [jpeg, b"camera's own data" * 4, rng.randbytes(700)]
    at, table = 148, [b""] * 3
    for part in order:
        table[part] = struct.pack(">II", at, len(parts[part]))
        at += len(parts[part])
    table = b"".join(table)
    table = places(table) if places else table
    head = b"FUJIFILMCCD-RAW 0201FF129502" + b"FinePix S5000".ljust(32, b"\0") + b"0100" + bytes(20) + table
    return head.ljust(148, b"\0") + b"".join(parts[part] for part in order), len(jpeg)


def make():
    whole, jpeg_len = raf()
    save("raf", "whole.raf", whole, verdict="unverified", length=len(whole), why=f"the sensor's data, up to {len(whole)}, cannot be verified", title="Golden hour", time=1709251198, unchecked=92, embedded=148,
         unverified=f"108-148 {148 + jpeg_len}-{len(whole)}")
    last = raf(order=(1, 2, 0))[0]
    save("raf", "preview-last.raf", last, unchecked=92, unverified=f"108-{len(last) - jpeg_len}")
    save("raf", "cut.raf", whole[:-300], verdict="truncated", length=len(whole) - 300,
         why=f"the image ends at {len(whole) - 300}, before the file does")
    middle = 148 + jpeg_len * 3 // 4
    save("raf", "random-behind.raf", whole[:middle] + random.Random(2).randbytes(3000), verdict="truncated", length_min=middle - 8, length_max=middle + 700)
    save("raf", "zeros-behind.raf", whole[:middle] + bytes(3000), verdict="truncated", length_min=middle - 40, length_max=middle + 40)
    save("raf", "place.raf", raf(lambda table: table[:16] + struct.pack(">I", 50) + table[20:])[0], verdict="reject", why="an impossible offset at 100")
    save("raf", "no-jpeg.raf", raf(lambda table: struct.pack(">I", 149) + table[4:])[0], verdict="reject", why="no SOI at 149")
    save("raf", "head.raf", b"FUJIFILMCCD-RAP " + whole[16:], verdict="reject", why="no RAF head at 0")
