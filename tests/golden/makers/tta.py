"""TrueAudio: frames of noise with their CRCs."""
import struct, zlib

from makers.common import save
from makers.sound import ape_tag, id3v1, id3v2, noise, text_frame


def crc(data):
    return data + struct.pack("<I", zlib.crc32(data))


def tta(samples, lengths):
    head = crc(b"TTA1" + struct.pack("<HHHII", 1, 2, 16, 8000, samples))
    frames = [crc(noise(n - 4, n)) for n in lengths]
    return head + crc(b"".join(struct.pack("<I", n) for n in lengths)) + b"".join(frames)


def make():
    whole = tta(20000, (500, 600, 400))  # 8,359 samples a frame
    save("tta", "plain.tta", whole, extension="tta")
    save("tta", "id3v1.tta", whole + id3v1(), extension="tta", title="Golden hour", sequence="yes")
    save("tta", "ape-tag.tta", whole + ape_tag(), extension="tta", title="Golden hour", sequence="yes")
    save("mp3", "tta.tta", id3v2(text_frame(b"TIT2", "Gold")) + whole, title="Gold", extension="tta")
    cut = whole[:-100]
    save("tta", "cut.tta", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    at = len(whole) - 400
    for name, junk in (("zeros", bytes(900)), ("random", noise(900, 9))):
        save("tta", f"cut-{name}.tta", cut + junk, verdict="truncated", length=at, why=f"wrong CRC of the frame at {at}")
    bad = bytearray(whole)
    bad[30] ^= 1
    save("tta", "table.tta", bytes(bad), verdict="truncated", length=22, why="wrong CRC of the table at 22")
    save("tta", "length.tta", tta(20000, (500, 600, 400))[:22] + crc(struct.pack("<III", 500, 3, 400)) + whole[38:], verdict="truncated",
         length=538, why="frame 1 has an impossible length")
    save("tta", "header.tta", b"TTA1" + bytes(18) + whole[22:], verdict="reject", why="no header with a matching CRC at 0")
