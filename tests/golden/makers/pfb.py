"""Type 1 fonts in binary form: the text and what is encrypted are made up."""
import random, struct

from makers.common import save

TEXT = b"%!PS-AdobeFont-1.0: Golden 001.001\n11 dict begin\n/FullName (Golden Roman) readonly def\n/FontName /Golden def\ncurrentfile eexec\n"
TAIL = (b"0" * 64 + b"\n") * 8 + b"cleartomark\n"


def eexec(data, key=55665):
    out = bytearray()
    for byte in data:
        coded = byte ^ key >> 8
        key = ((coded + key) * 52845 + 22719) & 0xffff
        out.append(coded)
    return bytes(out)


def segment(kind, data):
    return struct.pack("<BBI", 0x80, kind, len(data)) + data


def private(length=600, end=b"mark currentfile closefile\n"):
    return b"abcddup /Private 8 dict dup begin\n" + random.Random(3).randbytes(length) + b"end\n" + end


def font(text=TEXT, hidden=None, tail=TAIL, split=None):
    coded = eexec(private() if hidden is None else hidden)
    parts = [coded] if split is None else [coded[:split], coded[split:]]
    return segment(1, text) + b"".join(segment(2, p) for p in parts) + segment(1, tail) + b"\x80\3"


def make():
    title = dict(title="Golden Roman")
    save("pfb", "plain.pfb", font(), **title)
    save("pfb", "split.pfb", font(split=300), **title)
    save("pfb", "name.pfb", font(TEXT.replace(b"/FullName (Golden Roman)", b"/Weight (Bold)")), title="Golden")
    save("pfb", "old.pfb", font(b"%!FontType1-1.0: G\r/FontName /Old\rcurrentfile eexec\r", tail=TAIL.replace(b"\n", b"\r\n")), title="Old")
    save("pfb", "no-tail.pfb", segment(1, TEXT) + segment(2, eexec(private())) + b"\x80\3", **title)
    plain = font()
    middle = 6 + len(TEXT)
    tail = plain.rindex(b"\x80\1")
    open_ = font(hidden=private(end=b"mark\n"))
    save("pfb", "not-closed.pfb", open_, verdict="unverified", length=len(open_), why=f"no closefile in the encrypted segments from {middle} on", **title)
    save("pfb", "cut.pfb", plain[:500], verdict="truncated", length=500, why="the image ends at 500, before the file does", **title)
    save("pfb", "cut-mark.pfb", plain[:-2], verdict="truncated", length=len(plain) - 2)
    save("pfb", "random.pfb", plain[:500] + random.Random(4).randbytes(2000), verdict="truncated", length=middle, why=f"no segment after the one at {middle}")
    bad = bytearray(plain)
    bad[tail + 20] = 3
    save("pfb", "tail-text.pfb", bytes(bad), verdict="truncated", length=tail + 20, why=f"not text at {tail + 20}")
    bad = bytearray(plain)
    bad[tail + 1] = 4
    save("pfb", "kind.pfb", bytes(bad), verdict="truncated", length=tail, why=f"no segment at {tail}")
    bad = bytearray(plain)
    bad[40] = 1
    save("pfb", "text.pfb", bytes(bad), verdict="reject", why="not text at 40")
    save("pfb", "binary-first.pfb", segment(2, TEXT), verdict="reject", why="no segment at 0")
    save("pfb", "head.pfb", segment(1, b"no font"), verdict="reject", why="no font text at 6")
