"""JPEG XL's container, box by box around noise, and a whole file of libjxl's cjxl (Debian's libjxl-tools)."""
import os, random, struct, subprocess, tempfile

from makers.bmff import box, noise
from makers.common import picture, save


def exif():
    tiff = b"II*\0" + struct.pack("<IH", 8, 1) + struct.pack("<HHII", 0x132, 2, 20, 26) + bytes(4) + b"2022:01:02 03:04:05\0"
    return box(b"Exif", bytes(4), tiff)


def encoded():
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.jpg"), os.path.join(folder, "a.jxl")
        picture("RGB").save(source, quality=50)
        subprocess.run(["cjxl", source, target], check=True, capture_output=True)
        return open(target, "rb").read()


def make():
    head = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl ", bytes(4), b"jxl ")
    stream = b"\xff\x0a" + noise(300, 1)
    code = box(b"jxlc", stream)
    save("jxl", "exif.jxl", head + code + exif() + box(b"xml ", b"<a/>"), time=1641092645)
    save("jxl", "level.jxl", head + box(b"jxll", b"\x0a") + code + box(b"brob", b"xml ", noise(20, 4)))
    parts = [box(b"jxlp", struct.pack(">I", i | (i == 2) << 31), stream[at:end])
             for i, (at, end) in enumerate(((0, 100), (100, 280), (280, 302)))]
    save("jxl", "parts.jxl", head + b"".join(parts))
    for name, data in (("plain", head + code), ("encoded", encoded())):
        save("jxl", name + ".jxl", data, verdict="unverified", length=len(data))
    opened = head + struct.pack(">I4s", 0, b"jxlc") + stream
    save("jxl", "to-the-end.jxl", opened, verdict="unverified", length=len(opened), why="the box at 32 goes to the end of the image")

    cut = head + parts[0] + parts[1][:60]
    save("jxl", "cut.jxl", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    at = len(head + parts[0])
    rng = random.Random(3)
    save("jxl", "missing.jxl", head + parts[0] + parts[2], verdict="truncated", length=at, why=f"a part of the codestream is missing at {at}")
    save("jxl", "random.jxl", head + parts[0] + rng.randbytes(4000), verdict="truncated", length=at, why=f"no end of the codestream before {at}")
    save("jxl", "twice.jxl", head + code + code, verdict="truncated", length=len(head + code))
    wiped = (head + box(b"jxlc", stream, noise(3000, 6)))[:600] + bytes(2800)
    save("jxl", "wiped.jxl", wiped, verdict="truncated", length=600, why="the codestream is wiped from 600 on")
    save("jxl", "codestream.jxl", head + box(b"jxlc", b"\0" + stream), verdict="truncated", length=32, why="no codestream begins at 32")
    save("jxl", "signature.jxl", b"\0" + (head + code)[5:], verdict="reject", why="no signature box at 0")
    save("jxl", "brand.jxl", head[:20] + b"jxm " + head[24:] + code, verdict="reject", why="no file type jxl at 12")
    save("jxl", "nothing.jxl", head + rng.randbytes(300), verdict="reject", why="no box of a known type at 32")
