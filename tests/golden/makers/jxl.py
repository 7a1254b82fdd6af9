"""JPEG XL: codestreams of libjxl's cjxl (Debian's libjxl-tools), bare and box by box in containers."""
import os, random, struct, subprocess, tempfile

from PIL import Image, ImageCms

from makers.bmff import box, noise
from makers.common import picture, save


def exif():
    tiff = b"II*\0" + struct.pack("<IH", 8, 1) + struct.pack("<HHII", 0x132, 2, 20, 26) + bytes(4) + b"2022:01:02 03:04:05\0"
    return box(b"Exif", bytes(4), tiff)


def encoded(image, *options, source="a.png", **kept):
    """What cjxl makes of a picture."""
    with tempfile.TemporaryDirectory() as folder:
        path, target = os.path.join(folder, source), os.path.join(folder, "a.jxl")
        image.save(path, **kept)
        subprocess.run(["cjxl", path, target, *options], check=True, capture_output=True)
        return open(target, "rb").read()


def flat(size):
    """A large picture that takes few bytes."""
    image = Image.new("RGB", size, (40, 90, 160))
    image.paste((200, 30, 20), (size[0] // 3, size[1] // 4, size[0] // 2, size[1] // 2))
    return image


def can_be_seen(name, data):
    save("jxl", name + ".jxl", data)


def can_not_be_seen(name, data):
    save("jxl", name + ".jxl", data, verdict="unverified", length=len(data))


def streams():
    """Bare codestreams. Those in modular mode end where their code does; of coefficients it is not known."""
    small, lossless = picture("RGB", (40, 32)), ("-d", "0")
    can_be_seen("lossless", encoded(small, *lossless))
    can_be_seen("prefix", encoded(small, *lossless, "-e", "1"))
    can_be_seen("slow", encoded(small, *lossless, "-e", "9"))
    can_be_seen("alpha", encoded(picture("RGBA", (24, 20)), *lossless))
    can_be_seen("grey", encoded(picture("L", (40, 32)), *lossless))
    can_be_seen("palette", encoded(picture("RGB", (40, 32)).quantize(16), *lossless))
    can_be_seen("squeezed", encoded(small, *lossless, "-R", "1"))
    can_be_seen("groups", encoded(flat((600, 300)), *lossless, "-e", "4"))
    can_be_seen("lf-groups", encoded(flat((2100, 60)), *lossless, "-e", "4"))
    can_be_seen("profile", encoded(small, *lossless, icc_profile=rgb_profile()))
    frames = [small.rotate(90 * i).quantize(8) for i in range(3)]
    can_be_seen("animation", encoded(frames[0], *lossless, source="a.gif", save_all=True, append_images=frames[1:], duration=100))
    can_not_be_seen("lossy", encoded(small, "-d", "1"))
    can_not_be_seen("lossy-alpha", encoded(picture("RGBA", (24, 20)), "-d", "1"))
    can_not_be_seen("lossy-groups", encoded(flat((600, 300)), "-d", "2"))
    can_not_be_seen("lossy-lf-groups", encoded(flat((2100, 60)), "-d", "2"))
    can_not_be_seen("progressive", encoded(flat((600, 300)), "-d", "2", "-p"))
    can_not_be_seen("lf-frame", encoded(flat((600, 300)), "-d", "2", "--progressive_dc=1"))
    can_not_be_seen("center-first", encoded(flat((600, 300)), "-d", "2", "--group_order=1"))
    can_not_be_seen("jpeg", encoded(small, "--container=0", "--jpeg_store_metadata=0", source="a.jpg", quality=50))
    return encoded(small, *lossless)


def rgb_profile():
    """An sRGB profile with another white point, which has to be written out."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    at = data.index(b"rXYZ")
    offset = struct.unpack_from(">I", data, at + 4)[0]
    struct.pack_into(">I", data, offset + 8, 0x7000)
    data[24:36] = struct.pack(">6H", 2022, 1, 2, 3, 4, 5)
    return bytes(data)


def damaged(stream):
    rng = random.Random(3)
    cut = encoded(flat((600, 300)), "-d", "0", "-e", "4")
    save("jxl", "stream-cut.jxl", cut[:-20], verdict="truncated", length=len(cut) - 20,
         why=f"the image ends at {len(cut) - 20}, before the file does")
    for name, junk in (("random", rng.randbytes(3000)), ("zeros", bytes(3000)), ("text", b"These are words of a text. " * 100)):
        end = len(cut) - 3
        save("jxl", f"stream-{name}.jxl", cut[:end] + junk, verdict="truncated", length_min=40, length_max=end)
    frames = [picture("RGB", (40, 32)).rotate(90 * i).quantize(8) for i in range(3)]
    anim = encoded(frames[0], "-d", "0", source="a.gif", save_all=True, append_images=frames[1:], duration=100)
    save("jxl", "stream-frame.jxl", anim[:-150] + rng.randbytes(3000), verdict="truncated", length_min=100, length_max=len(anim) - 150)
    lossy = encoded(picture("RGB", (200, 160)), "-d", "1")
    save("jxl", "stream-wiped.jxl", lossy[:-1500] + bytes(4000), verdict="truncated", length_min=len(lossy) - 2600, length_max=len(lossy) - 1490)
    save("jxl", "stream-start.jxl", stream[:6] + rng.randbytes(400), verdict="reject")
    save("jxl", "stream-only.jxl", b"\xff\x0a", verdict="reject")
    save("jxl", "stream-none.jxl", b"\xff\x0a" + rng.randbytes(3000), verdict="reject")
    save("jxl", "stream-null.jxl", b"\xff\x0a" + bytes(3000), verdict="reject")
    # Small numbers that can be read as headers and as the beginning of a section.
    small = bytes.fromhex("ff0a68e00201000a00030c02020a0c050a0c0b180c0a0c00060a0a0d010c0a0002ac000a0d0e02020c0a000000000201"
                          "000205090a00020001060d480d0d0d0a010cd80a07000001000c0000042c00000d09020d000006000c000002020d0a0d")
    save("jxl", "stream-numbers.jxl", small + bytes(500), verdict="reject")
    save("jxl", "stream-ones.jxl", b"\xff\x0a" + b"\xff" * 3000, verdict="reject")


def make():
    stream = streams()
    damaged(stream)
    head = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl ", bytes(4), b"jxl ")
    code = box(b"jxlc", stream)
    save("jxl", "exif.jxl", head + code + exif() + box(b"xml ", b"<a/>"), sequence="yes", time=1641092645)
    save("jxl", "level.jxl", head + box(b"jxll", b"\x0a") + code + box(b"brob", b"xml ", noise(20, 4)), sequence="yes")
    parts = [box(b"jxlp", struct.pack(">I", i | (i == 2) << 31), stream[at:end])
             for i, (at, end) in enumerate(((0, 100), (100, len(stream) - 22), (len(stream) - 22, len(stream))))]
    save("jxl", "parts.jxl", head + b"".join(parts))
    save("jxl", "plain.jxl", head + code)
    lossy = head + box(b"jxlc", encoded(picture("RGB", (40, 32)), "-d", "1"))
    save("jxl", "encoded.jxl", lossy, verdict="unverified", length=len(lossy))
    opened = head + struct.pack(">I4s", 0, b"jxlc") + stream
    save("jxl", "to-the-end.jxl", opened)
    opened = head + struct.pack(">I4s", 0, b"jxlc") + lossy[len(head) + 8:]
    save("jxl", "to-the-end-lossy.jxl", opened + random.Random(9).randbytes(3000), verdict="unverified", length=len(opened))

    cut = head + parts[0] + parts[1][:60]
    save("jxl", "cut.jxl", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    at = len(head + parts[0])
    rng = random.Random(3)
    save("jxl", "missing.jxl", head + parts[0] + parts[2], verdict="truncated", length=at, why=f"a part of the codestream is missing at {at}")
    save("jxl", "random.jxl", head + parts[0] + rng.randbytes(4000), verdict="truncated", length=at, why=f"no end of the codestream before {at}")
    save("jxl", "twice.jxl", head + code + code, verdict="truncated", length=len(head + code))
    whole = encoded(picture("RGB", (200, 160)), "-d", "1")
    wiped = (head + box(b"jxlc", whole))[:-1000] + bytes(1000)
    save("jxl", "wiped.jxl", wiped, verdict="truncated", length_min=len(wiped) - 1010, length_max=len(wiped) - 990)
    save("jxl", "broken.jxl", head + box(b"jxlc", stream[:100] + noise(300, 7)), verdict="truncated", length_min=32, length_max=140)
    save("jxl", "codestream.jxl", head + box(b"jxlc", b"\0" + stream), verdict="truncated", length=32, why="no codestream starts at 32")
    save("jxl", "signature.jxl", b"\0" + (head + code)[5:], verdict="reject", why="no signature box at 0")
    save("jxl", "brand.jxl", head[:20] + b"jxm " + head[24:] + code, verdict="reject", why="no file type jxl at 12")
    save("jxl", "nothing.jxl", head + rng.randbytes(300), verdict="reject", why="no box of a known type at 32")
    tiny = bytes.fromhex("ff0a 4106 01 ffffffff")  # 8 x 8, one section of a gigabyte
    save("jxl", "too-long.jxl", tiny + rng.randbytes(200), verdict="reject", why="more data than the frame can have at 4")
