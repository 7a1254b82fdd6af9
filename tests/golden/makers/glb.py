"""glTF models in binary form, chunk by chunk."""
import random, struct

from makers.common import PNG, save

JSON = b'{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"buffers":[{"byteLength":200}]}'


def chunk(kind, data):
    data += b"\0 "[kind == b"JSON":][:1] * (-len(data) % 4)
    return struct.pack("<I", len(data)) + kind + data


def glb(*chunks):
    body = b"".join(chunks)
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def make():
    buffer = bytes(range(200)) + PNG
    whole = glb(chunk(b"JSON", JSON), chunk(b"BIN\0", buffer))
    data = whole.index(b"BIN\0") + 4
    save("glb", "model.glb", whole, verdict="unverified", length=len(whole), why=f"nothing verifies the data from {data} on", unverified=f"{data}-{len(whole)}")
    alone = glb(chunk(b"JSON", JSON))
    save("glb", "no-buffer.glb", alone, verdict="unverified", length=len(alone), embedded=20)
    old = b"glTF" + struct.pack("<IIII", 1, 20 + len(JSON) + 200, len(JSON), 0) + JSON + bytes(range(1, 201))
    save("glb", "old.glb", old + b"x" * 40, verdict="unverified", length=len(old), embedded=20)
    assert len(JSON) % 4
    padded = b"glTF" + struct.pack("<IIII", 1, 20 + len(JSON) + 200, len(JSON), 0) + JSON + bytes(-len(JSON) % 4) + bytes(range(1, 201))
    save("glb", "old-padded.glb", padded + b"x" * 40, verdict="unverified", length=len(padded))
    save("glb", "cut.glb", whole[:data + 50], verdict="truncated", length=data + 50, why=f"the image ends at {data + 50}, before the file does")
    long = glb(chunk(b"JSON", JSON), chunk(b"BIN\0", bytes(i % 90 for i in range(9000))))
    save("glb", "packed.glb", long[:4000] + random.Random(1).randbytes(len(long) - 4000), verdict="unverified", length=len(long))
    save("glb", "chunk.glb", whole[:data - 8] + b"\xff\xff\0\0" + whole[data - 4:], verdict="truncated", length=data - 8, why=f"no chunk at {data - 8}")
    tail = whole[:8] + struct.pack("<I", len(whole) + 4) + whole[12:] + bytes(4)
    save("glb", "tail.glb", tail, verdict="truncated", length=len(whole), why=f"no chunk at {len(whole)}")
    save("glb", "length.glb", whole[:12] + b"\xff\xff\0\0" + whole[16:], verdict="reject", why="no header at 0")
    save("glb", "version.glb", b"glTF\3" + whole[5:], verdict="reject", why="no chunk of JSON at 12")
