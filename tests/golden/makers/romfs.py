"""Images of romfs, header by header."""
import struct

from makers.common import PNG, save
from makers.packing import junk, text


def padded(data, unit=16):
    return data + bytes(-len(data) % unit)


def summed(words):
    total = -sum(struct.unpack(f">{len(words) // 4}I", words)) & 0xffffffff
    return words[:12] + struct.pack(">I", total) + words[16:]


def image(files):
    body, start = b"", 32
    for i, (name, kind, data) in enumerate(files):
        head = padded(name + b"\0")
        length = 16 + len(head) + len(padded(data))
        place = start + len(body) + length if i + 1 < len(files) else 0
        body += summed(struct.pack(">IIII", place | kind, 0, len(data), 0) + head) + padded(data)
    whole = b"-rom1fs-" + struct.pack(">II", start + len(body), 0) + padded(b"golden\0") + body
    return summed(whole[:512].ljust(min(512, len(whole)), b"\0")) + whole[512:]


def make():
    files = [(b".", 9, b""), (b"a.txt", 2, text(900)), (b"link", 3, b"a.txt"), (b"picture.png", 2, PNG + junk(300, 1)), (b"last.bin", 2, junk(777, 2))]
    plain = image(files)
    whole = padded(plain, 1024)
    at = [plain.index(data) for _, kind, data in files if data and kind != 3]
    at.insert(1, plain.index(b"link\0") + 16)
    gold = dict(verdict="unverified", title="golden", why=f"nothing verifies the files' contents up to {len(plain)}")
    save("romfs", "image.romfs", whole, length=len(whole), embedded=" ".join(map(str, at)), **gold)
    save("romfs", "bare.romfs", plain + junk(3000, 3), length=len(plain), **gold)
    start = plain.index(b"last.bin") - 16
    save("romfs", "cut.romfs", plain[:-300], verdict="truncated", length=len(plain) - 300, why=f"the image ends at {len(plain) - 300}, before the file does")
    save("romfs", "random.romfs", plain[:1100] + junk(5000, 4), verdict="truncated", length_min=1000, length_max=start)
    save("romfs", "zeros.romfs", plain[:start] + bytes(3000), verdict="truncated", length=start, why=f"no file's header at {start}")
    save("romfs", "sum.romfs", plain[:15] + bytes((plain[15] ^ 1,)) + plain[16:], verdict="reject", why="no header with its checksum at 0")
