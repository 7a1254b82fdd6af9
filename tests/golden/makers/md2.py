"""Models of Quake II, part by part."""
import struct

from makers.common import save
from makers.sound import noise


def md2(vertices=30, triangles=20, frames=6, commands=None, normal=7, corner=5):
    skins = b"models/golden/skin.pcx".ljust(64, b"\0")
    coordinates = b"".join(struct.pack("<hh", n * 3, n * 2) for n in range(24))
    faces = b"".join(struct.pack("<6H", n % vertices, (n + 1) % vertices, corner, n % 24, 1, 2) for n in range(triangles))
    frame = lambda f: struct.pack("<6f", 0.5, 0.5, 0.5, f, 1, 2) + b"stand%02d" % f + bytes(9) + b"".join(bytes((n * 5 % 256, n, f, normal)) for n in range(vertices))
    if commands is None:
        commands = b"".join(struct.pack("<i", n) + b"".join(struct.pack("<ffi", 0.25 * i, 0.5, i) for i in range(abs(n))) for n in (5, -4, 3)) + bytes(4)
    parts, places, at = (skins, coordinates, faces, b"".join(map(frame, range(frames))), commands), [], 68
    for part in parts:
        places.append(at)
        at += len(part)
    counts = (1, vertices, 24, triangles, len(commands) // 4, frames)
    return b"IDP2" + struct.pack("<16I", 8, 64, 64, 40 + 4 * vertices, *counts, *places, at) + b"".join(parts)


def make():
    whole = md2()
    frames_at = 68 + 64 + 96 + 240
    # Texture names, scales and places in space may be anything.
    save("md2", "model.md2", whole, unchecked=8, unverified=f"{frames_at}-{frames_at + 6 * 160}")
    plain = md2(commands=b"")
    save("md2", "no-commands.md2", plain, verdict="unverified", length=len(plain))
    save("md2", "cut.md2", whole[:900], verdict="truncated", length_min=800, length_max=900)
    save("md2", "random.md2", whole[:900] + noise(2000), verdict="truncated", length_min=800, length_max=1000)
    save("md2", "zeros.md2", whole[:-100] + bytes(300), verdict="truncated", length_min=len(whole) - 120, length_max=len(whole) - 60)
    normal = md2(normal=200)
    save("md2", "normal.md2", normal, verdict="truncated", length=frames_at + 40, why=f"an impossible number at {frames_at + 40}")
    save("md2", "corner.md2", md2(corner=90), verdict="reject", why=f"no triangle at {68 + 64 + 96}")
    save("md2", "end.md2", whole[:64] + struct.pack("<I", 9999) + whole[68:], verdict="reject", why="no header at 0")
