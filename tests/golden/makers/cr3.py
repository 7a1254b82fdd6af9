"""CR3, box by box; pictures are noise in the frames that they have."""
import struct

from makers.bmff import box, ftyp, full, noise, track, wide
from makers.common import save

CANON = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")


def notes(count):
    return b"".join(struct.pack("<IHH", 28, kind + 1, 0) + noise(20, kind) for kind in range(count))


def camera(samples, shift=0, mdat=wide):
    head = ftyp(b"crx ", b"crx ", b"isom")
    date = b"II*\0" + struct.pack("<IH", 8, 1) + struct.pack("<HHII", 0x132, 2, 20, 26) + bytes(4) + b"2018:02:21 12:08:56\0"
    canon = box(b"uuid", CANON, box(b"CNCV", b"CanonCR3_001/00.09.00/00.00.00"), box(b"CMT1", date), box(b"THMB", bytes(16)))
    codings = (b"CRAW", b"CRAW", b"CTMD")
    offsets = [0, 0, 0]
    for _ in range(2):
        tracks = [track(codings[i], [len(samples[i])], [offsets[i]], wide_offsets=True, fixed=len(samples[i]), visual=i < 2) for i in range(3)]
        moov = box(b"moov", canon, full(b"mvhd", 0, bytes(96)), *tracks)
        xmp = box(b"uuid", XMP, b"<?xpacket begin='' id=''?>")
        at = len(head) + len(moov) + len(xmp) + len(mdat(b"mdat")) + shift
        for i, sample in enumerate(samples):
            offsets[i] = at
            at += len(sample)
    return head + moov + xmp + mdat(b"mdat", *samples), [o - shift for o in offsets], len(head)


def make():
    jpeg = b"\xff\xd8\xff\xdb" + noise(150, 1) + b"\xff\xd9"
    raw = b"\xff\x01\x00\x08" + noise(400, 2)
    samples = [jpeg, raw, notes(4)]
    whole, at, moov = camera(samples)
    date = dict(extension="cr3", time=1519214936)
    save("cr3", "camera.cr3", whole, **date, unverified=f"{at[0] + 4}-{at[1]} {at[1] + 4}-{at[2]}")
    save("cr3", "narrow.cr3", camera(samples, mdat=box)[0], **date)

    cut = whole[:at[1] + 100]
    save("cr3", "cut.cr3", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("cr3", "random.cr3", cut + noise(3000, 7), verdict="truncated", length=at[2], why=f"invalid media data at {at[2]}")
    save("cr3", "wiped.cr3", cut + bytes(3000), verdict="truncated", length_min=len(cut), length_max=at[2])
    save("cr3", "in-jpeg.cr3", whole[:at[0] + 20] + bytes(3000), verdict="truncated", length=at[0] + 20)
    broken = bytearray(whole)
    broken[at[1]] = 0
    save("cr3", "raw-head.cr3", bytes(broken), verdict="truncated", length=at[1])
    moved, at, _ = camera(samples, shift=60)
    save("cr3", "moved.cr3", moved, verdict="truncated", length=at[0] + 60)
    lost = camera(samples)[0].replace(struct.pack(">II", len(samples[2]), 1), struct.pack(">II", len(samples[2]) + 9, 1))
    save("cr3", "outside.cr3", lost, verdict="unverified", length=len(lost))
    save("cr3", "moov-cut.cr3", whole[:moov + 700] + noise(3000, 3), verdict="truncated", length_min=moov + 600, length_max=moov + 700)
    save("cr3", "no-moov.cr3", whole[:moov] + box(b"mdat", noise(100, 8)), verdict="reject")
    save("cr3", "nothing.cr3", whole[:moov] + noise(300, 9), verdict="reject", why=f"no movie box before {moov}")
