"""Standard MIDI Files, event by event."""
import struct

from makers.common import save
from makers.sound import noise

END = b"\0\xff\x2f\0"


def chunk(kind, data):
    return kind + struct.pack(">I", len(data)) + data


def head(form, tracks, division=480):
    return chunk(b"MThd", struct.pack(">HHH", form, tracks, division))


def name(text):
    return b"\0\xff\3" + bytes([len(text)]) + text


def notes(count):
    out = b"\0\xc0\x05\0\xe0\0\x40"
    for i in range(count):
        out += bytes([i % 100, 0x90, 40 + i % 40, 90]) + bytes([0x81, 0x10, 40 + i % 40, 0])
    return out


def make():
    midi = lambda file, data, **expected: save("midi", file, data, **expected)
    rich = name(b"Golden hour") + b"\0\xff\x51\3\7\xa1\x20" + b"\0\xf0\3\1\2\xf7" + b"\0\xf7\2\xf3\1" + b"\0\xf2\1\2\0\xf6" + notes(40) + END
    midi("format0.mid", head(0, 1) + chunk(b"MTrk", rich), title="Golden hour")
    tracks = [chunk(b"MTrk", name(b"Golden hour") + END), chunk(b"MTrk", notes(30) + END), chunk(b"MTrk", notes(60) + END)]
    whole = head(1, 3) + b"".join(tracks)
    midi("format1.mid", whole, title="Golden hour")
    midi("format2.mid", head(2, 1, 0xE728) + chunk(b"MTrk", notes(9) + END))
    midi("unknown.mid", head(1, 2) + chunk(b"Cust", b"data") + tracks[0] + chunk(b"MTrx", b"more") + tracks[1], title="Golden hour")
    midi("yamaha.mid", whole + chunk(b"CASM", bytes(30)) + chunk(b"XFIH", bytes(9)), title="Golden hour", sequence="yes")
    endless = head(0, 1) + chunk(b"MTrk", name(b"Gold") + notes(30))
    midi("no-end.mid", endless, verdict="unverified", length=len(endless), title="Gold", why=f"a track before {len(endless)} lacks its end event")
    cut = whole[:-100]
    midi("cut.mid", cut, verdict="truncated", length=len(cut))
    for kind, junk in (("zeros", bytes(3000)), ("ones", b"\xff" * 3000), ("random", noise(3000, 5))):
        midi(f"cut-{kind}.mid", cut + junk, verdict="truncated", length_min=len(cut) - 30, length_max=len(cut) + 60)
    short = head(1, 3) + tracks[0] + tracks[1]
    midi("track-missing.mid", short + noise(50), verdict="truncated", length=len(short), why=f"no chunk at {len(short)}")
    wrong = head(0, 1) + chunk(b"MTrk", notes(9) + b"\0\xf4\0" + notes(9) + END)
    at = 22 + len(notes(9))
    midi("event.mid", wrong, verdict="truncated", length=at, why=f"invalid event at {at}")
    # A message that lacks its last byte; then two of them.
    lacking = lambda times: head(0, 1) + chunk(b"MTrk", notes(9) + (b"\0\xa0\x40" + notes(9)[1:]) * times + END)
    midi("lacking.mid", lacking(1), verdict="unverified", length=len(lacking(1)), why=f"a message lacks a byte at {at + 3}")
    midi("lacking-two.mid", lacking(2), verdict="truncated", length=at, why=f"invalid event at {at}")
    midi("running.mid", head(0, 1) + chunk(b"MTrk", b"\0\x40\x40" + END), verdict="truncated", length=22)
    for file, start in (("format", head(3, 1)), ("tracks", head(0, 2)), ("division", head(0, 1, 0))):
        midi(file + ".mid", start + tracks[1], verdict="reject", why="impossible fields at 8")
    midi("no-chunk.mid", head(0, 1) + b"\xff" * 50, verdict="reject", why="no chunk at 14")
