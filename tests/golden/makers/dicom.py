"""DICOM files, element by element."""
import random, struct, zlib

from makers.common import save

PREFIX = "1.2.840.10008."
LONG = (b"OB", b"OW", b"SQ", b"UN", b"UT")
IMPLICIT, EXPLICIT, DEFLATED, BIG, JPEG = "1.2", "1.2.1", "1.2.1.99", "1.2.2", "1.2.4.50"


def element(tag, vr, value, coding=EXPLICIT, length=None):
    order = ">" if coding == BIG else "<"
    if len(value) % 2:
        value += b"\0" if vr in (b"UI", b"OB") else b" "
    length = len(value) if length is None else length
    head = struct.pack(order + "HH", tag >> 16, tag & 0xffff)
    if coding == IMPLICIT:
        return head + struct.pack("<I", length) + value
    if vr in LONG:
        return head + vr + bytes(2) + struct.pack(order + "I", length) + value
    return head + vr + struct.pack(order + "H", length) + value


def bare(tag, length, coding=EXPLICIT):
    return struct.pack(">HHI" if coding == BIG else "<HHI", tag >> 16, tag & 0xffff, length)


ITEM, ITEM_END, SEQUENCE_END = 0xfffee000, 0xfffee00d, 0xfffee0dd
OPEN = 0xffffffff


def head(syntax, group_length=True):
    data = element(0x20001, b"OB", b"\0\1") + element(0x20002, b"UI", (PREFIX + "5.1.4.1.1.2").encode())
    if syntax:
        data += element(0x20010, b"UI", (PREFIX + syntax).encode())
    return bytes(128) + b"DICM" + (element(0x20000, b"UL", struct.pack("<I", len(data))) if group_length else b"") + data


def start(coding, kind="5.1.4.1.1.2"):
    u16 = lambda n: struct.pack(">H" if coding == BIG else "<H", n)
    return (element(0x80016, b"UI", (PREFIX + kind).encode(), coding) + element(0x80020, b"DA", b"20040229", coding) +
            element(0x80030, b"TM", b"235958.12", coding) + element(0x81030, b"LO", b"Brain", coding) +
            element(0x81111, b"SQ", bare(ITEM, OPEN, coding) + element(0x81150, b"UI", b"1.2", coding) + bare(ITEM_END, 0, coding) +
                    bare(SEQUENCE_END, 0, coding), coding, OPEN) +
            element(0x280010, b"US", u16(4), coding) + element(0x280011, b"US", u16(6), coding))


def pieces(*datas):
    out = bare(ITEM, 0)
    for data in datas:
        out += bare(ITEM, len(data)) + data
    return element(0x7fe00010, b"OB", out + bare(SEQUENCE_END, 0), EXPLICIT, OPEN)


def make():
    rng = random.Random(8)
    pixels = rng.randbytes(24)
    facts = dict(title="Brain", time=1078099198)
    for name, coding in (("implicit", IMPLICIT), ("explicit", EXPLICIT), ("big-endian", BIG)):
        save("dicom", name + ".dcm", head(coding) + start(coding) + element(0x7fe00010, b"OW", pixels, coding), **facts)
    coded = head(JPEG) + start(JPEG) + pieces(rng.randbytes(300), rng.randbytes(90))
    save("dicom", "coded.dcm", coded, **facts)
    save("dicom", "no-group-length.dcm", head(JPEG, False) + start(JPEG) + pieces(rng.randbytes(60)), **facts)
    save("dicom", "no-syntax.dcm", head(None) + start(IMPLICIT) + element(0x7fe00010, b"OW", pixels, IMPLICIT), **facts)
    save("dicom", "lying-syntax.dcm", head(EXPLICIT) + start(IMPLICIT) + element(0x7fe00010, b"OW", pixels, IMPLICIT), **facts)
    nested = b""
    for _ in range(20):
        nested = element(0x91001, b"UN", bare(ITEM, OPEN) + nested + bare(ITEM_END, 0) + bare(SEQUENCE_END, 0), IMPLICIT, OPEN)
    unknown = element(0x91001, b"UN", bare(ITEM, OPEN) + nested + bare(ITEM_END, 0) + bare(SEQUENCE_END, 0), EXPLICIT, OPEN)
    save("dicom", "nested.dcm", head(EXPLICIT) + start(EXPLICIT)[:-20] + unknown + start(EXPLICIT)[-20:] +
         element(0x7fe00010, b"OW", pixels), **facts)
    body = start(EXPLICIT) + element(0x7fe00010, b"OW", pixels)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = squeeze.compress(body) + squeeze.flush()
    save("dicom", "deflated-crc.dcm", head(DEFLATED) + deflated + struct.pack("<II", zlib.crc32(body), len(body)))
    plain = head(DEFLATED) + deflated
    save("dicom", "deflated.dcm", plain, verdict="unverified", length=len(plain), why=f"a deflated data set without a checksum up to {len(plain)}")
    large = head(EXPLICIT) + start(EXPLICIT) + element(0x7fe00010, b"OW", rng.randbytes(400))
    save("dicom", "raw.dcm", large, verdict="unverified", length=len(large), why="the last 400 bytes cannot be verified", **facts)
    other = random.Random(10)
    private = element(0x91001, b"OB", other.randbytes(4096 - 60 - len(head(EXPLICIT) + start(EXPLICIT)) - 12))
    crossing = head(EXPLICIT) + start(EXPLICIT)[:-20] + private + start(EXPLICIT)[-20:] + element(0x7fe00010, b"OW", other.randbytes(100))
    save("dicom", "cluster.dcm", crossing, verdict="unverified", length=len(crossing), why="the last 100 bytes cannot be verified", **facts)
    wiped = head(EXPLICIT) + start(EXPLICIT) + element(0x7fe00010, b"OW", random.Random(9).randbytes(4096))
    save("dicom", "zeros-raw.dcm", wiped[:3072] + bytes(len(wiped) - 3072), verdict="truncated", length=3072, why="zeros instead of pixel data at 3072", **facts)
    report = head(EXPLICIT) + start(EXPLICIT, "5.1.4.1.1.88.11")[:-20]
    save("dicom", "report.dcm", report, verdict="unverified", length=len(report),
         why=f"more elements may follow {len(report)}", **facts)

    begin = len(head(JPEG) + start(JPEG))
    cut = coded[:begin + 100]
    save("dicom", "cut.dcm", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    second = begin + 12 + 8 + 8 + 300
    save("dicom", "random.dcm", cut + rng.randbytes(4000), verdict="truncated", length=second, why=f"an invalid sequence at {second}")
    save("dicom", "wiped.dcm", cut + bytes(4000), verdict="truncated", length_min=second, length_max=second)
    for name, coding in (("no-pixels", EXPLICIT), ("no-pixels-implicit", IMPLICIT)):
        short = head(coding) + start(coding)
        save("dicom", name + ".dcm", short + rng.randbytes(4000), verdict="truncated", length=len(short),
             why=f"no element at {len(short)}, and no pixel data before it", **facts)
    deep = b""
    for _ in range(70):
        deep = element(0x91001, b"UN", bare(ITEM, OPEN) + deep + bare(ITEM_END, 0) + bare(SEQUENCE_END, 0), IMPLICIT, OPEN)
    save("dicom", "deep.dcm", head(IMPLICIT) + start(IMPLICIT)[:-20] + deep, verdict="truncated")
    save("dicom", "deflated-broken.dcm", head(DEFLATED) + b"\xff" * 300, verdict="reject", why=f"no deflated data set at {len(head(DEFLATED))}")
    save("dicom", "no-magic.dcm", bytes(128) + b"DICN" + coded[132:], verdict="reject", why="no DICM at 128")
    save("dicom", "nothing.dcm", coded[:132] + rng.randbytes(300), verdict="reject", why="no element of group 2 at 132")
