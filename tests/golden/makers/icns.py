"""Apple's icons, element by element; Pillow's PNG encoder."""
import random, struct

from makers.common import encoded, picture, save


def element(kind, data):
    return kind + struct.pack(">I", 8 + len(data)) + data


def icns(*elements):
    body = b"".join(elements)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def runs(pixels, seed):
    """Three channels: runs of 3 to 130 equal values and of 1 to 128 different ones in turn."""
    rng, out, left, equal = random.Random(seed), b"", 3 * pixels, False
    while left:
        count = min(left, rng.randint(3, 130) if equal else rng.randint(1, 128))
        if equal and count < 3:
            equal = False
        out += bytes([count + 125, rng.randrange(256)]) if equal else bytes([count - 1]) + rng.randbytes(count)
        left -= count
        equal = not equal
    return out


def make():
    png = encoded(picture("RGB"), format="PNG")
    coded, mask = element(b"is32", runs(256, 1)), element(b"s8mk", bytes(range(256)))
    codestream = b"\xff\x4f\xff\x51\0\x29" + bytes(range(200)) + b"\xff\xd9"
    whole = icns(coded, mask, element(b"ic07", png))
    at = whole.index(png)
    masked = whole.index(b"s8mk") + 8
    save("icns", "png.icns", whole, embedded=at, unverified=f"{masked}-{masked + 256} {at + 8}-{len(whole) - 8}", unchecked=masked)
    boxed = icns(coded, element(b"ic08", b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(40) + codestream))
    start = boxed.index(b"jP  ") - 4
    save("icns", "jp2.icns", boxed, embedded=f"{start} {boxed.index(codestream)}", unchecked=start)
    save("icns", "runs.icns", icns(element(b"it32", bytes(4) + runs(128 * 128, 2))), embedded="none", unverified="none", unchecked=8)
    stored = icns(coded, mask)
    save("icns", "mask.icns", stored, verdict="unverified", length=len(stored), why=f"the last element, at {masked - 8}, cannot be verified")
    save("icns", "cut.icns", whole[:at + 90], verdict="truncated", length=at + 90, why=f"the image ends at {at + 90}, before the file does")
    rng = random.Random(3)
    noise = whole[:at + 500] + rng.randbytes(len(whole) - at - 500)
    save("icns", "random.icns", noise, verdict="truncated", length_min=at, why=f"an element that does not end as its data do at {at - 8}")
    save("icns", "none.icns", icns(coded, bytes(20)), verdict="truncated", length=8 + len(coded), why=f"no element at {8 + len(coded)}")
    save("icns", "runs-short.icns", icns(element(b"is32", runs(255, 1)), element(b"ic07", png)), verdict="truncated", length_min=16)
    save("icns", "length.icns", b"icns\0\0\0\x09" + whole[8:], verdict="reject", why="no length and element at 4")
    save("icns", "no-length.icns", b"icns\0\0\0\0" + whole[8:], verdict="reject", why="no length and element at 4")
    save("icns", "type.icns", b"icns\0\0\1\0\1\2\3\4\0\0\0\x10" + bytes(300), verdict="reject", why="no length and element at 4")
