"""FBX models in binary form, node by node."""
import random, struct

from makers.common import save

MARK = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")


def fbx(version, names):
    wide, out = version >= 7500, b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", version)
    for name in names:
        values = b"S" + struct.pack("<I", 30) + bytes(range(65, 95))
        head = 25 if wide else 13
        out += struct.pack("<QQQB" if wide else "<IIIB", len(out) + head + len(name) + len(values), 1, len(values), len(name)) + name + values
    out += bytes(25 if wide else 13) + bytes(range(16))
    out += bytes(-len(out) % 16)
    return out + bytes(4) + struct.pack("<I", version) + bytes(120) + MARK


def make():
    names = [b"FBXHeaderExtension", b"GlobalSettings", b"Objects", b"Takes"]
    whole = fbx(7400, names)
    save("fbx", "model.fbx", whole, unchecked=len(whole) - 180)
    wide = fbx(7700, names)
    save("fbx", "wide.fbx", wide, unchecked=len(wide) - 180)
    save("fbx", "cut.fbx", whole[:120], verdict="truncated", length_min=27)
    save("fbx", "random.fbx", whole[:100] + random.Random(2).randbytes(2000), verdict="truncated", length_min=27)
    save("fbx", "footer.fbx", whole[:-16] + bytes(400), verdict="truncated", why=f"no footer at {whole.index(bytes(range(16)))}")
    save("fbx", "node.fbx", whole[:27] + b"\1\0\0\0" + whole[31:], verdict="reject", why="no node at 27")
    save("fbx", "version.fbx", whole[:23] + b"\xff\xff\xff\xff" + whole[27:], verdict="reject", why="no header at 0")
