"""JPEG, with EXIF and MPO. Restart markers and arithmetic coding are cjpeg's (libjpeg-turbo-progs)."""
import random, struct, subprocess

from makers.common import encoded, picture, save


def exif(big):
    """EXIF with title, date and a thumbnail, in either byte order."""
    o = ">" if big else "<"
    thumb = encoded(picture("RGB", (16, 16)), format="JPEG", quality=40)
    title, date = b"Golden hour\0", b"2024:02:29 23:59:58\0"
    ifd0 = 8
    sub = ifd0 + 2 + 2 * 12 + 4
    ifd1 = sub + 2 + 12 + 4
    data = ifd1 + 2 + 2 * 12 + 4
    at_date, at_thumb = data + len(title), data + len(title) + len(date)
    entry = lambda tag, kind, count, value: struct.pack(o + "HHII", tag, kind, count, value)
    out = (b"MM\0*" if big else b"II*\0") + struct.pack(o + "I", ifd0)
    out += struct.pack(o + "H", 2) + entry(0x010E, 2, len(title), data) + entry(0x8769, 4, 1, sub) + struct.pack(o + "I", ifd1)
    out += struct.pack(o + "H", 1) + entry(0x9003, 2, len(date), at_date) + struct.pack(o + "I", 0)
    out += struct.pack(o + "H", 2) + entry(0x0201, 4, 1, at_thumb) + entry(0x0202, 4, 1, len(thumb)) + struct.pack(o + "I", 0)
    return b"Exif\0\0" + out + title + date + thumb


def scan_start(data):
    """The offset of the coded data of the first scan."""
    at = data.index(b"\xff\xda")
    return at + 2 + struct.unpack(">H", data[at + 2:at + 4])[0]


def segment(marker, data):
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def lossless(image):
    """Grey, each sample coded as its difference to the one on its left (ISO/IEC 10918-1, annex H)."""
    width, height = image.size
    bits, start = "", 128
    for y in range(height):
        left = start
        for x in range(width):
            difference = image.getpixel((x, y)) - left
            left += difference
            size = abs(difference).bit_length()
            code = difference if difference > 0 else difference + (1 << size) - 1
            bits += format(size, "04b") + (format(code, f"0{size}b") if size else "")
        start = image.getpixel((0, y))
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    table = bytes([0, 0, 0, 0, 9] + [0] * 12) + bytes(range(9))
    return (b"\xff\xd8" + segment(0xC3, struct.pack(">BHHBBBB", 8, height, width, 1, 1, 0x11, 0)) + segment(0xC4, table) +
            segment(0xDA, bytes([1, 1, 0, 1, 0, 0])) + data + b"\xff\xd9")


def cjpeg(image, *options):
    ppm = encoded(image, format="PPM")
    return subprocess.run(["cjpeg", "-quality", "70", *options], input=ppm, stdout=subprocess.PIPE, check=True).stdout


def padded_mpo(mpo, padding):
    """Zeros behind the second picture, which the list of pictures counts with it."""
    at = mpo.index(b"\x02\xb0\x07\0") + 4  # the entry MPEntry, little-endian
    base = mpo.index(b"MPF\0") + 4
    count, offset = struct.unpack("<II", mpo[at:at + 8])
    at = base + offset + 16 + 4
    size = struct.unpack("<I", mpo[at:at + 4])[0]
    return mpo[:at] + struct.pack("<I", size + padding) + mpo[at + 4:] + bytes(padding)


def canon_trailer(data):
    return (b"CANON OPTIONAL DATA\0" + struct.pack(">II", 0x10000, len(data)) + data +
            b"CANON OPTIONAL DATA\0" + struct.pack(">I", len(data)) + bytes(40))


def samsung_trailer(blocks):
    data = b"".join(struct.pack("<HHI", 0, kind, len(name)) + name + content for kind, name, content in blocks)
    at, directory = 0, b"SEFH" + struct.pack("<II", 106, len(blocks))
    for kind, name, content in blocks:
        length = 8 + len(name) + len(content)
        directory += struct.pack("<HHII", 0, kind, len(data) - at, length)
        at += length
    return data + directory + struct.pack("<I", len(directory)) + b"SEFT"


def video():
    box = lambda kind, data: struct.pack(">I", len(data) + 8) + kind + data
    return box(b"ftyp", b"mp42\0\0\0\0isommp42") + box(b"mdat", bytes(range(200))) + box(b"moov", box(b"free", bytes(30)))


def make():
    colour = picture("RGB", (72, 56))
    for name, options in (("baseline", {}), ("progressive", dict(progressive=True)), ("optimized", dict(optimize=True)),
                          ("444", dict(subsampling=0)), ("422", dict(subsampling=1))):
        save("jpeg", name + ".jpg", encoded(colour, format="JPEG", quality=70, **options))
    save("jpeg", "grey.jpg", encoded(picture("L", (37, 29)), format="JPEG"))
    save("jpeg", "cmyk.jpg", encoded(picture("CMYK"), format="JPEG"))
    for big in (False, True):
        save("jpeg", f"exif-{'big' if big else 'little'}.jpg", encoded(colour, format="JPEG", exif=exif(big)),
             title="Golden hour", time=1709251198)
        half = encoded(colour, format="JPEG", exif=exif(big))[:-300]
        save("jpeg", f"exif-{'big' if big else 'little'}-cut.jpg", half, verdict="truncated", length=len(half), embedded=half.index(b"Exif") + 6)
    # Motion JPEG: frames of one size without anything between.
    frames = [encoded(colour.rotate(3 * i), format="JPEG", quality=70 + i) for i in range(6)]
    stream = b"".join(frames)
    stored = ", and the number of frames is not stored"
    save("jpeg", "stream.mjpg", stream, verdict="unverified", length=len(stream), extension="mjpg", why=f"no frame at {len(stream)}{stored}")
    save("jpeg", "stream-cut.mjpg", stream[:-200], verdict="truncated", length_min=len(stream) - len(frames[5]), length_max=len(stream) - 190, extension="mjpg")
    other = stream + encoded(picture("RGB", (40, 40)), format="JPEG")
    save("jpeg", "stream-other.mjpg", other, verdict="unverified", length=len(stream), extension="mjpg", why=f"no frame at {len(stream)}{stored}")
    mpo = encoded(colour, format="MPO", save_all=True, append_images=[picture("RGB", (40, 40))])
    save("jpeg", "two.mpo", mpo)
    save("jpeg", "two-cut.mpo", mpo[:-100], verdict="truncated", length=len(mpo) - 100)

    save("jpeg", "padded.mpo", padded_mpo(mpo, 300))
    for name, options in (("restart", "-restart 3B"), ("progressive-restart", "-progressive -restart 1"),
                          ("arithmetic", "-arithmetic"), ("arithmetic-progressive", "-arithmetic -progressive -quality 60")):
        save("jpeg", name + ".jpg", cjpeg(colour, *options.split()))
    save("jpeg", "lossless.jpg", lossless(picture("L", (40, 32))))

    whole = encoded(colour, format="JPEG", quality=70)
    start = scan_start(whole)
    blocks = [(0x0A01, b"Image_UTC_Data", b"1709251198000"), (0x0A30, b"MotionPhoto_Data", video())]
    save("jpeg", "samsung-trailer.jpg", whole + samsung_trailer(blocks), sequence="yes")
    save("jpeg", "canon-trailer.jpg", whole + canon_trailer(b"settings" * 9), sequence="yes")
    xmp = segment(0xE1, b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta GCamera:MotionPhoto="1"/>')
    moving = whole[:2] + xmp + whole[2:]
    save("jpeg", "video-trailer.jpg", moving + video(), sequence="yes")
    both = moving + video() + samsung_trailer(blocks[:1])
    save("jpeg", "both-trailer.jpg", both, sequence="yes")
    frame = whole.index(b"\xff\xc0")
    save("jpeg", "extended.jpg", whole[:frame] + b"\xff\xc1" + whole[frame + 2:])
    late = whole[:frame + 5] + b"\0\0" + whole[frame + 7:-2]  # DNL tells the height behind the scan
    save("jpeg", "dnl.jpg", late + segment(0xDC, whole[frame + 5:frame + 7]) + b"\xff\xd9")
    save("jpeg", "fill.jpg", whole[:frame] + b"\xff" * 40 + whole[frame:])
    save("jpeg", "tables.jpg", whole[:frame] + b"\xff\xd9", verdict="reject",
         why=f"EOI at {frame + 2}, before any picture data")
    middle = (start + len(whole)) // 2
    rng = random.Random(5)
    save("jpeg", "cut.jpg", whole[:middle], verdict="truncated", length=middle,
         why=f"the image ends at {middle}, before the file does")
    save("jpeg", "random-behind.jpg", whole[:middle] + rng.randbytes(4000), verdict="truncated", length_min=middle - 8, length_max=middle + 1500)
    save("jpeg", "zeros-behind.jpg", whole[:middle] + bytes(4000), verdict="truncated", length_min=middle - 8, length_max=middle + 8)
    text = b"and so the picture ended, and a letter began that had nothing to do with it. " * 50
    save("jpeg", "text-behind.jpg", whole[:middle] + text, verdict="truncated", length_min=middle - 8, length_max=middle + 1500)
    other = encoded(picture("L"), format="JPEG")
    save("jpeg", "jpeg-behind.jpg", whole[:middle] + other, verdict="truncated", length_min=middle - 8, length_max=middle)
    progressive = encoded(colour, format="JPEG", quality=70, progressive=True)
    middle = scan_start(progressive) + (len(progressive) - scan_start(progressive)) * 2 // 3
    save("jpeg", "progressive-random-behind.jpg", progressive[:middle] + rng.randbytes(4000), verdict="truncated",
         length_min=middle - 8, length_max=middle + 1500)
    save("jpeg", "short.jpg", whole[:-60] + b"\xff\xd9", verdict="truncated", length=len(whole) - 58)
    save("jpeg", "no-scan.jpg", whole[:2] + rng.randbytes(200), verdict="reject")
