"""CRW, by hand: a heap with a directory at its end."""
import random, struct

from makers.common import save


def crw(order="<", trailer=b"", shift=0, size=600):
    rng = random.Random(1)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "I", 26) + b"HEAPCCDR" + struct.pack(order + "HHII", 2, 1, 0, 0)
    blobs = [rng.randbytes(size), b"Canon\0Canon PowerShot\0", bytes(range(60))]
    heap, entries = b"", []
    for kind, blob in zip((0x2005, 0x080A, 0x1031), blobs):
        entries.append(struct.pack(order + "HII", kind, len(blob), len(heap)))
        heap += blob
    entries.append(struct.pack(order + "H", 0x5001) + b"8 bytes!")
    directory = struct.pack(order + "H", len(entries)) + b"".join(entries)
    return head + heap + directory + struct.pack(order + "I", len(heap) + shift) + trailer


def canon_trailer(data):
    return (b"CANON OPTIONAL DATA\0" + struct.pack(">II", 0x10000, len(data)) + data +
            b"CANON OPTIONAL DATA\0" + struct.pack(">I", len(data)) + bytes(40))


def make():
    whole = crw()
    save("crw", "little.crw", whole, unchecked=26, unverified="30-626 630-648 652-708")
    save("crw", "big.crw", crw(">"), unchecked=26)
    edited = crw(trailer=canon_trailer(b"settings" * 9))
    save("crw", "canon-trailer.crw", edited, unchecked=26, sequence="yes")
    cut = edited[:len(whole) + 60]
    for name, behind in (("trailer-cut.crw", b""), ("random-in-trailer.crw", random.Random(2).randbytes(3000))):
        save("crw", name, cut + behind, verdict="truncated", length=len(whole), why=f"a trailer without its end at {len(whole)}")
    save("crw", "cut.crw", whole[:500], verdict="truncated", length=500, why="no directory of the heap before 500")
    save("crw", "no-pointer.crw", crw(shift=4), verdict="truncated", length_min=600)
    save("crw", "zeros-behind.crw", crw(size=6000)[:5000] + bytes(5000), verdict="truncated", length_min=4900, length_max=5100)
    save("crw", "mark.crw", whole.replace(b"HEAPCCDR", b"HEAPJPGM"), verdict="reject", why="no CRW head at 0")
    save("crw", "heap.crw", whole[:2] + struct.pack("<I", 9000) + whole[6:], verdict="reject", why="no heap at 9000")
