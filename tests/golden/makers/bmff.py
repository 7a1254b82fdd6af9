"""Boxes of ISO base media files, for the makers of formats made of them. It makes no golden files of its own."""
import random, struct


def box(kind, *parts):
    data = b"".join(parts)
    return struct.pack(">I4s", len(data) + 8, kind) + data


def wide(kind, *parts):
    """The same with its size in 64 bits."""
    data = b"".join(parts)
    return struct.pack(">I4sQ", 1, kind, len(data) + 16) + data


def full(kind, version, *parts):
    return box(kind, struct.pack(">I", version << 24), *parts)


def ftyp(major, *compatible):
    return box(b"ftyp", major, bytes(4), *compatible)


def noise(count, seed):
    """Bytes that could be coded data: no zeros among them."""
    rng = random.Random(seed)
    return bytes(rng.randrange(1, 256) for _ in range(count))


def nal(count, seed, head=b"\x28\x01"):
    """A NAL unit of H.265 of count bytes with its length in front: an IDR slice."""
    return struct.pack(">I", count) + head + noise(count - 2, seed)


def track(coding, sizes, offsets, per_chunk=1, config=b"", wide_offsets=False, fixed=0, visual=True):
    entry = box(coding, bytes(6) + b"\0\1" + bytes(70 if visual else 0), config)
    if wide_offsets:
        chunks = full(b"co64", 0, struct.pack(">I", len(offsets)), *[struct.pack(">Q", o) for o in offsets])
    else:
        chunks = full(b"stco", 0, struct.pack(">I", len(offsets)), *[struct.pack(">I", o) for o in offsets])
    table = b"" if fixed else b"".join(struct.pack(">I", s) for s in sizes)
    stbl = box(b"stbl", full(b"stsd", 0, struct.pack(">I", 1), entry),
               full(b"stts", 0, struct.pack(">III", 1, len(sizes), 100)),
               full(b"stsc", 0, struct.pack(">IIII", 1, 1, per_chunk, 1)),
               full(b"stsz", 0, struct.pack(">II", fixed, len(sizes)), table), chunks)
    minf = box(b"minf", full(b"vmhd", 0, bytes(8)), box(b"dinf", full(b"dref", 0, struct.pack(">I", 1), full(b"url ", 0))), stbl)
    mdia = box(b"mdia", full(b"mdhd", 0, bytes(20)), full(b"hdlr", 0, bytes(4), b"pict", bytes(12), b"\0"), minf)
    return box(b"trak", full(b"tkhd", 0, bytes(80)), mdia)
