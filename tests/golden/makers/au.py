"""Sun audio: the header by hand."""
import struct

from makers.common import save
from makers.sound import noise, samples


def au(data, note=b"", length=None, encoding=3, rate=44100, channels=2):
    return b".snd" + struct.pack(">IIIII", 24 + len(note), len(data) if length is None else length, encoding, rate, channels) + note + data


def make():
    data = b"".join(struct.pack(">h", v) for v in samples(1200))
    # Nothing shows that samples after a cluster's start are those of this file.
    save("au", "clusters.au", au(data[:4090]), verdict="unverified", length=24 + 4090, why="the last samples before 4114 cannot be verified")
    short = data[:4000]
    save("au", "plain.au", au(short), unchecked=24, unverified=f"24-{len(au(short))}")
    save("au", "note.au", au(short, b"Golden hour\0\0\0\0\0"), title="Golden hour", unchecked=40)
    save("au", "ulaw.au", au(bytes(range(100, 160)) * 20, encoding=1, rate=8000, channels=1), unchecked=24)
    save("au", "unknown.au", au(data, length=0xFFFFFFFF), verdict="unverified", length=len(data) + 24)
    save("au", "unknown-random.au", au(data, length=0xFFFFFFFF) + noise(6000), verdict="unverified", length_min=len(data) - 1000,
         length_max=len(data) + 1100)
    save("au", "cut.au", au(data)[:2000], verdict="truncated", length=2000)
    save("au", "cut-random.au", au(data * 2)[:3000] + noise(6600), verdict="truncated", length_min=2000, length_max=4100)
    plain = au(data)
    for at in (1200, 2200):
        save("au", f"late-{at}.au", plain[:at] + noise(len(plain) - at, 5), verdict="truncated", length_min=at - 40, length_max=at + 80)
    quiet = b"".join(struct.pack(">h", round(v * (1 - i / 1200))) for i, v in enumerate(samples(1200)))
    wiped = au(quiet)[:2048]
    save("au", "wiped.au", wiped + bytes(len(quiet) + 24 - 2048), verdict="unverified", length=len(quiet) + 24,
         why=f"the last samples before {len(quiet) + 24} cannot be verified")
    loud = au(data)[:4096]
    save("au", "wiped-cluster.au", loud + bytes(len(data) + 24 - 4096), verdict="truncated", length=4096)
    save("au", "adpcm.au", au(noise(900), encoding=23), verdict="unverified", length=924)
    save("au", "noise.au", au(noise(6000)), verdict="unverified", length=6024)
    save("au", "encoding.au", au(data, encoding=28), verdict="reject", why="impossible fields at 4")
    save("au", "rate.au", au(data, rate=3), verdict="reject", why="impossible fields at 4")
    save("au", "note-random.au", au(data, noise(40)), verdict="reject", why="the note at 24 is not text")
