"""JPEG, with EXIF and MPO."""
import random, struct

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


def make():
    colour = picture("RGB", (72, 56))
    for name, options in (("baseline", {}), ("progressive", dict(progressive=True)), ("optimized", dict(optimize=True)),
                          ("444", dict(subsampling=0)), ("422", dict(subsampling=1)), ("restart", dict(restart_marker_blocks=3)),
                          ("progressive-restart", dict(progressive=True, restart_marker_rows=1))):
        save("jpeg", name + ".jpg", encoded(colour, format="JPEG", quality=70, **options))
    save("jpeg", "grey.jpg", encoded(picture("L", (37, 29)), format="JPEG"))
    save("jpeg", "cmyk.jpg", encoded(picture("CMYK"), format="JPEG"))
    for big in (False, True):
        save("jpeg", f"exif-{'big' if big else 'little'}.jpg", encoded(colour, format="JPEG", exif=exif(big)),
             title="Golden hour", time=1709251198)
    mpo = encoded(colour, format="MPO", save_all=True, append_images=[picture("RGB", (40, 40))])
    save("jpeg", "two.mpo", mpo)
    save("jpeg", "two-cut.mpo", mpo[:-100], verdict="truncated", length=len(mpo) - 100)

    whole = encoded(colour, format="JPEG", quality=70)
    start = scan_start(whole)
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
