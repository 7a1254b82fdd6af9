"""AMR: frames by hand around noise. Nothing says where such a file ends."""
from makers.common import save
from makers.sound import noise

NARROW = [12, 13, 15, 17, 19, 20, 26, 31, 5]
WIDE = [17, 23, 32, 36, 40, 46, 50, 58, 60, 5]


def frames(lens, types):
    return b"".join(bytes([t << 3 | 4]) + noise(lens[t], i) for i, t in enumerate(types))


def make():
    def guess(name, data, junk=b"", extension="amr"):
        save("amr", name, data + junk, verdict="unverified", length=len(data), extension=extension,
             why=f"no frame at {len(data)}, and the number of frames is not stored")

    narrow = b"#!AMR\n" + frames(NARROW, [7, 8, 7, 5, 0, 4] * 12)
    guess("narrow.amr", narrow)
    guess("wide.awb", b"#!AMR-WB\n" + frames(WIDE, [8, 9, 2] * 20), extension="awb")
    guess("no-data.amr", b"#!AMR\n" + frames(NARROW, [7] * 20) + b"\x7c" + frames(NARROW, [7] * 20))
    guess("channels.amr", b"#!AMR_MC1.0\n\0\0\0\2" + frames(NARROW, [7, 7] * 20))
    guess("zeros.amr", narrow, bytes(2000))
    guess("ones.amr", narrow, b"\xff" * 500)
    guess("text.amr", narrow, b"A text behind it. " * 20)
    guess("other-type.amr", narrow, bytes([1 << 3 | 4]) + noise(400))
    cut = narrow[:-9]
    save("amr", "cut.amr", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, within a frame")
    save("amr", "few.amr", b"#!AMR\n" + frames(NARROW, [7, 7]) + b"\xff" * 90, verdict="reject", why="no frame at 70")
