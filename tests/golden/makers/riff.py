"""RIFF files, chunk by chunk: sound is a slow wave, coded films are noise, or MPEG-4 video by FFmpeg and Xvid."""
import math, random, struct

from makers.common import PNG, save
from makers.mpeg4_frames import FIELDS, FRAMES, WARPED
from makers.webp import chunk


def riff(form, *chunks, head=b"RIFF"):
    body = form + b"".join(chunks)
    return head + struct.pack("<I", len(body)) + body


def lst(kind, *chunks):
    return chunk(b"LIST", kind + b"".join(chunks))


def wave(count, channels=2, order="<"):
    rng = random.Random(3)
    return b"".join(struct.pack(order + "h", int(9000 * math.sin(i / 40)) + rng.randint(-90, 90)) * channels for i in range(count))


def fmt(tag=1, channels=2, bits=16, order="<"):
    align = channels * bits // 8
    return struct.pack(order + "HHIIHH", tag, channels, 8000, 8000 * align, align, bits)


def noise(count, seed):
    return random.Random(seed).randbytes(count)


def film(streams=12, junk=b"", index=True, rec=False, frame=lambda i: noise(60 + 11 * i, i), codec=b"MJPG"):
    """A list of headers, one of streams, and an index."""
    avih = chunk(b"avih", struct.pack("<14I", 40000, 0, 0, 0x10, streams, 0, 1, 0, 64, 48, 0, 0, 0, 0))
    strl = lst(b"strl", chunk(b"strh", b"vids" + codec + bytes(48)), chunk(b"strf", bytes(40)))
    hdrl = lst(b"hdrl", avih, strl, chunk(b"IDIT", b"Wed Nov 15 12:13:20 2023\n\0"))
    chunks = [chunk(b"00dc" if i % 3 else b"01wb", frame(i)) for i in range(streams)]
    if rec:
        chunks = [lst(b"rec ", *chunks[i:i + 3]) for i in range(0, streams, 3)]
    entries, at = b"", 4
    for c in chunks:
        entries += c[:4].replace(b"LIST", b"rec ") + struct.pack("<II", 0x10, at) + c[4:8]
        at += len(c)
    movi = lst(b"movi", *chunks)
    return [hdrl, lst(b"INFO", chunk(b"INAM", b"A film\0")), junk, movi] + ([chunk(b"idx1", entries)] if index else [])


def ima(rng, channels):
    return b"".join(rng.randbytes(2) + bytes([rng.randrange(89), 0]) for _ in range(channels)) + rng.randbytes(60 * channels)


def microsoft(rng, channels):
    return bytes(rng.randrange(7) for _ in range(channels)) + rng.randbytes(63 * channels)


def packets(block, tag, channels):
    """ADPCM whose blocks begin soundly, all of them and up to a cut; the last block can't be told."""
    rng = random.Random(tag)
    head = struct.pack("<HHIIHHHHH", tag, channels, 8000, 8000, 64 * channels, 4, 32, 120, 7) + bytes(28)
    data = b"".join(block(rng, channels) for _ in range(30))
    whole = riff(b"WAVE", chunk(b"fmt ", head), chunk(b"data", data))
    start = len(whole) - len(data)
    save("riff", f"adpcm-{tag}.wav", whole, verdict="unverified", length=len(whole), extension="wav")
    cut = start + 64 * channels * 20
    save("riff", f"adpcm-{tag}-cut.wav", whole[:cut] + noise(len(data), tag + 1), verdict="truncated", extension="wav",
         length_min=cut, length_max=cut + 64 * channels)
    save("riff", f"adpcm-{tag}-other.wav", whole[:start] + noise(len(data), tag + 2), verdict="unverified", length=len(whole), extension="wav")


def voice_packets():
    rng, rates = random.Random(7), {1: 3, 2: 7, 3: 16, 4: 34}
    head = bytes([1, 0]) + bytes(108) + struct.pack("<I", 4) + b"".join(bytes([rates[rate], rate]) for rate in rates) + bytes(28)
    data = b"".join(bytes([rate]) + rng.randbytes(rates[rate]) for rate in (rng.randrange(1, 5) for _ in range(100)))
    whole = riff(b"QLCM", chunk(b"fmt ", head), chunk(b"vrat", struct.pack("<II", 1, 100)), chunk(b"data", data))
    start = len(whole) - len(data) - len(data) % 2
    save("riff", "rates.qcp", whole, extension="qcp")
    save("riff", "rates-cut.qcp", whole[:start + 900] + noise(3000, 8), verdict="truncated", extension="qcp", length_min=start + 860,
         length_max=start + 1100)
    save("riff", "rates-wiped.qcp", whole[:start + 900] + bytes(3000), verdict="truncated", extension="qcp", length_min=start + 860,
         length_max=start + 1100)


def make():
    samples = wave(1000)
    info = lst(b"INFO", chunk(b"INAM", b"A sound\0"), chunk(b"ICRD", b"2023-11-15"))
    plain = riff(b"WAVE", chunk(b"fmt ", fmt()), chunk(b"data", samples))
    save("riff", "plain.wav", plain, extension="wav", unchecked=44, unverified=f"44-{len(plain)}")
    save("riff", "titled.wav", riff(b"WAVE", chunk(b"fmt ", fmt()), chunk(b"data", samples), info), extension="wav", title="A sound", time=1700006400,
         unverified=f"44-{44 + len(samples)}")
    body = b"WAVEfmt " + struct.pack(">I", 16) + fmt(order=">") + b"data" + struct.pack(">I", 2000) + wave(500, order=">")
    save("riff", "big-endian.wav", b"RIFX" + struct.pack(">I", len(body)) + body, extension="wav", unchecked=44)
    lost = bytes(40) + noise(4720, 6) + wave(1300)
    lost = riff(b"WAVE", chunk(b"fmt ", fmt()), chunk(b"data", lost))
    save("riff", "noise-among.wav", lost, verdict="unverified", length=len(lost), extension="wav")
    for name, head in (("long", b"RF64"), ("bw64", b"BW64")):
        data = b"data" + b"\xff" * 4 + samples
        rest = b"WAVE" + b"ds64" + struct.pack("<IQQQI", 28, 4 + 36 + 24 + len(data), len(samples), 1000, 0) + chunk(b"fmt ", fmt()) + data
        save("riff", name + ".wav", head + b"\xff" * 4 + rest, extension="wav", unchecked=80)
    # The length leaves out a chunk.
    fact = riff(b"WAVE", chunk(b"fmt ", fmt()), chunk(b"fact", struct.pack("<I", 1000)), chunk(b"data", samples))
    save("riff", "fact-left-out.wav", fact[:4] + struct.pack("<I", len(fact) - 20) + fact[8:], extension="wav", unchecked=44)
    # Programs append titles and tags that the length leaves out.
    tagged = plain + info + chunk(b"id3 ", b"ID3\3\0\0\0\0\0\x0aTIT2\0\0\0\0\0\0")
    save("riff", "tagged.wav", tagged, extension="wav", sequence="yes", unchecked=44)
    # In the extensible form the coding, here Dolby's, is a GUID.
    dolby = struct.pack("<HHIIHHHHIH", 0xfffe, 1, 8000, 4000, 256, 16, 22, 0, 4, 0x2000) + bytes.fromhex("000000001000800000aa00389b71")
    named = riff(b"WAVE", chunk(b"fmt ", dolby), chunk(b"data", b"\x0b\x77" + noise(2000, 4)))
    save("riff", "extensible.wav", named, verdict="unverified", length=len(named), extension="wav", embedded=named.index(b"\x0b\x77"))
    save("riff", "counts-head.wav", plain[:4] + struct.pack("<I", len(plain)) + plain[8:], extension="wav", unchecked=44)
    avi = riff(b"AVI ", *film())
    save("riff", "film.avi", avi, extension="avi", title="A film", time=1700050400)
    for name, frames in ("mpeg4", FRAMES), ("mpeg4-warped", WARPED), ("mpeg4-fields", FIELDS):
        coded = film(len(frames) * 3 // 2, frame=lambda i: frames[i - i // 3 - 1] if i % 3 else noise(80, i), codec=b"FMP4")
        save("riff", f"{name}.avi", riff(b"AVI ", *coded), extension="avi", title="A film", time=1700050400)
    pictures = riff(b"AVI ", *film(frame=lambda i: PNG + noise(9 * i, i)))
    places = [at for at in range(len(pictures)) if pictures.startswith(PNG, at)]
    save("riff", "pictures.avi", pictures, extension="avi", embedded=" ".join(map(str, places)), title="A film", time=1700050400)
    long = riff(b"AVI ", *film(streams=2203, frame=lambda i: noise(2, i))) # its index is read in steps, but for its end
    save("riff", "film-last-entry.avi", long[:-1] + b"\1", verdict="unverified", length=len(long), extension="avi", title="A film",
         time=1700050400, why="the index does not match the chunks")
    save("riff", "lists.avi", riff(b"AVI ", *film(rec=True, junk=chunk(b"JUNK", bytes(300)))), extension="avi", title="A film", time=1700050400)
    text = b"Made by hand\nEach third a keyframe"
    remark = chunk(b"\0\0\0\0", text)
    remarked = riff(b"AVI ", *film(), lst(b"INFO", remark), lst(b"PRMI", remark))
    save("riff", "remarks.avi", remarked, extension="avi", title="A film", time=1700050400, unchecked=len(remarked) - len(text))
    short = riff(b"AVI ", *film(), lst(b"INFO", remark[:4] + struct.pack("<I", len(text) - 9) + remark[8:]), lst(b"PRMI", remark))
    save("riff", "remark-short.avi", short, verdict="truncated", length_min=len(avi) - 20, length_max=len(avi), why=f"no chunk at {len(avi) + 12}")
    more = riff(b"AVIX", lst(b"movi", *[chunk(b"00dc", noise(90, i)) for i in range(9)]))
    save("riff", "opendml.avi", avi + more, extension="avi", title="A film", time=1700050400, sequence="yes")
    midi = b"MThd" + struct.pack(">IHHH", 6, 0, 1, 96) + b"MTrk" + struct.pack(">I", 4) + b"\0\xff\x2f\0"
    save("riff", "midi.rmi", riff(b"RMID", chunk(b"data", midi)), extension="rmi")
    save("riff", "colours.pal", riff(b"PAL ", chunk(b"data", struct.pack("<HH", 0x300, 8) + bytes(range(32)))), extension="pal", unchecked=20)
    font = riff(b"sfbk", lst(b"INFO", chunk(b"ifil", bytes(4)), chunk(b"INAM", b"Font\0")), lst(b"sdta", chunk(b"smpl", wave(200, 1))),
                lst(b"pdta", chunk(b"phdr", bytes(76)), chunk(b"shdr", b"EOS" + bytes(43))))
    save("riff", "font.sf2", font, extension="sf2", title="Font", unchecked=500, unverified=f"{font.index(b'smpl') + 8}-{font.index(b'smpl') + 408}")
    save("riff", "unknown.riff", riff(b"abcd", chunk(b"one ", bytes(20)), chunk(b"two ", bytes(9))), extension="riff")
    voice = riff(b"QLCM", chunk(b"fmt ", bytes(150)), chunk(b"vrat", bytes(8)), chunk(b"data", noise(900, 4)))
    save("riff", "voice.qcp", voice, verdict="unverified", length=len(voice), extension="qcp")
    packed = riff(b"WAVE", chunk(b"fmt ", fmt(0x11, 1, 4)), chunk(b"data", noise(900, 5)))
    save("riff", "packed.wav", packed, verdict="unverified", length=len(packed), extension="wav")
    packets(ima, 0x11, 3)
    packets(microsoft, 2, 1)
    voice_packets()
    # Recordings that were not closed.
    for name, size, length in (("unclosed", 0, 0), ("piped", 0xffffffff, 0xffffffff)):
        start = b"RIFF" + struct.pack("<I", size) + b"WAVE" + chunk(b"fmt ", fmt()) + b"data" + struct.pack("<I", length) + samples
        save("riff", name + ".wav", start, verdict="unverified", length=len(start))
        save("riff", name + "-random.wav", start + noise(5000, 6), verdict="unverified", length_min=len(start) - 1100, length_max=len(start) + 1100)
    # The rest of their last cluster has zeros, and another file follows; a pause that ends at a cluster, and softly.
    begun = start[:3044].rstrip(b"\0")
    save("riff", "piped-other.wav", begun.ljust(4096, b"\0") + b"Another file begins here. " * 300, verdict="unverified", length=len(begun))
    pause = begun.ljust(4096, b"\0") + b"".join(struct.pack("<h", int(i * math.sin(i / 7))) for i in range(1, 2001))
    save("riff", "piped-pause.wav", pause, verdict="unverified", length=len(pause))

    start = b"RIFF" + struct.pack("<I", 8) + b"WAVE" + chunk(b"fmt ", fmt()) + b"data" + bytes(4)
    save("riff", "not-begun.wav", start + bytes(980) + noise(5000, 6), verdict="unverified", length=len(start) + 980)
    save("riff", "not-begun-wiped.wav", start + bytes(9000), verdict="unverified", length=len(start))
    save("riff", "no-data.wav", riff(b"WAVE", chunk(b"fmt ", fmt() + bytes(4))), verdict="unverified", length=40, why="no samples before 40")

    # Samples of 8 bits, plain and A-law, and sounds that fade to silence.
    for name, data, tag, bits in (("bytes", bytes(128 + int(60 * math.sin(i / 9)) for i in range(2500)), 1, 8),
                                  ("a-law", bytes(0xd5 ^ int(40 + 30 * math.sin(i / 9)) for i in range(2500)), 6, 8),
                                  ("deep", b"".join(struct.pack("<i", int(3e6 * math.sin(i / 30)))[:3] for i in range(900)), 1, 24)):
        whole = riff(b"WAVE", chunk(b"fmt ", fmt(tag, 1, bits)), chunk(b"data", data))
        save("riff", name + ".wav", whole, extension="wav", unchecked=44)
        for kind, junk in (("random", noise(2500, 11)), ("zeros", bytes(2500)), ("text", b"Now for something different. " * 90)):
            for cut in (1000, 1600) if kind == "text" else (1500,):
                wiped = (whole[:cut] + junk)[:len(whole)]
                told = kind == "text"
                save("riff", f"{name}-{kind}-{cut}.wav", wiped, **(dict(verdict="truncated", length_min=cut - 200, length_max=cut + 100) if told else
                                                              dict(verdict="unverified", length=len(whole))))
    tones = b"".join(struct.pack("<h", int(9000 * math.sin(i / 40))) for i in range(1600))
    wide = riff(b"WAVE", chunk(b"fmt ", fmt(1, 1)), chunk(b"data", tones[:1500] + ("Now for something different. " * 30).encode("utf-16-le")))
    save("riff", "wide-text.wav", wide, verdict="truncated", length_min=1540, length_max=1548)
    fading = b"".join(struct.pack("<h", int(9000 * math.sin(i / 40) * max(0, 1 - i / 1200))) for i in range(1600))
    save("riff", "fading.wav", riff(b"WAVE", chunk(b"fmt ", fmt(1, 1)), chunk(b"data", fading)), extension="wav", unchecked=44)
    packed = riff(b"WAVE", chunk(b"fmt ", fmt(0x11, 1, 4)), chunk(b"data", noise(900, 5) + bytes(900)))
    save("riff", "packed-wiped.wav", packed, verdict="unverified", length=len(packed))

    # Damage.
    half = len(plain) // 2
    save("riff", "cut.wav", plain[:half], verdict="truncated", length=half, why=f"the image ends at {half}, before the file does")
    save("riff", "random.wav", plain[:half] + noise(5000, 7), verdict="truncated", length_min=half - 1100, length_max=half + 600)
    for name, junk in (("random", noise(3000, 8)), ("zeros", bytes(3000)), ("text", b"Now for something different. " * 100)):
        place = avi.index(b"movi") + 500
        save("riff", f"{name}-behind.avi", avi[:place] + junk, verdict="truncated", length_min=place - 200, length_max=place)
    unclosed = bytearray(avi)
    unclosed[4:8] = bytes(4)
    at = avi.index(b"movi") - 4
    unclosed[at:at + 4] = bytes(4)
    save("riff", "no-sizes.avi", bytes(unclosed), verdict="truncated")
    index = bytearray(avi)
    index[avi.index(b"idx1") + 8 + 8] += 1
    save("riff", "index.avi", bytes(index), verdict="unverified", length=len(avi), why="the index does not match the chunks")
    index = bytearray(avi)
    index[-32:] = bytes(32) # an entry of an empty chunk has a chunk's id, too
    save("riff", "index-zeros.avi", bytes(index), verdict="unverified", length=len(avi), why="the index does not match the chunks")
    second = (avi + more)[:len(avi) + 300] + noise(2000, 9)
    save("riff", "opendml-cut.avi", second, verdict="truncated", length_min=len(avi), length_max=len(avi) + 300)
    save("riff", "headless.avi", riff(b"AVI ", film()[3]), verdict="reject", why="no format before the data")
    save("riff", "webp.riff", riff(b"WEBP", chunk(b"VP8 ", bytes(20))), verdict="reject", why="a form with its own carver, or a part of a video")
    save("riff", "noise.riff", b"RIFF" + noise(500, 10), verdict="reject")
    save("riff", "empty.wav", plain[:4] + struct.pack("<I", 36) + plain[8:40] + bytes(4), unchecked=8)
    save("riff", "no-data.wav", riff(b"WAVE", chunk(b"fmt ", fmt())), verdict="unverified", length=36, why="no samples before 36")
