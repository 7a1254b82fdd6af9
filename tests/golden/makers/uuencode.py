"""Uuencoded files, line by line."""
import base64, binascii

from makers.common import save
from makers.packing import junk, text


def encoded(data, name=b"golden.bin", mode=b"644", accents=True, end=b"end\n", stripped=False):
    lines = [binascii.b2a_uu(data[i:i + 45], backtick=accents) for i in range(0, len(data), 45)]
    if stripped:
        lines = [line.rstrip() + b"\n" for line in lines]
    return b"begin " + mode + b" " + name + b"\n" + b"".join(lines) + (b"`\n" if accents else b" \n") + end


def make():
    data = junk(3000, 1)
    whole = encoded(data)
    save("uuencode", "file.uu", whole, title="golden.bin", why="")
    save("uuencode", "blanks.uu", encoded(bytes(500) + data, mode=b"0755", accents=False))
    save("uuencode", "stripped.uu", encoded(bytes(500) + data, accents=False, stripped=True))
    save("uuencode", "crlf.uu", whole.replace(b"\n", b"\r\n"))
    save("uuencode", "text.uu", encoded(text(900), name=b"a name.txt"), title="a name.txt")
    in64 = b"begin-base64 600 golden.bin\n" + b"".join(base64.b64encode(data[i:i + 45]) + b"\n" for i in range(0, 3000, 45)) + b"====\n"
    save("uuencode", "base64.uu", in64, title="golden.bin")
    start = whole.rindex(b"\n", 0, 2000) + 1
    save("uuencode", "cut.uu", whole[:2000], verdict="truncated", length=2000, why="the image ends at 2000, before the file does")
    save("uuencode", "random.uu", whole[:2000] + b"\1" + junk(3000, 2), verdict="truncated", length=start, why=f"neither a line of data nor the last one at {start}")
    save("uuencode", "zeros.uu", whole[:2000] + bytes(3000), verdict="truncated", length=start)
    save("uuencode", "words.uu", whole[:start] + b"And now for other words\n" * 9, verdict="truncated", length=start)
    save("uuencode", "other.uu", whole[:start] + whole, verdict="truncated", length=start)
    save("uuencode", "last.uu", whole[:-1], verdict="unverified", length=len(whole) - 1)
    save("uuencode", "no-data.uu", b"begin 644 anew\nWe begin with a text.\nend\n", verdict="reject", why="no line of data at 15")
    save("uuencode", "mode.uu", whole.replace(b"644", b"684"), verdict="reject", why="no first line at 0")
    save("uuencode", "empty.uu", b"begin 644 a\n`\nend\n" + junk(100, 3), verdict="reject")
