"""Polygon files, element by element."""
import random, struct

from makers.common import save
from makers.solid import sphere

FORMS = {"ascii": None, "binary_little_endian": "<", "binary_big_endian": ">"}


def surface(count=None):
    """Vertices and faces, from triangles of corners."""
    vertices, faces = [], []
    for triangle in sphere()[:count]:
        for corner in triangle:
            if corner not in vertices:
                vertices.append(corner)
        faces.append([vertices.index(corner) for corner in triangle])
    return vertices, faces


def ply(form, vertices, faces, index="int", end="\n", edges=0):
    order = FORMS[form]
    lines = ["ply", f"format {form} 1.0", "comment golden", f"element vertex {len(vertices)}", "property float x", "property float y", "property float z",
             "property uchar red"] + ([f"element face {len(faces)}", f"property list uchar {index} vertex_indices"] if faces else [])
    if edges:
        lines += [f"element edge {edges}", "property int vertex1", "property int vertex2"]
    out = (end.join(lines + ["end_header"]) + end).encode()
    kind = {"int": "i", "ushort": "H"}[index]
    for vertex in vertices:
        out += struct.pack(order + "fffB", *vertex, 7) if order else ("%.6g %.6g %.6g 7" % vertex + end).encode()
    for face in faces:
        out += struct.pack(f"{order}B{len(face)}{kind}", len(face), *face) if order else (f"{len(face)} " + " ".join(map(str, face)) + " " + end).encode()
    for i in range(edges):
        out += struct.pack(order + "ii", i, i + 1) if order else f"{i} {i + 1}{end}".encode()
    return out


def make():
    vertices, faces = surface()
    text = ply("ascii", vertices, faces)
    save("ply", "text.ply", text, title="golden", sequence="yes", unchecked=0)
    save("ply", "crlf.ply", ply("ascii", vertices, faces, end="\r\n"), sequence="yes", unchecked=0)
    save("ply", "open.ply", text.rstrip() + b"\0\xff" * 9, verdict="unverified", length=len(text.rstrip()))
    little = ply("binary_little_endian", vertices, faces)
    data = little.index(b"end_header") + 11
    save("ply", "little.ply", little, title="golden", unchecked=0, unverified=f"{data}-{data + 13 * len(vertices)}")
    save("ply", "big.ply", ply("binary_big_endian", vertices, faces), unchecked=0)
    # References of two bytes, points without faces and edges prove too little.
    for name, other in (("short", ply("binary_little_endian", vertices, faces, "ushort")), ("points", ply("binary_big_endian", vertices, [])),
                        ("edges", ply("binary_little_endian", vertices, faces, edges=40))):
        save("ply", name + ".ply", other + random.Random(3).randbytes(300), verdict="unverified", length=len(other))
    save("ply", "cut.ply", little[:-30], verdict="truncated", length_min=len(little) - 43, length_max=len(little) - 30)
    save("ply", "points-cut.ply", ply("binary_big_endian", vertices, [])[:900], verdict="truncated", length=900, why="the image ends at 900, before the file does")
    faces_at = data + 13 * len(vertices)
    for kind, junk in (("zeros", bytes(9000)), ("text", b"nothing but words\n" * 500), ("random", random.Random(1).randbytes(9000))):
        save("ply", f"faces-{kind}.ply", little[:faces_at + 300] + junk, verdict="truncated", length_min=faces_at + 287, length_max=faces_at + 313)
        save("ply", f"text-{kind}.ply", text[:len(text) - 400] + junk, verdict="truncated", length_min=len(text) - 440, length_max=len(text) - 380)
    large = ply("binary_little_endian", [(i / 7, i / 9, 1.5) for i in range(1500)], [[i, i + 1, i + 2] for i in range(900)])
    for kind, junk in (("zeros", bytes(40000)), ("words", b"nothing but words\n" * 2200), ("random", random.Random(1).randbytes(40000))):
        save("ply", f"vertices-{kind}.ply", large[:8192] + junk, verdict="truncated", length_min=8000, length_max=8700)
    save("ply", "reference.ply", little[:faces_at + 14] + struct.pack("<i", len(vertices)) + little[faces_at + 18:], verdict="truncated", length=faces_at + 13)
    for name, old, new in (("format", b"little", b"middle"), ("type", b"float y", b"fixed y"), ("line", b"comment", b"remark!"), ("list", b"list uchar", b"list float")):
        save("ply", name + ".ply", little.replace(old, new), verdict="reject")
    save("ply", "property.ply", b"ply\nformat ascii 1.0\nproperty float x\nend_header\n1\n", verdict="reject")
    save("ply", "no-end.ply", little[:data - 11] + b"\0" * 400, verdict="reject")
