"""WebP. Pillow's encoder (libwebp), and chunks by hand."""
import random, struct

from makers.common import encoded, landscape, picture, save, speckled
from makers.jpeg import exif


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)


def webp(*chunks):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def extended(flags, width, height):
    return chunk(b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def make():
    colour = picture("RGB", (72, 56))
    lossy = encoded(colour, format="WEBP", quality=60)
    # A small picture may come to its end at the same byte by chance: not so random-in-lossy below.
    save("webp", "lossy.webp", lossy, unchecked=26)
    other = bytearray(lossy)
    other[-3] ^= 16
    save("webp", "other-end.webp", bytes(other), verdict="unverified", length=len(lossy),
         why=f"lossy data that do not end as encoders end them, at {len(lossy)}")
    lossless = encoded(colour, format="WEBP", lossless=True)
    # Random bytes in place of the last ones may end the picture at the same byte, by chance.
    save("webp", "lossless.webp", lossless, unchecked=len(lossless) - 600, unverified="none")
    # Rows that go on as those above them; and colours that come again, so that libwebp keeps them in a cache.
    for name, image in (("rows", landscape()), ("cached", speckled())):
        whole = encoded(image, format="WEBP", lossless=True)
        save("webp", name + ".webp", whole, unchecked=len(whole) - 600, unverified="none")
    clear = picture("RGB")
    clear.putalpha(picture("L"))
    save("webp", "alpha.webp", encoded(clear, format="WEBP", quality=40))
    frames = [picture("RGB", (24, 20)), picture("L", (24, 20)).convert("RGB")]
    animated = encoded(frames[0], format="WEBP", save_all=True, append_images=frames[1:])
    save("webp", "animated.webp", animated)
    save("webp", "profile.webp", encoded(colour, format="WEBP", quality=40, icc_profile=bytes(range(200))), unchecked=38)
    picture_chunk = lossy[12:]
    for name, data in (("exif", exif(False)[6:]), ("exif-marked", exif(True))):
        whole = webp(extended(8, 72, 56), picture_chunk, chunk(b"EXIF", data))
        save("webp", name + ".webp", whole, title="Golden hour", time=1709251198, unchecked=48)
    xmp = (b"<?xpacket begin='\xef\xbb\xbf' id='W5M0MpCehiHzreSzNTczkc9d'?>\n<x:xmpmeta xmlns:x='adobe:ns:meta/'>"
           + b"<rdf:li>A g\xc3\xb6lden picture</rdf:li>\n" * 40 + b"</x:xmpmeta>\n<?xpacket end='w'?>")
    described = (extended(4, 72, 56), picture_chunk)
    head = len(webp(*described)) + 8
    for name, padding in (("", b""), ("-blank", b" \n" * 30), ("-zeros", bytes(101))):
        save("webp", f"xmp{name}.webp", webp(*described, chunk(b"XMP ", xmp + padding)))
    save("webp", "xmp-magick.webp", webp(*described, chunk(b"XMP\0", xmp)))
    for name, behind, start in (("random", random.Random(3).randbytes(len(xmp) - 501), b"\x80"), ("zeros", bytes(len(xmp) - 500), b"")):
        save("webp", f"{name}-in-xmp.webp", webp(*described, chunk(b"XMP ", xmp[:500] + start + behind)), verdict="truncated", length=head + 500,
             why=f"XMP without its end at {head + 500}")
    save("webp", "text-in-xmp.webp", webp(*described, chunk(b"XMP ", (xmp[:500] + b"Something else. " * 99)[:len(xmp)])), verdict="truncated")
    lost = (xmp[:xmp.rindex(b"</x:xmpmeta>") + 12] + b" \n" * 30).ljust(len(xmp) + 60, b"\0")
    save("webp", "zeros-after-xmp.webp", webp(*described, chunk(b"XMP ", lost)), verdict="truncated", why=f"XMP without its end at {head + len(lost.rstrip(bytes(1)).rstrip())}")
    noisy = exif(False)[6:] + random.Random(4).randbytes(200)
    save("webp", "random-in-exif.webp", webp(extended(8, 72, 56), picture_chunk, chunk(b"EXIF", noisy)), verdict="unverified",
         title="Golden hour", time=1709251198, why=f"the end of the EXIF data cannot be verified at {head}")
    thumbnail = chunk(b"EXIF", exif(False)[6:] + random.Random(5).randbytes(200) + b"\xff\xd9")
    save("webp", "exif-thumbnail.webp", webp(extended(8, 72, 56), picture_chunk, thumbnail), title="Golden hour", time=1709251198, unchecked=48)
    unknown = webp(picture_chunk, chunk(b"C2PA", random.Random(6).randbytes(1200)))
    save("webp", "unknown-chunk.webp", unknown, verdict="unverified", length=len(unknown), why=f"nothing verifies the last chunk, at {12 + len(picture_chunk)}")
    titled = webp(picture_chunk, chunk(b"INAM", b"A golden picture\0"))
    save("webp", "title.webp", titled, title="A golden picture", unchecked=26, unverified=f"{len(titled) - 18}-{len(titled) - 1}")
    bare = webp(chunk(b"VP8 ", picture_chunk[8:8 + struct.unpack("<I", picture_chunk[4:8])[0]]))
    middle = len(lossy) // 2
    save("webp", "cut.webp", lossy[:middle], verdict="truncated", length=middle, why=f"the image ends at {middle}, before the file does")
    noise = random.Random(1)
    for name, coded in (("lossy", encoded(picture("RGB", (200, 160)), format="WEBP", quality=80)),
                        ("lossless", encoded(picture("RGB", (60, 50)), format="WEBP", lossless=True))):
        middle = len(coded) // 2
        save("webp", f"random-in-{name}.webp", coded[:middle] + noise.randbytes(len(coded) - middle), verdict="truncated", length_min=middle - 8,
             length_max=len(coded))
    large = encoded(picture("RGB", (200, 160)), format="WEBP", quality=95)
    for name, junk in (("zeros", bytes(4000)), ("ff", b"\xff" * 4000), ("text", b"Now for something completely different. " * 100)):
        save("webp", name + "-behind.webp", large[:3000] + junk, verdict="truncated", length_min=2900, length_max=4100)
    extra = webp(extended(8, 72, 56), picture_chunk, chunk(b"EXIF", exif(False)[6:]))
    at = 30 + len(picture_chunk)
    save("webp", "no-chunk.webp", extra[:at] + bytes(100), verdict="truncated", length=at, why=f"no chunk at {at}")
    save("webp", "long-chunk.webp", extra[:at] + b"EXIF\xff\xff\0\0" + extra[at + 8:], verdict="truncated", length=at, why=f"no chunk at {at}")
    save("webp", "no-picture.webp", webp(extended(8, 72, 56), chunk(b"EXIF", exif(False)[6:])), verdict="reject")
    save("webp", "first.webp", webp(chunk(b"EXIF", exif(False)[6:]), picture_chunk), verdict="reject", why="the first chunk is not WebP's at 12")
    for name, place, value, why in (("start-code", 23, 0, "a VP8 frame without its start code at 20"), ("key-frame", 20, 1, "an impossible VP8 frame at 20"),
                                    ("part", 22, 255, "an impossible VP8 frame at 20"), ("form", 11, 0x51, "no WebP head at 0")):
        data = bytearray(bare)
        data[place] = value | (data[place] if name == "key-frame" else 0)
        save("webp", name + ".webp", bytes(data), verdict="reject", why=why)
    save("webp", "canvas.webp", webp(extended(0, 72, 57), picture_chunk), verdict="reject", why="a picture of another size than its canvas at 38")
