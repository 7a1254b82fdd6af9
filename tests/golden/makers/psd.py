"""PSD and PSB, by hand."""
import random, struct, zlib

from makers.common import save
from makers.jpeg import exif


def head(large, channels, width, height, depth=8, mode=3, signature=b"8BPS"):
    return signature + struct.pack(">H6xHIIHH", 1 + large, channels, height, width, depth, mode)


def section(data, wide=False):
    return struct.pack(">Q" if wide else ">I", len(data)) + data


def resource(number, data, name=b"", mark=b"8BIM"):
    title = bytes([len(name)]) + name
    title += bytes(len(title) & 1)
    return mark + struct.pack(">H", number) + title + section(data) + bytes(len(data) & 1)


def rows(width, height, seed):
    rng = random.Random(seed)
    return [bytes((x * 5 + y * 3 + rng.randrange(9)) & 255 for x in range(width)) for y in range(height)]


def packbits(row):
    out = bytes([0x100 - 2, row[0]]) if row[:3] == row[:1] * 3 else b""
    rest = row[3:] if out else row
    return out + b"".join(bytes([len(rest[i:i + 60]) - 1]) + rest[i:i + 60] for i in range(0, len(rest), 60))


def packed(lines, large, pack=packbits):
    lines = [pack(line) for line in lines]
    return struct.pack(">H", 1) + b"".join(struct.pack(">I" if large else ">H", len(line)) for line in lines) + b"".join(lines)


def layers(large, count, width, height):
    """Layers with three channels and a mask whose size is another."""
    records = pixels = b""
    for index in range(count):
        channels = [(number, packed(rows(width, height, index * 10 + number), large)) for number in (-1, 0, 1)]
        channels.append((-2, packed(rows(5, 4, index), large)))
        records += struct.pack(">4IH", 0, 0, height, width, len(channels))
        for number, data in channels:
            records += struct.pack(">hQ" if large else ">hI", number, len(data))
            pixels += data
        records += b"8BIMnorm" + struct.pack(">BBBBI", 255, 0, 0, 0, 12) + struct.pack(">II", 0, 0) + b"\3abc"
    info = struct.pack(">h", -count) + records + pixels
    info += bytes(len(info) & 1)
    return section(section(info, large) + section(b""), large)


def file(large=False, picture=None, resources=b"", layer=None, width=40, height=30, channels=3, colours=b"", **more):
    lines = [row for channel in range(channels) for row in rows(width, height, channel)]
    merged = packed(lines, large) if picture is None else picture
    return head(large, channels, width, height, **more) + section(colours) + section(resources) + (layer or section(b"", large)) + merged


def varied_rows(width, height, seed):
    """Rows of which runs and other bytes take turns."""
    rng = random.Random(seed)
    return [b"".join(bytes([rng.randrange(256)]) * rng.randrange(2, 40) if rng.randrange(3) else rng.randbytes(rng.randrange(1, 20))
                     for _ in range(width))[:width] for _ in range(height)]


def pack_runs(row):
    """PackBits as most programs do it."""
    out, at, plain = b"", 0, b""
    while at < len(row):
        run = 1
        while at + run < len(row) and row[at + run] == row[at] and run < 128:
            run += 1
        if run < 3 and len(plain) < 128:
            plain += row[at:at + 1]
            at += 1
            if at < len(row):
                continue
            run = 0
        if plain:
            out += bytes([len(plain) - 1]) + plain
            plain = b""
        if run >= 3:
            out += bytes([257 - run]) + row[at:at + 1]
            at += run
    return out


def long_layers(deep):
    """Two layers, one with a mask of another size; deep: of 16 bits, in a block, and by deflate."""
    width, height, records, pixels = (200, 40, b"", b"")
    for index in range(2):
        def channel(number, wide, high):
            lines = varied_rows(wide * (1 + deep), high, 20 * index + number)
            return struct.pack(">H", 2) + zlib.compress(b"".join(lines)) if deep and number != -2 else packed(lines, False, pack_runs)

        channels = [(number, channel(number, width, height)) for number in (-1, 0, 1, 2)] + [(-2, channel(-2, 31, 23))]
        records += struct.pack(">4IH", 0, 0, height, width, len(channels))
        records += b"".join(struct.pack(">hI", number, len(data)) for number, data in channels)
        pixels += b"".join(data for _, data in channels)
        more = section(struct.pack(">4IBBH", 5, 6, 28, 37, 0, 0, 0)) + section(b"") + b"\3abc"
        records += b"8BIMnorm" + struct.pack(">BBBB", 255, 0, 0, 0) + section(more)
    info = struct.pack(">h", 2) + records + pixels
    info += bytes(-len(info) % 4)
    if not deep:
        return section(section(info) + section(bytes(14)) + b"8BIMPatt" + section(b"pattern\0"))
    return section(section(b"") + section(b"") + b"8BIMPatt" + section(b"") + b"8BIMLr16" + section(info))


def make():
    packet = (b"<?xpacket begin='\xef\xbb\xbf' id='W5M0MpCehiHzreSzNTczkc9d'?>\n<x:xmpmeta xmlns:x='adobe:ns:meta/'>"
              b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'></rdf:RDF></x:xmpmeta>\n" + (b" " * 99 + b"\n") * 25 +
              b"<?xpacket end='w'?>")
    merged = packed(varied_rows(200, 120, 99), False, pack_runs)
    save("psd", "long.psd", file(resources=resource(1060, packet), layer=long_layers(False), width=200, height=40, picture=merged), extension="psd")
    merged = packed(varied_rows(400, 120, 98), False, pack_runs)
    save("psd", "long-deep.psd", file(resources=resource(1060, packet), layer=long_layers(True), width=200, height=40, depth=16, picture=merged),
         extension="psd")
    resources = resource(1005, bytes(16)) + resource(1058, exif(True)[6:]) + resource(1036, b"odd", b"Name") + resource(4000, b"x", mark=b"MeSa")
    full = file(resources=resources, layer=layers(False, 2, 20, 12))
    save("psd", "layers.psd", full, extension="psd", title="Golden hour", time=1709251198)
    large = file(True, layer=layers(True, 1, 20, 12))
    # Each channel after its compression, and what follows the layers.
    save("psd", "large.psb", large, extension="psb", unverified="140-440 442-742 744-1044 1046-1090")
    save("psd", "flat.psd", file(), extension="psd", unverified="none")
    plain = struct.pack(">H", 0) + b"".join(rows(40, 30, 1))
    save("psd", "plain.psd", file(picture=plain, channels=1, mode=1), extension="psd", unchecked=12, unverified="40-1240")
    save("psd", "bilevel.psd", file(picture=struct.pack(">H", 0) + bytes(range(150)), channels=1, depth=1, mode=0), extension="psd", unchecked=12)
    save("psd", "indexed.psd", file(channels=1, mode=2, colours=bytes(768)), extension="psd", unverified="30-798")
    deep = struct.pack(">H", 2) + zlib.compress(b"".join(rows(80, 30, 1)))
    save("psd", "deflated.psd", file(picture=deep, channels=1, depth=16, mode=1), extension="psd", unchecked=12)

    noisy = file(picture=struct.pack(">H", 0) + random.Random(5).randbytes(1200), channels=1, mode=1)
    save("psd", "noise.psd", noisy, verdict="unverified", length=len(noisy), why="the pixels from 40 on look like noise")
    xml = file(resources=resource(1002, b"<?xml version='1.0'?><gold/>"))
    save("psd", "xml.psd", xml, extension="psd", embedded=xml.index(b"<?xml"))

    whole = file(picture=plain, channels=1, mode=1)
    save("psd", "wiped.psd", whole[:512] + bytes(len(whole) - 512), verdict="truncated", length=512, why="other bytes than pixels at 512")
    save("psd", "end-zeros.psd", whole[:600] + bytes(len(whole) - 600), verdict="unverified", length=len(whole),
         why="zeros from 1024 on: the picture's own, or its end was wiped")

    start = len(full) - len(packed([row for channel in range(3) for row in rows(40, 30, channel)], False))
    at = start + 2 + 2 * 90 + 41 * 50
    rng = random.Random(6)
    save("psd", "cut.psd", full[:at], extension="psd", verdict="truncated", length=at, why=f"the image ends at {at}, before the file does")
    for name, junk in (("random", rng.randbytes(4000)), ("zeros", bytes(4000)), ("ff", b"\xff" * 4000)):
        save("psd", f"{name}-behind.psd", full[:at] + junk, verdict="truncated", length_min=at - 45, length_max=at + 45)
    layer = full.index(b"8BIMnorm")
    save("psd", "layer-random.psd", full[:layer + 700] + rng.randbytes(len(full) - layer - 700), verdict="truncated", length_min=layer - 200,
         length_max=layer + 1600)
    broken = bytearray(full)
    broken[layer] = 0
    save("psd", "no-layer.psd", bytes(broken), verdict="truncated", length_min=layer - 100, length_max=layer, why=f"no layer at {layer - 16 - 2 - 4 * 6}")
    mark = full.index(b"8BIM", 70)
    broken = bytearray(full)
    broken[mark] = 0
    save("psd", "no-resource.psd", bytes(broken), verdict="truncated", length_min=30, length_max=mark, why=f"no resource at {mark}")
    save("psd", "first-resource.psd", head(False, 3, 40, 30) + section(b"") + section(b"JUNK" * 20) + bytes(300), verdict="reject", why="no resource at 34")
    save("psd", "packing.psd", file(picture=b"\0\7" + bytes(100), resources=resources), verdict="truncated", length_min=40,
         why=f"a picture with an unknown compression at {34 + len(resources) + 4}")
    row = full.index(b"8BIMnorm", layer + 8) + 60
    count = full.index(struct.pack(">H", 1), row)
    wrong = bytearray(full)
    wrong[count + 3] += 1
    save("psd", "rows.psd", bytes(wrong), verdict="unverified", length=len(wrong), why=f"a channel of another length than its rows at {count}")
    save("psd", "rows-cut.psd", bytes(wrong[:start + 40]), verdict="truncated", why=f"a channel of another length than its rows at {count}")
    wrong[count + struct.unpack_from(">I", full, layer - 4 * 6 + 2)[0] + 3] += 1
    save("psd", "rows-twice.psd", bytes(wrong), verdict="unverified", length=len(wrong), why=f"a channel of another length than its rows at {count}")
    for name, data, why in (("signature", file(signature=b"8BPT"), "no PSD signature at 0"), ("channels", file(channels=57), "an impossible number of channels at 0"),
                            ("depth", file(depth=9), "an impossible depth at 0"), ("mode", file(mode=5), "an unknown colour mode at 0"),
                            ("size", file(height=0), "an impossible size at 0")):
        save("psd", f"bad-{name}.psd", data[:600], verdict="reject", why=why)
