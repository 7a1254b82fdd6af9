"""DSF and DSDIFF: the bits are noise."""
import random, struct

from makers.common import save


def noise(length, seed):
    rng = random.Random(seed)
    return bytes(rng.randrange(1, 255) for _ in range(length))


def tag(title="A golden sound", padding=20):
    text = b"\0" + title.encode()
    body = b"TIT2" + struct.pack(">IH", len(text), 0) + text + bytes(padding)
    return b"ID3\3\0\0" + bytes((0, 0, len(body) >> 7, len(body) & 0x7f)) + body


def dsf(used=3000, channels=2, end=b"", bits=1, data=None):
    blocks = (used + 4095) // 4096
    if data is None:
        last = used - 4096 * (blocks - 1)
        data = b"".join(noise(4096 if b < blocks - 1 else last, b * 7 + c).ljust(4096, b"\0") for b in range(blocks) for c in range(channels))
    size = 92 + len(data)
    return struct.pack("<4sQQQ", b"DSD ", 28, size + len(end), size if end else 0) + struct.pack(
        "<4sQIIIIIIQII", b"fmt ", 52, 1, 0, channels, channels, 2822400, bits, used * 8 if bits == 1 else used, 4096, 0) + struct.pack(
        "<4sQ", b"data", 12 + len(data)) + data + end


def chunk(kind, data):
    return kind + struct.pack(">Q", len(data)) + data + bytes(len(data) % 2)


def dff(*chunks):
    body = b"DSD " + chunk(b"FVER", b"\1\5\0\0") + b"".join(chunks)
    return b"FRM8" + struct.pack(">Q", len(body)) + body


def prop(packed=False):
    kind = b"DST \x0bDST Encoded" if packed else b"DSD \x0enot compressed\0"
    return chunk(b"PROP", b"SND " + chunk(b"FS  ", struct.pack(">I", 2822400)) + chunk(b"CHNL", b"\0\1SLFT") + chunk(b"CMPR", kind))


def make():
    save("dsf", "filled.dsf", dsf(1500, 1))
    save("dsf", "tagged.dsf", dsf(4096, 1, tag()), title="A golden sound")
    save("dsf", "bytes.dsf", dsf(2000, 1, bits=8))
    full = dsf(4096, 1)
    save("dsf", "full.dsf", full, verdict="unverified", length=len(full), why=f"the samples before {len(full)} cannot be verified")
    # What some programs write: blocks that are not filled, bytes counted as samples, and a tag's place at the end though there is none.
    short = dsf(1500, 1, data=noise(1500, 3))
    short = short[:20] + struct.pack("<Q", len(short)) + short[28:]
    save("dsf", "unfilled.dsf", short, verdict="unverified", length=len(short), why=f"the samples before {len(short)} cannot be verified")
    counted = dsf(700, 1, tag(), data=noise(5600, 3))
    save("dsf", "counted.dsf", counted, title="A golden sound")
    plain = dsf(1500, 2)
    save("dsf", "cut.dsf", plain[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    save("dsf", "random.dsf", plain[:5000] + noise(len(plain) - 5000, 3), verdict="unverified", length=len(plain))
    save("dsf", "zeros.dsf", plain[:4000] + bytes(len(plain) - 4000), verdict="unverified", length=len(plain))
    lost = dsf(4096, 1, tag())
    save("dsf", "tag-lost.dsf", lost[:4000] + bytes(len(lost) - 4000), verdict="truncated", length=4000, why="no ID3 tag at 4188")
    for where, value, what in ((4, 27, "no DSF chunks"), (12, 1, "a file size that contradicts the data length"), (20, 1, "a file size that contradicts the data length"),
                               (52, 9, "impossible fields"), (60, 2, "impossible fields"), (66, 9, "chunk lengths that contradict the number of samples"),
                               (84, 9, "a file size that contradicts the data length"), (85, 1, "chunk lengths that contradict the number of samples")):
        bad = bytearray(plain[:200])
        bad[where] = value
        save("dsf", f"head-{where}.dsf", bytes(bad), verdict="reject", why=f"{what} at 0")

    bits, text = chunk(b"DSD ", noise(1000, 2)), b"A golden sound"
    title = chunk(b"DIIN", chunk(b"DITI", struct.pack(">I", len(text)) + text))
    save("dff", "titled.dff", dff(prop(), bits, title), title="A golden sound")
    save("dff", "remark.dff", dff(prop(), bits, chunk(b"COMT", struct.pack(">HHBBBBHHI", 1, 2020, 1, 1, 1, 1, 0, 0, 3) + b"odd\0")))
    save("dff", "tagged.dff", dff(prop(), bits, chunk(b"ID3 ", tag())), title="A golden sound")
    frames = chunk(b"FRTE", struct.pack(">IH", 3, 75)) + b"".join(chunk(b"DSTF", noise(n, n)) + chunk(b"DSTC", noise(4, n)) for n in (201, 150, 99))
    save("dff", "packed.dff", dff(prop(True), chunk(b"DST ", frames)))
    save("dff", "indexed.dff", dff(prop(True), chunk(b"DST ", frames), chunk(b"DSTI", bytes(36))))
    plain = dff(prop(), bits)
    save("dff", "plain.dff", plain, verdict="unverified", length=len(plain), why=f"the samples before {len(plain)} cannot be verified")
    long = dff(prop(), chunk(b"DSD ", noise(8000, 2)))
    save("dff", "zeros.dff", long[:2000] + bytes(len(long) - 2000), verdict="truncated", length=2000, why="identical bytes instead of samples at 2000")
    cut = dff(prop(), bits, title)
    save("dff", "cut.dff", cut[:-40], verdict="truncated", length=len(cut) - 40, why=f"the image ends at {len(cut) - 40}, before the file does")
    random_ = cut[:600] + noise(3000, 9)
    at = cut.index(b"DIIN")
    save("dff", "random.dff", random_, verdict="truncated", length=at, why=f"no chunk at {at}")
    bad = bytearray(dff(prop(), bits, chunk(b"COMT", bytes(8))))
    bad[-20] = ord("X")
    save("dff", "kind.dff", bytes(bad), verdict="truncated", length=len(bad) - 20, why=f"corrupt chunk at {len(bad) - 20}")
    bad = bytearray(dff(prop(True), chunk(b"DST ", frames)))
    at = bad.rindex(b"DSTF")
    bad[at] = ord("X")
    save("dff", "frame.dff", bytes(bad), verdict="truncated", length=at, why=f"corrupt chunk at {at}")
    save("dff", "no-sound.dff", dff(prop()), verdict="unverified", length=len(dff(prop())))
    save("dff", "no-prop.dff", dff(bits), verdict="reject", why=f"no chunk PROP before {len(dff(bits))}")
    bad = bytearray(plain)
    bad[12] = ord("X")
    save("dff", "form.dff", bytes(bad), verdict="reject", why="no form at 0")
