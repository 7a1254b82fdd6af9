"""MNG and JNG, chunk by chunk."""
import random, struct, zlib

from makers.common import save


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make():
    rng = random.Random(8)
    jpeg = b"\xff\xd8\xff\xe0" + rng.randbytes(300) + b"\xff\xd9"
    head = b"\x8bJNG\r\n\x1a\n" + chunk(b"JHDR", struct.pack(">II8B", 20, 30, 10, 8, 8, 0, 0, 0, 0, 0))
    jng = head + chunk(b"JDAT", jpeg) + chunk(b"IEND")
    save("mng", "plain.jng", jng, extension="jng", embedded=jng.index(jpeg))
    film = b"\x8aMNG\r\n\x1a\n" + chunk(b"MHDR", struct.pack(">7I", 20, 30, 25, 0, 0, 0, 0)) + chunk(b"JHDR", bytes(16)) + chunk(b"JDAT", jpeg) \
        + chunk(b"IEND") + chunk(b"TERM", b"\0")
    whole = film + chunk(b"MEND")
    save("mng", "film.mng", whole, extension="mng", embedded=whole.index(jpeg))
    at = jng.index(jpeg)
    save("mng", "cut.jng", jng[:at + 100], extension="jng", verdict="truncated", length=at + 100, why=f"the image ends at {at + 100}, before the file does")
    save("mng", "random.jng", jng[:at + 100] + rng.randbytes(900), verdict="truncated", length=len(head), why=f"no chunk with its CRC at {len(head)}")
    save("mng", "no-end.mng", film + bytes(40), verdict="truncated", length=len(film), why=f"no chunk with its CRC at {len(film)}")
    save("mng", "header.jng", head[:8] + chunk(b"JDAT", jpeg) + chunk(b"IEND"), verdict="reject", why="no header at 8")
    save("mng", "signature.jng", b"\x8bJNG\n\n\x1a\n" + jng[8:], verdict="reject", why="no signature at 0")
