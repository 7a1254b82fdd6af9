"""JP2 and its relatives: codestreams of Pillow's encoder (OpenJPEG) in boxes made by hand, and whole files of it."""
import random, struct

from makers.bmff import box, full
from makers.common import encoded, picture, save

SIGNATURE = box(b"jP  ", b"\r\n\x87\n")


def ftyp(major, *compatible):
    return box(b"ftyp", major, bytes(4), *compatible)


def make():
    stream = encoded(picture("L", (48, 40)), format="JPEG2000", no_jp2=True)
    header = box(b"jp2h", box(b"ihdr", struct.pack(">IIHBBBB", 40, 48, 1, 7, 7, 0, 0)), box(b"colr", b"\1\0\0", struct.pack(">I", 17)))
    jp2 = SIGNATURE + ftyp(b"jp2 ", b"jp2 ")
    save("jp2", "pillow.jp2", encoded(picture("RGB", (48, 40)), format="JPEG2000"), extension="jp2")
    whole = jp2 + header + box(b"jp2c", stream)
    data = len(jp2 + header) + 8 + stream.index(b"\xff\x93") + 2
    save("jp2", "plain.jp2", whole, extension="jp2", unverified=f"{data}-{len(whole) - 2}")
    save("jp2", "to-the-end.jp2", jp2 + header + struct.pack(">I4s", 0, b"jp2c") + stream, extension="jp2")
    save("jp2", "long.jp2", jp2 + header + struct.pack(">I4sQ", 1, b"jp2c", len(stream) + 16) + stream, extension="jp2")
    # A box may be longer than what is left of the image, if the codestream in it is whole.
    save("jp2", "too-long.jp2", jp2 + header + struct.pack(">I4s", len(stream) + 90000, b"jp2c") + stream, extension="jp2")
    save("jp2", "before.jp2", jp2 + header + box(b"uuid", bytes(16), b"<x/>") + box(b"xml ", b"<a/>") + box(b"jp2c", stream), extension="jp2")
    xml = b"<?xml version='1.0'?><meta><date>2013-06-24</date>" + b"<line>words</line>" * 400 + b"</meta>\n"
    text = whole + box(b"xml ", xml)
    save("jp2", "xml.jp2", text, extension="jp2", unchecked=len(whole))
    for name, end in ("xml-text.jp2", b"a line of words\n" * 60), ("xml-other.jp2", b"<b>words</b>" * 80):
        save("jp2", name, text[:-len(end)] + end, verdict="unverified", length=len(text), why=f"no end of the XML in the box at {len(whole) + 8}")
    jpx = SIGNATURE + ftyp(b"jpx ", b"jp2 ", b"jpx ")
    save("jp2", "jpx.jpf", jpx + box(b"rreq", bytes(9)) + header + box(b"jp2c", stream), extension="jpf")
    save("jp2", "brand.jp2", SIGNATURE + ftyp(b"hp2 ", b"jp2 ") + header + box(b"jp2c", stream), extension="jp2")
    save("jp2", "jph.jph", SIGNATURE + ftyp(b"jph ", b"jph ") + header + box(b"jp2c", stream), extension="jph")
    mj2 = SIGNATURE + ftyp(b"mjp2") + box(b"mdat", stream) + box(b"moov", full(b"mvhd", 0, bytes(96)))
    save("jp2", "film.mj2", mj2, verdict="unverified", length=len(mj2), extension="mj2")
    padded = jp2 + header + box(b"jp2c", stream, bytes(5))
    save("jp2", "padded.jp2", padded, verdict="unverified", length=len(padded))

    rng = random.Random(9)
    start = len(jp2 + header)
    cut = whole[:start + 8 + len(stream) // 2]
    save("jp2", "cut.jp2", cut, verdict="truncated", length=len(cut), embedded=start + 8, why=f"the image ends at {len(cut)}, before the file does")
    save("jp2", "random.jp2", cut + rng.randbytes(4000), verdict="truncated", length_min=len(cut) - 1, length_max=len(whole))
    save("jp2", "wiped.jp2", cut + bytes(4000), verdict="truncated", length_min=len(cut) - 8, length_max=len(cut))
    save("jp2", "no-codestream.jp2", jp2 + header + rng.randbytes(400), verdict="truncated", length=start, why=f"no codestream before {start}")
    broken = bytearray(whole)
    broken[len(jp2) + 8:len(jp2) + 12] = b"\0\0\2\0"
    save("jp2", "header.jp2", bytes(broken), verdict="truncated", length=len(jp2) + 8, why=f"the picture's header is broken at {len(jp2) + 8}")
    middle = start + 8 + len(stream) * 3 // 4
    save("jp2", "damaged.jp2", whole[:middle] + b"\xff\xe1" + whole[middle + 2:], verdict="unverified", length=len(whole), extension="jp2")
    save("jp2", "stream.jp2", jp2 + header + box(b"jp2c", b"\0\0" + stream[2:]), verdict="truncated", length=start + 8, why=f"no SOC and SIZ at {start + 8}")
    save("jp2", "no-brand.jp2", SIGNATURE + ftyp(b"isom", b"mp42") + header, verdict="reject", why="an unknown brand at 20")
    save("jp2", "no-ftyp.jp2", SIGNATURE + header, verdict="reject", why="no file type box at 12")
    save("jp2", "signature.jp2", whole[:8] + b"\r\n\x87\r" + whole[12:], verdict="reject", why="no signature box at 0")
    save("jp2", "nothing.jp2", jp2 + rng.randbytes(400), verdict="reject", why=f"no box of a known type at {len(jp2)}")
