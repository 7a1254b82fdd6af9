"""PNG and APNG."""
import random, struct, zlib

from PIL import PngImagePlugin

from makers.common import encoded, picture, save
from makers.jpeg import exif


def chunk(kind, data, crc=None):
    crc = zlib.crc32(kind + data) if crc is None else crc
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


SIGNATURE = b"\x89PNG\r\n\x1a\n"


def header(width, height, depth=8, colour=0, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def rows(width, height, seed=1):
    """Grey rows of 8 bits that hardly compress."""
    rng = random.Random(seed)
    return b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(width)) for _ in range(height))


def interlaced(width, height):
    rng, out = random.Random(7), b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        across, down = len(range(x0, width, dx)), len(range(y0, height, dy))
        if across:
            out += b"".join(b"\1" + bytes(rng.randrange(256) for _ in range(across)) for _ in range(down))
    return out


def make():
    for mode, name in (("L", "grey"), ("RGB", "rgb"), ("RGBA", "rgba"), ("P", "palette"), ("1", "bilevel")):
        save("png", name + ".png", encoded(picture(mode), format="PNG"))
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "A golden picture")
    save("png", "title.png", encoded(picture("L"), format="PNG", pnginfo=info), title="A golden picture")
    info = PngImagePlugin.PngInfo()
    info.add_itxt("Title", "Ein Bild", "de", "Titel")
    save("png", "itxt.png", encoded(picture("L"), format="PNG", pnginfo=info), title="Ein Bild")
    frames = [picture("L", (24, 24)), picture("1", (24, 24)).convert("L")]
    save("png", "animated.png", encoded(frames[0], format="PNG", save_all=True, append_images=frames[1:]))
    noise = zlib.compress(rows(64, 40), 9)
    end = chunk(b"IEND", b"")
    time = chunk(b"tIME", struct.pack(">HBBBBB", 2024, 2, 29, 23, 59, 58))
    save("png", "time.png", SIGNATURE + header(64, 40) + time + chunk(b"IDAT", noise) + end, time=1709251198)
    save("png", "exif.png", SIGNATURE + header(64, 40) + chunk(b"eXIf", exif(True)[6:]) + chunk(b"IDAT", noise) + end,
         title="Golden hour", time=1709251198)
    save("png", "interlaced.png", SIGNATURE + header(21, 13, interlace=1) + chunk(b"IDAT", zlib.compress(interlaced(21, 13))) + end)
    many = b"".join(chunk(b"IDAT", noise[i:i + 100]) for i in range(0, len(noise), 100))
    save("png", "many-idat.png", SIGNATURE + header(64, 40) + many + end)
    bare = zlib.compressobj(9, zlib.DEFLATED, -15)
    bare = bare.compress(rows(8, 8)) + bare.flush()
    save("png", "apple.png", SIGNATURE + chunk(b"CgBI", b"\x50\x00\x20\x02") + header(8, 8) + chunk(b"IDAT", bare) + end)

    # A wrong CRC where no viewer minds it.
    head = SIGNATURE + header(64, 40)
    text = chunk(b"tEXt", b"Comment\0damaged", 0)
    save("png", "text-crc.png", head + text + chunk(b"IDAT", noise) + end,
         why=f"opens, though the CRC of a chunk at {len(head)} is wrong")
    # One in which a sector begins may have another file's bytes from there on.
    large = head + chunk(b"zTXt", b"Comment\0\0" + bytes(range(256)) * 3, 0) + chunk(b"IDAT", noise) + end
    save("png", "large-crc.png", large, verdict="unverified", length=len(large), why=f"opens, though the CRC of a chunk at {len(head)} is wrong")
    # The second of three IDAT chunks is damaged: sound up to the row where it shows, and to 256 bytes.
    parts = [noise[:800], noise[800:1600], noise[1600:]]
    broken = bytearray(parts[1])
    broken[400:] = random.Random(3).randbytes(400)
    data = head + chunk(b"IDAT", parts[0]) + chunk(b"IDAT", bytes(broken), zlib.crc32(b"IDAT" + parts[1])) + chunk(b"IDAT", parts[2]) + end
    at = len(head) + 800 + 12
    save("png", "idat-crc.png", data, verdict="truncated", length_min=at, length_max=at + 800 + 12,
         why=f"the CRC of chunk IDAT at {at} is wrong")
    cut = head + chunk(b"IDAT", noise)[:1000]
    save("png", "cut.png", cut, verdict="truncated", length=len(cut),
         why=f"the image ends at {len(cut)}, before the file does")
    save("png", "overwritten.png", cut + bytes(5000), verdict="truncated", length_min=len(cut) - 300, length_max=len(cut))
    save("png", "no-ihdr.png", SIGNATURE + chunk(b"IDAT", noise) + end, verdict="reject", why="IHDR does not come first at 8")
    save("png", "no-idat.png", head + end, verdict="truncated", length=len(head),
         why=f"IEND without any IDAT at {len(head)}")
    save("png", "size.png", SIGNATURE + header(0, 40) + chunk(b"IDAT", noise) + end, verdict="reject",
         why="IHDR has an impossible size at 8")
