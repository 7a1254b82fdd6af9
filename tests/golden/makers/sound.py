"""What the makers of sound share: tags, and noise that is always the same."""
import random, struct


def noise(count, seed=1):
    return random.Random(seed).randbytes(count)


def synchsafe(value, width=4):
    return bytes(value >> 7 * i & 0x7F for i in reversed(range(width)))


def text_frame(kind, text, version=3):
    data = text if isinstance(text, bytes) else b"\0" + text.encode("latin-1")
    if version == 2:
        return kind + len(data).to_bytes(3, "big") + data
    return kind + (synchsafe(len(data)) if version == 4 else struct.pack(">I", len(data))) + b"\0\0" + data


def id3v2(frames, version=3, flags=0, padding=0):
    body = frames + bytes(padding)
    head = bytes([version, 0, flags]) + synchsafe(len(body))
    return b"ID3" + head + body + (b"3DI" + head if flags & 0x10 else b"")


def id3v1(title=b"Golden hour"):
    return b"TAG" + title.ljust(30, b"\0") + b"Nobody".ljust(30) + bytes(30) + b"2024" + bytes(30) + b"\x0c"


def ape_tag(title=b"Golden hour", header=True):
    item = b"".join(struct.pack("<II", len(v), 0) + k + b"\0" + v for k, v in ((b"Title", title), (b"Year", b"2024")))

    def end(flags):
        return b"APETAGEX" + struct.pack("<IIII", 2000 if header else 1000, len(item) + 32, 2, flags) + bytes(8)

    return (end(0xA0000000) if header else b"") + item + end(0x80000000 if header else 0)


def comments(**fields):
    out = struct.pack("<I", 6) + b"golden" + struct.pack("<I", len(fields))
    for key, value in fields.items():
        one = f"{key}={value}".encode()
        out += struct.pack("<I", len(one)) + one
    return out


def curve(count):
    """Values of a byte, plainly no random bytes."""
    return bytes((i * i) % 200 // 3 for i in range(count))


def samples(count, channels=2):
    """Signed samples of 16 bits, plainly no random bytes."""
    rng, value, out = random.Random(5), 0, []
    for _ in range(count * channels):
        value = max(-20000, min(20000, value + rng.randint(-90, 90)))
        out.append(value)
    return out
