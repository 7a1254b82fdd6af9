"""Monkey's Audio: headers and tables by hand around noise, before 3.98 and since."""
import hashlib, struct

from makers.common import save
from makers.sound import ape_tag, id3v1, id3v2, noise, text_frame


def new(frame_lens=(3000, 2500, 2000), wav=b"RIFF" + bytes(40), tail=b"tail", md5=None, audio=None):
    start = 52 + 24 + 4 * len(frame_lens) + len(wav)
    table = b"".join(struct.pack("<I", start + sum(frame_lens[:i])) for i in range(len(frame_lens)))
    head = b"MAC " + struct.pack("<HHIIIIIII", 3990, 0, 52, 24, len(table), len(wav), sum(frame_lens), 0, len(tail))
    header = struct.pack("<HHIIIHHI", 2000, 0, 73728 * 4, 1000, len(frame_lens), 16, 2, 44100)
    audio = wav + (audio or noise(sum(frame_lens), 4)) + tail
    return head + (md5 or hashlib.md5(audio + header + table).digest()) + header + table + audio


def old(frame_lens=(3000, 2500, 2000), version=3950, flags=0, wav=b"RIFF" + bytes(40)):
    start = 32 + 4 * bool(flags & 4) + 4 * bool(flags & 16) + 4 * len(frame_lens) + len(wav)
    head = b"MAC " + struct.pack("<HHHHIIIII", version, 2000, flags, 2, 44100, len(wav), 0, len(frame_lens), 1000)
    head += bytes(4 * bool(flags & 4)) + (struct.pack("<I", len(frame_lens)) if flags & 16 else b"")
    table = b"".join(struct.pack("<I", start + sum(frame_lens[:i])) for i in range(len(frame_lens)))
    return head + wav + table + noise(sum(frame_lens), 6)


def make():
    ape = lambda name, data, **expected: save("ape", name, data, **{"extension": "ape", **expected})
    whole = new()
    ape("new.ape", whole, unverified="none", embedded=88)
    ape("no-md5.ape", new(md5=bytes(16)), unchecked=132, unverified=f"88-{len(whole)}")
    changed = bytearray(whole)
    changed[5000] ^= 1
    ape("md5.ape", bytes(changed), verdict="unverified", length=len(whole), why=f"the MD5 of the audio before {len(whole)} is wrong")
    changed = whole[:5000] + noise(len(whole) - 5000, 8)
    ape("random.ape", changed, verdict="unverified", length=len(whole), why=f"the MD5 of the audio before {len(whole)} is wrong")
    silence = struct.pack("<I", 0) * 1500
    quiet = new((6000, 500, 500), audio=silence + noise(1000, 4))
    ape("silence.ape", quiet)
    ape("silence-md5.ape", quiet[:36] + bytes(15) + b"\1" + quiet[52:], verdict="truncated", length_min=132, length_max=1200)
    ape("new-tagged.ape", whole + ape_tag(), title="Golden hour", sequence="yes")
    save("mp3", "ape.ape", id3v2(text_frame(b"TIT2", "Gold")) + whole, title="Gold", extension="ape")
    for name, flags in (("old", 0), ("old-seek", 16), ("old-peak-seek", 20)):
        ape(f"{name}.ape", old(flags=flags) + ape_tag(), title="Golden hour", verdict="unverified", length=len(old(flags=flags) + ape_tag()),
            embedded=32 + 4 * bool(flags & 4) + 4 * bool(flags & 16))
    ape("old-id3v1.ape", old() + id3v1(), title="Golden hour", verdict="unverified", length=len(old()) + 128)
    last = len(old()) - 2000
    ape("old-guess.ape", old() + bytes(5000), verdict="unverified", length=last + 3000,
        why=f"the last frame starts at {last}, and its length is not stored")
    ape("cut.ape", whole[:5000], verdict="truncated", length=5000)
    ape("cut-zeros.ape", whole[:5000] + bytes(4000), verdict="truncated", length_min=4000, length_max=6000)
    ape("old-cut.ape", old()[:1000], verdict="truncated", length=1000)
    wrong = bytearray(whole)
    wrong[80:84] = bytes(4)
    ape("table.ape", bytes(wrong), verdict="truncated", length=76, why="the table of frames at 76 does not rise")
    save("ape", "header.ape", whole[:52] + bytes(24) + whole[76:], verdict="reject", why="an impossible header at 0")
    save("ape", "no-sound.ape", new((), b"", b"") + noise(99), verdict="reject")
