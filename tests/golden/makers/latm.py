"""AAC in LOAS and LATM: frames by hand around noise."""
from makers.common import save
from makers.sound import noise


def frame(number, config=True, kind=2, rate=4, length=40):
    data = bytes(b % 127 for b in noise(length, number))
    if config:
        bits = f"0010000000000000{kind:05b}{rate:04b}0010000"
        data = int(bits, 2).to_bytes(4, "big") + data
    else:
        data = bytes([0x80 | data[0]]) + data[1:]
    return bytes([0x56, 0xE0 | len(data) >> 8, len(data) & 0xFF]) + data


def frames(count, every=4, **options):
    return b"".join(frame(i, i % every == 0, length=30 + i % 9, **options) for i in range(count))


def make():
    def guess(name, data, length=None):
        length = length or len(data)
        save("latm", name, data, verdict="unverified", length=length, why=f"no frame at {length}, and the number of frames is not stored")

    guess("plain.latm", frames(20))
    guess("each.latm", frames(20, every=1))
    guess("bands.latm", frames(6, kind=5, rate=7))
    for name, junk in (("random", noise(900, 3)), ("zeros", bytes(900)), ("other", frames(9, rate=11))):
        guess(f"followed-{name}.latm", frames(20) + junk, len(frames(20)))
    data = frames(20)[:-10]
    save("latm", "cut.latm", data, verdict="truncated", length=len(data))
    save("latm", "few.latm", frames(4) + noise(50), verdict="reject", why=f"no frame at {len(frames(4))} after 4 others")
    for name, data in (("kind", frames(9, kind=17)), ("no-config", frame(0, False) + frames(9))):
        save("latm", name + ".latm", data, verdict="reject", why="no AAC configuration at 3")
