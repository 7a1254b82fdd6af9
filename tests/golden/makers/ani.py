"""Animated cursors, by hand."""
import re, struct

from makers.common import save
from makers.ico import bitmap, icon
from makers.webp import chunk


def header(frames, flags=1):
    return chunk(b"anih", struct.pack("<9I", 36, frames, frames, 0, 0, 0, 0, 10, flags))


def ani(*chunks, size=0):
    body = b"ACON" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) + size) + body


def frames(count):
    return chunk(b"LIST", b"fram" + b"".join(chunk(b"icon", icon([(16, 16, 0, bitmap(16, 16, 4))], kind=2)) for _ in range(count)))


def make():
    info = chunk(b"LIST", b"INFO" + chunk(b"INAM", b"A golden cursor\0") + chunk(b"IART", b"nobody\0"))
    rate = chunk(b"rate", struct.pack("<3I", 5, 6, 7)) + chunk(b"seq ", struct.pack("<3I", 0, 1, 2))
    whole = ani(info, header(3), rate, frames(3))
    first = whole.index(b"icon") + 8 + 40
    save("ani", "titled.ani", whole, title="A golden cursor", unchecked=12, embedded=" ".join(str(m.end() + 4) for m in re.finditer(b"icon", whole)))
    save("ani", "plain.ani", ani(header(2), frames(2)), unchecked=20, unverified="138-394 464-720")
    bare = chunk(b"LIST", b"fram" + chunk(b"icon", bytes(range(128))))
    save("ani", "bare.ani", ani(header(1, 0), bare), verdict="unverified", length=204, why="the last frame, before 204: nothing verifies its pixels")
    masked = ani(header(1), chunk(b"LIST", b"fram" + chunk(b"icon", icon([(32, 30, 0, bitmap(32, 30, 32))], kind=2))))
    save("ani", "mask-cluster.ani", masked, verdict="unverified", length=len(masked),
         why=f"the last frame, before {len(masked)}: nothing verifies the last pixels of the last image")
    save("ani", "cut.ani", whole[:900], verdict="truncated", length=900, why="the image ends at 900, before the file does")
    second = whole.index(b"icon", first) + 8
    save("ani", "zeros-behind.ani", whole[:second] + bytes(2000), verdict="truncated", length=second, why=f"no header of an icon at {second}")
    other = ani(header(3), frames(2))
    save("ani", "frames.ani", other, verdict="unverified", length=len(other), why="anih counts 3 frames, found 2")
    none = ani(header(3), chunk(b"JUNK", bytes(20)))
    save("ani", "no-frames.ani", none, verdict="truncated", length_min=20, length_max=len(none), why=f"no frames at {len(none)}")
    save("ani", "no-header.ani", ani(frames(2)), verdict="reject")
    save("ani", "short-header.ani", ani(chunk(b"anih", bytes(30)), frames(2)), verdict="reject")
    save("ani", "form.ani", b"RIFF\x20\0\0\0ACOM" + bytes(60), verdict="reject", why="no header of an animated cursor at 0")
    junk = ani(header(2), frames(2) + b"\0" * 40)
    save("ani", "no-chunk.ani", junk, verdict="truncated", length=len(junk) - 40, why=f"no chunk at {len(junk) - 40}")
