"""STL: by numpy-stl where named, and triangle by triangle."""
import io, struct

import numpy
import stl
from stl import mesh

from makers.common import save
from makers.solid import sphere
from makers.sound import noise


def binary(triangles, head=b"COLOR=golden", count=None):
    body = b"".join(struct.pack("<12fH", 0, 0, 1, *(value for corner in triangle for value in corner), 0) for triangle in triangles)
    return head.ljust(80, b"\0") + struct.pack("<I", len(triangles) if count is None else count) + body


def library(triangles, mode):
    made, out = mesh.Mesh(numpy.zeros(len(triangles), dtype=mesh.Mesh.dtype)), io.BytesIO()
    made.vectors[:] = triangles
    made.save("golden", fh=out, mode=mode)
    data = out.getvalue()
    # The library writes its version and the time into the first bytes.
    return b"numpy-stl (golden)".ljust(80) + data[80:] if mode == stl.Mode.BINARY else data


def make():
    ball = sphere()
    closed = binary(ball)
    save("stl", "closed.stl", closed, title="COLOR=golden", unverified="0-80", unchecked=0)
    save("stl", "library.stl", library(ball, stl.Mode.BINARY), title="numpy-stl (golden)", unchecked=0)
    # Normals as long as the triangle is large; with a remark of zeros they would mean nothing.
    def scaled(head):
        return binary(ball, head)[:84] + b"".join(struct.pack("<12fH", 1e-32, -7, 300, *(v for corner in t for v in corner), 0) for t in ball)
    save("stl", "normals.stl", scaled(b"numpy-stl (golden)"), unchecked=0)
    save("stl", "normals-zeros.stl", scaled(b""), verdict="reject", why="no triangle at 84")
    text = library(ball[:40], stl.Mode.ASCII)
    save("stl", "text.stl", text, sequence="yes", unchecked=0)
    save("stl", "solid.stl", binary(ball, b"solid golden"), unchecked=0)
    for name, triangles in (("open", ball[:-1]), ("turned", ball[:-1] + [ball[-1][::-1]])):
        data = binary(triangles)
        save("stl", name + ".stl", data, verdict="unverified", length=len(data))
    save("stl", "cut.stl", closed[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("stl", "random.stl", closed[:4096] + noise(9000), verdict="truncated", length_min=4034, length_max=4134)
    save("stl", "zeros.stl", closed[:4096] + bytes(9000), verdict="truncated", length_min=4034, length_max=4184)
    save("stl", "words.stl", closed[:4096] + b"plain words of text " * 500, verdict="truncated", length_min=4034, length_max=4134)
    save("stl", "count.stl", binary(ball, count=0), verdict="reject", why="no triangles at 80")
    save("stl", "prose.stl", b"Created by nobody, for this is text that goes on and on. ".ljust(300, b"x"), verdict="reject")
    # The words read as numbers of a triangle.
    save("stl", "sentence.stl", b"COLOR=blue, and words of text that go on ".ljust(84, b"/") + b"////////////" + b"abcdefghijkl" * 3 + b"// " + b"x" * 900, verdict="reject",
         why="text without a triangle at 0")
    save("stl", "normal.stl", closed[:84] + struct.pack("<f", 1e30) + closed[88:], verdict="reject", why="no triangle at 84")
    save("stl", "text-cut.stl", text[:2000], verdict="truncated", length_min=1900, length_max=2000)
    save("stl", "text-random.stl", text[:2048] + noise(3000), verdict="truncated", length_min=1900, length_max=2048)
    save("stl", "text-loop.stl", text[:2000] + text[2600:], verdict="truncated", length_min=1900, length_max=2000)
    save("stl", "text-other.stl", b"solid ground is what we stand on,\nand not a surface\n" * 9, verdict="reject")
