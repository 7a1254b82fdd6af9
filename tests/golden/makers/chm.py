"""HTML help, with a made-up directory."""
import random, struct

from makers.common import save

GUIDS = bytes.fromhex("10fd017caa7bd0119e0c00a0c922e6ec11fd017caa7bd0119e0c00a0c922e6ec")


def number(value):
    out = [value & 127]
    while value > 127:
        value >>= 7
        out.insert(0, value & 127 | 128)
    return bytes(out)


def block(kind, size, flag=False):
    """The first bits of a stream of LZX."""
    bits = f"{int(flag)}" + (f"{12345678:032b}" if flag else "") + f"{kind:03b}{size:024b}"
    bits = bits.ljust(64, "1")[:64 if flag else 32]
    return b"".join(struct.pack("<H", int(bits[i:i + 16], 2)) for i in range(0, len(bits), 16))


def build(version=3, beyond=0, title=b"A golden help", chunk_len=512, last=194):
    system = struct.pack("<IHH4sHH", 3, 10, 4, b"time", 3, len(title) + 1) + title + b"\0"
    rng = random.Random(1)
    packed = block(2, 0x10000) + rng.randbytes(190) + block(1, 0x8001, True) + rng.randbytes(190)
    last = last or len(packed)
    table = struct.pack("<IIIIQQQ", 2, 3, 8, 40, 90000, len(packed), 0x8000) + struct.pack("<QQQ", 0, 90, last)
    control = struct.pack("<I4sIIIII", 6, b"LZXC", 2, 2, 2, 1, 0)
    objects = [(b"/", b""), (b"/#SYSTEM", system), (b"::DataSpace/Storage/MSCompressed/Content", packed),
               (b"::DataSpace/Storage/MSCompressed/ControlData", control),
               (b"::DataSpace/Storage/MSCompressed/Transform/{7FC28940-9D31-11D0-9B27-00A0C91E9C7C}/InstanceData/ResetTable", table)]
    content, entries = b"", b""
    for name, data in objects:
        entries += number(len(name)) + name + b"\0" + number(len(content)) + number(len(data) + (beyond if name.endswith(b"Content") else 0))
        content += data
    entries += number(7) + b"/a.html" + b"\1" + number(300) + number(70000)
    free = chunk_len - 20 - len(entries)
    listing = b"PMGL" + struct.pack("<IIii", free, 0, -1, -1) + entries + bytes(free)
    index = b"PMGI" + struct.pack("<I", chunk_len - 8) + bytes(chunk_len - 8)
    header_len = 0x60 if version == 3 else 0x58
    directory_at = header_len + 24
    directory = b"ITSP" + struct.pack("<IIIIIIiiiiiI", 1, 0x54, 10, chunk_len, 2, 1, -1, 0, 0, -1, 2, 0x409) + bytes(0x54 - 52) + listing + index
    content_at = directory_at + len(directory)
    total = content_at + len(content)
    header = b"ITSF" + struct.pack("<IIIII", version, header_len, 1, 0, 0x409)[:20] + GUIDS
    header += struct.pack("<QQQQ", header_len, 24, directory_at, len(directory))
    if version == 3:
        header += struct.pack("<Q", content_at)
    return header + struct.pack("<IIQQ", 0x1fe, 0, total, 0) + directory + content, directory_at, content_at


def make():
    whole, directory, content = build()
    save("chm", "version3.chm", whole, title="A golden help")
    save("chm", "version2.chm", build(2)[0], title="A golden help")
    save("chm", "listed-end.chm", build(last=0)[0], title="A golden help")
    save("chm", "listed-later.chm", build(last=90000)[0], verdict="truncated")
    beyond = build(beyond=9000)[0]
    save("chm", "beyond.chm", beyond, verdict="unverified", length=len(beyond),
         why=f"the directory lists data past the end at {len(beyond)}")
    save("chm", "cut.chm", whole[:-100], verdict="truncated", length=len(whole) - 100,
         why=f"the image ends at {len(whole) - 100}, before the file does")
    save("chm", "directory-cut.chm", whole[:directory + 200], verdict="truncated", length=directory + 200)
    save("chm", "overwritten.chm", whole[:content + 150] + random.Random(2).randbytes(len(whole)), verdict="truncated", length=content,
         why=f"no control data at {whole.index(b'LZXC') - 4}")
    wrong = bytearray(whole)
    second = whole.index(block(1, 0x8001, True))
    wrong[second:second + 8] = bytes(8)
    save("chm", "block.chm", bytes(wrong), verdict="truncated", why=f"no compressed block at {second}")
    save("chm", "no-index.chm", whole.replace(b"PMGI", b"XXXX"), verdict="truncated", length=directory + 0x54 + 512,
         why=f"no directory chunk at {directory + 0x54 + 512}")
    wrong = bytearray(whole)
    wrong[directory + 0x54 + 4] = wrong[directory + 0x54 + 5] = 255
    save("chm", "free.chm", bytes(wrong), verdict="unverified", length=len(whole),
         why=f"an impossible entry in the directory chunk at {directory + 0x54}")
    chunk = directory + 0x54
    save("chm", "chunk-overwritten.chm", whole[:chunk + 60] + random.Random(3).randbytes(len(whole) - chunk - 60), verdict="truncated",
         length=chunk, why=f"no directory chunk at {chunk}")
    save("chm", "no-directory.chm", whole.replace(b"ITSP", b"XXXX"), verdict="reject", why="no directory at the offset in the header")
    save("chm", "version.chm", whole[:4] + b"\7" + whole[5:], verdict="reject", why="an unknown version at 4")
    save("chm", "short.chm", whole[:0x68] + struct.pack("<Q", 300) + whole[0x70:], verdict="reject",
         why="an impossible chunk length or number in the directory")
