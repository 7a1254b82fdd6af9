"""AAC in ADTS: frames by hand around noise."""
from makers.common import save
from makers.sound import id3v1, id3v2, noise, text_frame


def frame(number, channels=2, crc=False, version=0, element=None, length=40):
    element = {1: 0, 2: 1}.get(channels, 0) if element is None else element
    data = bytes([element << 5 | 1]) + bytes(b % 255 for b in noise(length, number))
    size = 7 + 2 * crc + len(data)
    head = bytes([0xFF, 0xF0 | version << 3 | (not crc), 0x40 | 4 << 2 | channels >> 2, (channels & 3) << 6 | size >> 11,
                  size >> 3 & 0xFF, (size & 7) << 5 | 0x1F, 0xFC])
    return head + (b"\x12\x34" if crc else b"") + data


def frames(count, **options):
    return b"".join(frame(i, length=30 + i % 7, **options) for i in range(count))


def make():
    def guess(name, data, length=None):
        length = length or len(data)
        save("adts", name, data, verdict="unverified", length=length, extension="aac",
             why=f"no frame at {length}, and the number of frames is not stored")

    guess("stereo.aac", frames(20))
    guess("mono.aac", frames(20, channels=1))
    guess("mpeg2-crc.aac", frames(20, crc=True, version=1))
    guess("filled.aac", frames(8) + frame(9, element=6) + frames(8))
    for name, junk in (("random", noise(900, 3)), ("zeros", bytes(900)), ("other", frames(9, channels=1))):
        guess(f"followed-{name}.aac", frames(20) + junk, len(frames(20)))
    guess("element.aac", frames(20) + frame(9, element=7) + frames(3), len(frames(20)))
    data = frames(20) + id3v1()
    save("adts", "tagged.aac", data, extension="aac", title="Golden hour", unchecked=len(frames(19)))
    data = frames(20)[:-10]
    save("adts", "cut.aac", data, verdict="truncated", length=len(data), extension="aac")
    save("adts", "few.aac", frames(4) + noise(50), verdict="reject", why=f"no frame at {len(frames(4))} after 4 others")
    data = id3v2(text_frame(b"TIT2", "Gold")) + frames(3)
    save("mp3", "adts.aac", data, verdict="unverified", length=len(data), extension="aac", title="Gold")
