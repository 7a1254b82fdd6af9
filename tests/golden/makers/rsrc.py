"""Resource forks as files, part by part."""
import struct

from makers.common import save


def rsrc(resources, names=True):
    """resources: (type, id, name, bytes)."""
    data, places = b"", []
    for *_, content in resources:
        places.append(len(data))
        data += struct.pack(">I", len(content)) + content
    kinds = sorted({kind for kind, *_ in resources})
    text, lists, table = b"", b"", struct.pack(">H", len(kinds) - 1)
    for kind in kinds:
        mine = [(number, name, places[i]) for i, (k, number, name, _) in enumerate(resources) if k == kind]
        table += kind + struct.pack(">HH", len(mine) - 1, 2 + 8 * len(kinds) + len(lists))
        for number, name, place in mine:
            lists += struct.pack(">hHII", number, len(text) if name else 0xFFFF, place, 0)
            text += bytes([len(name)]) + name if name else b""
    body = table + lists
    map_len = 28 + len(body) + len(text)
    head = struct.pack(">4I", 256, 256 + len(data), len(data), map_len)
    return head.ljust(256, b"\0") + data + head + struct.pack(">IHHHH", 0, 0, 0, 28, 28 + len(body)) + body + text


def make():
    font = b"\0\1\0\0\0\1" + bytes(range(250))
    whole = rsrc([(b"sfnt", 128, b"Golden", font), (b"FOND", 128, b"Golden Sans", bytes(90)), (b"vers", 1, b"", b"\1\0")])
    at = whole.index(font)
    save("rsrc", "font.dfont", whole, embedded=f"{at} {at + len(font) + 4} {at + len(font) + 98}", unchecked=len(whole) - 20)
    plain = rsrc([(b"TEXT", 1, b"", b"some text"), (b"TEXT", 2, b"", b"more of it")])
    save("rsrc", "text.dfont", plain, unchecked=len(plain) - 14)
    save("rsrc", "cut.dfont", whole[:400], verdict="truncated", length=400, why="the image ends at 400, before the file does")
    save("rsrc", "map.dfont", whole[:whole.index(whole[:16], 256)] + bytes(range(1, 255)) + bytes(400), verdict="reject", why=f"no map at {256 + struct.unpack('>I', whole[8:12])[0]}")
    save("rsrc", "zeros.dfont", whole[:40] + b"\1" + whole[41:], verdict="reject", why="no zeros at 16")
    save("rsrc", "length.dfont", whole[:8] + bytes(4) + whole[12:], verdict="reject", why="no header at 0")
