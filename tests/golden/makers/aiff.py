"""AIFF, AIFF-C and Amiga's forms: chunk by chunk."""
import struct

from makers.common import save
from makers.sound import id3v2, noise, samples, text_frame


def chunk(kind, data, pad=True):
    return kind + struct.pack(">I", len(data)) + data + bytes(len(data) & 1 and pad)


def form(kind, *chunks):
    body = kind + b"".join(chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body


def comm(frames, channels=2, bits=16, compression=b""):
    rate = b"\x40\x0e\xac\x44" + bytes(6)
    return chunk(b"COMM", struct.pack(">HIH", channels, frames, bits) + rate + compression)


def pcm(frames):
    return b"".join(struct.pack(">h", v) for v in samples(frames))


def make():
    aiff = lambda name, data, **expected: save("aiff", name, data, **{"extension": "aif", **expected})
    data = pcm(1500)
    sound = chunk(b"SSND", bytes(8) + data)
    plain = form(b"AIFF", comm(1500), sound)
    # Nothing shows that samples after a cluster's start are those of this file.
    aiff("clusters.aif", plain, verdict="unverified", length=len(plain), why="the last 6000 bytes cannot be verified")
    short = form(b"AIFF", comm(900), chunk(b"SSND", bytes(8) + pcm(900)))
    aiff("plain.aif", short, unchecked=54, unverified=f"54-{len(short)}")
    named = form(b"AIFF", comm(900), chunk(b"NAME", b"Golden hour"), chunk(b"SSND", bytes(8) + pcm(900)))
    aiff("named.aif", named, title="Golden hour", unchecked=72)
    tagged = form(b"AIFF", comm(200), chunk(b"SSND", bytes(8) + pcm(200)), chunk(b"ID3 ", id3v2(text_frame(b"TIT2", "Gold"))))
    aiff("id3.aif", tagged, title="Gold", embedded=tagged.rindex(b"ID3\3"), sequence="yes", unverified="54-854")
    sowt = comm(200, compression=b"sowt\x0dlittle-endian")
    aiff("sowt.aifc", form(b"AIFC", chunk(b"FVER", b"\xa2\x80\x51\x40"), sowt, chunk(b"SSND", bytes(8) + pcm(200))), unchecked=len(sowt) + 24)
    aiff("ima4.aifc", form(b"AIFC", comm(3, compression=b"ima4\0\0"), chunk(b"SSND", bytes(8) + noise(204))), verdict="unverified",
         why="the last 204 bytes cannot be verified")
    odd = form(b"AIFF", comm(7, 1, 8), chunk(b"SSND", bytes(8) + b"1234567", False))
    aiff("odd.aif", odd + b"\0", length=len(odd) + 1, sequence="yes")
    aiff("odd-padded.aif", form(b"AIFF", comm(7, 1, 8), chunk(b"SSND", bytes(8) + b"1234567")), sequence="yes")
    voice = chunk(b"VHDR", struct.pack(">IIIHBBI", 900, 0, 0, 8000, 1, 0, 65536))
    aiff("voice.iff", form(b"8SVX", voice, chunk(b"BODY", bytes((v + 206) % 256 for v in range(100)) * 9)), extension="iff", unchecked=48)
    bmhd = chunk(b"BMHD", struct.pack(">HHHHBBBBHBBHH", 16, 16, 0, 0, 4, 0, 0, 0, 0, 1, 1, 16, 16))
    aiff("picture.iff", form(b"ILBM", bmhd, chunk(b"CMAP", bytes(48)), chunk(b"BODY", noise(128))), extension="iff", verdict="unverified")
    cut = plain[:3000]
    aiff("cut.aif", cut, verdict="truncated", length=3000)
    aiff("cut-random.aif", plain[:1500] + noise(6000), verdict="truncated", length_min=500, length_max=2600)
    aiff("overwritten.aif", form(b"AIFF", comm(200), chunk(b"SSND", bytes(8) + pcm(200)), chunk(b"ANNO", b"note"))[:500] + noise(500, 2),
         verdict="truncated", length_min=480, length_max=860)
    for at in (5800, 6030):
        aiff(f"late-{at}.aif", plain[:at] + noise(len(plain) - at, 5), verdict="truncated" if at < 5900 else "unverified")
    tagged = form(b"AIFF", comm(200), chunk(b"SSND", bytes(8) + pcm(200)), chunk(b"ID3 ", id3v2(text_frame(b"TIT2", "Gold") * 30)))
    aiff("tag-random.aif", tagged[:-100] + noise(100, 3), verdict="truncated", title="Gold", length_min=len(tagged) - 130, length_max=len(tagged) - 100)
    aiff("chunks.aif", form(b"AIFF", comm(1), chunk(b"SSND", bytes(12)), bytes(30)), verdict="truncated", length=58, why="no chunk at 58")
    aiff("no-sound.aif", form(b"AIFF", comm(0)), verdict="unverified", length=38, why="no chunk SSND before 38")
    aiff("samples.aif", form(b"AIFF", comm(1500), chunk(b"SSND", bytes(8) + pcm(20))), why="fewer samples at 54 than COMM states", unchecked=46)
    aiff("noise.aif", form(b"AIFF", comm(1500), chunk(b"SSND", bytes(8) + noise(6000))), verdict="unverified", length=6054)
    save("aiff", "comm.aif", form(b"AIFF", chunk(b"COMM", bytes(4))), verdict="truncated", length=24, why="COMM is too short at 24")
    save("aiff", "no-comm.aif", form(b"AIFF", sound), verdict="reject")
    save("aiff", "kind.iff", form(b"XXXX", sound), verdict="reject", why="no known IFF form at 0")
    surface, points = chunk(b"SURF", b"golden\0\0\0\0" + noise(600)), chunk(b"PNTS", bytes(i % 120 for i in range(360)))
    polygons = chunk(b"POLS", b"FACE" + noise(700))
    model = form(b"LWO2", chunk(b"TAGS", b"golden\0\0"), points, polygons, surface)
    save("aiff", "model.lwo", model, extension="lwo", verdict="unverified", length=len(model))
    old = form(b"LWOB", points, chunk(b"SRFS", b"golden\0\0"), polygons)
    save("aiff", "old.lwo", old, extension="lwo", verdict="unverified", length=len(old))
