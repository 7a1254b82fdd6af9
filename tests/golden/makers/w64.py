"""Sony's Wave64, chunk by chunk."""
import struct

from makers.common import save
from makers.sound import curve, noise, samples

END = bytes.fromhex("f3acd3118cd100c04f8edb8a")


def chunk(name, data):
    out = name + END + struct.pack("<Q", 24 + len(data)) + data
    return out + bytes(-len(out) % 8)


def w64(*chunks, length=None):
    body = b"wave" + END + b"".join(chunks)
    head = bytes.fromhex("726966662e91cf11a5d628db04c10000")
    return head + struct.pack("<Q", 24 + len(body) if length is None else length) + body


def make():
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 2, 8000, 32000, 4, 16))
    sound = struct.pack("<4000h", *samples(2000))
    start = 40 + len(form) + 24
    whole = w64(form, chunk(b"data", sound))
    save("w64", "clusters.w64", whole, verdict="unverified", length=len(whole), why=f"the last samples before {len(whole)} cannot be verified")
    short = w64(form, chunk(b"data", sound[:3900]))
    save("w64", "plain.w64", short, unchecked=start, unverified=f"{start}-{start + 3900}")
    noted = w64(form, chunk(b"data", sound), chunk(b"list", b"a note that ends the file"))
    save("w64", "note.w64", noted, unchecked=start, unverified=f"{start}-{start + len(sound)}")
    coded = w64(chunk(b"fmt ", struct.pack("<HHIIHH", 2, 1, 8000, 4000, 256, 4)), chunk(b"data", curve(2048)))
    save("w64", "coded.w64", coded, verdict="unverified", length=len(coded), why=f"the last samples before {len(coded)} cannot be verified")
    # In Microsoft's extensible form the coding, here Dolby's, is a GUID.
    dolby = struct.pack("<HHIIHHHHIH", 0xfffe, 1, 8000, 4000, 256, 16, 22, 0, 4, 0x2000) + bytes.fromhex("000000001000800000aa00389b71")
    named = w64(chunk(b"fmt ", dolby), chunk(b"data", b"\x0b\x77" + noise(2000, 4)))
    save("w64", "extensible.w64", named, verdict="unverified", length=len(named), embedded=named.index(b"\x0b\x77"))
    save("w64", "cut.w64", whole[:5000], verdict="truncated", length=5000)
    # Another file's bytes from a cluster on: a table of numbers.
    other = b"".join(struct.pack("<I", n * n % 997) for n in range(4000))
    save("w64", "other.w64", (whole[:4096] + other)[:len(whole)], verdict="truncated", length=4096, why="foreign bytes instead of samples at 4096")
    save("w64", "random.w64", whole[:4096] + noise(4096, 3), verdict="truncated", length_min=3000, length_max=5200)
    save("w64", "no-chunk.w64", w64(form, noise(400)), verdict="truncated", length=40 + len(form), why=f"no chunk at {40 + len(form)}")
    save("w64", "no-sound.w64", w64(form), verdict="unverified", length=40 + len(form))
    save("w64", "length.w64", w64(form, chunk(b"data", sound), length=7), verdict="reject", why="an impossible length at 16")
    save("w64", "header.w64", whole[:30] + noise(2000), verdict="reject", why="no header at 0")
