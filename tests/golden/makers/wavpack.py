"""WavPack: blocks by hand around noise."""
import struct

from makers.common import save
from makers.sound import ape_tag, noise


def sub(kind, data):
    words = (len(data) + 1) // 2
    kind |= 0x40 if len(data) & 1 else 0
    head = bytes([kind, words]) if words < 256 else bytes([kind | 0x80]) + words.to_bytes(3, "little")
    return head + data + bytes(len(data) & 1)


def block(index, count, total, size=700, flags=0x1800, summed=True, version=0x410, parts=None):
    body = parts if parts is not None else sub(2, b"\x12") + sub(3, noise(4)) + sub(5, noise(6)) + sub(0x0A, noise(size, index))
    total = 0xFFFFFFFF if total is None else total
    head = b"wvpk" + struct.pack("<IHBBIIIII", 24 + len(body) + 6 * summed, version, 0, 0, total, index, count, flags, 0x12345678)
    out = head + body
    if summed:
        value = 0xFFFFFFFF
        for i in range(0, len(out), 2):
            value = (value * 3 + out[i] + (out[i + 1] << 8)) & 0xFFFFFFFF
        out += b"\x2f\x02" + struct.pack("<I", value)
    return out


def make():
    wavpack = lambda name, data, **expected: save("wavpack", name, data, **expected)
    blocks = [block(i * 100, 100, 300) for i in range(3)]
    whole = b"".join(blocks)
    wavpack("plain.wv", whole, unverified="none")
    wavpack("tagged.wv", whole + ape_tag(), title="Golden hour", sequence="yes")
    wavpack("tail.wv", whole + block(300, 0, 300, parts=sub(0x22, b"LIST" + bytes(20))), sequence="yes")
    packed = sub(0x21, b"RIFF" + bytes(40)) + sub(2, b"\x12") + sub(0x0A, noise(700))
    wavpack("head.wv", block(0, 100, 100, parts=packed), embedded=34)
    channels = b"".join(block(i * 100, 100, 200, flags=f) for i in range(2) for f in (0x800, 0x1000))
    wavpack("channels.wv", channels)
    older = b"".join(block(i * 100, 100, 300, 900, summed=False, version=0x407) for i in range(3))
    wavpack("older.wv", older, verdict="unverified", length=len(older), why=f"the last block, before {len(older)}, has no checksum")
    size = len(older) // 3
    wavpack("older-tagged.wv", older + ape_tag(), title="Golden hour",
            unverified=" ".join(f"{32 + i * size}-{(i + 1) * size}" for i in range(3)))
    streamed = b"".join(block(i * 100, 100, None) for i in range(3))
    wavpack("streamed.wv", streamed, verdict="unverified", length=len(streamed))
    wavpack("streamed-tagged.wv", streamed + ape_tag(), title="Golden hour")
    cut = whole[:-100]
    at = len(whole) - len(blocks[2])
    wavpack("cut.wv", cut, verdict="truncated", length=len(cut))
    for name, junk in (("zeros", bytes(900)), ("random", noise(900, 9))):
        wavpack(f"cut-{name}.wv", cut + junk, verdict="truncated", length_min=at, length_max=len(cut))
    wrong = bytearray(whole)
    wrong[len(blocks[0]) + 200] ^= 1
    wavpack("checksum.wv", bytes(wrong), verdict="truncated", length=len(blocks[0]), why=f"corrupt block at {len(blocks[0])}")
    one = block(0, 100, 100, 4000, summed=False)
    wavpack("one-zeros.wv", one[:1500] + bytes(len(one) - 1500), verdict="truncated", length_min=500, length_max=2600)
    quiet = one[:1500] + bytes(len(one) - 1500)
    wavpack("silence-tagged.wv", quiet + ape_tag(), title="Golden hour", unchecked=32, unverified=f"32-{len(quiet)}")
    wavpack("two-files.wv", blocks[0] + whole, verdict="truncated", length=len(blocks[0]),
            why=f"no block of this file at {len(blocks[0])}")
    wavpack("header.wv", whole[:8] + b"\0\3" + whole[10:], verdict="reject", why="no valid block at 0")
