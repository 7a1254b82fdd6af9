"""DjVu: forms and chunks with made-up data."""
import random, struct

from makers.common import save


def chunk(kind, data):
    return kind + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)


def form(kind, *chunks):
    data = kind + b"".join(chunks)
    return b"FORM" + struct.pack(">I", len(data)) + data


def page(seed):
    rng = random.Random(seed)
    return form(b"DJVU", chunk(b"INFO", struct.pack(">HHBBHBB", 100, 120, 24, 0, 300, 22, 1)), chunk(b"Sjbz", rng.randbytes(301)),
                chunk(b"BG44", rng.randbytes(200)), chunk(b"TXTz", rng.randbytes(40)))


def make():
    one = b"AT&T" + page(1)

    def unverified(name, data, length):
        save("djvu", name, data, verdict="unverified", length=len(data),
             why=f"the last chunk's data from {len(data) - length} on cannot be verified")

    unverified("page.djvu", one, 40)
    pages = b"AT&T" + form(b"DJVM", chunk(b"DIRM", bytes(20)), form(b"DJVI", chunk(b"ANTz", b"abc")), page(2), page(3))
    unverified("pages.djvu", pages, 40)
    few = b"AT&T" + form(b"DJVM", chunk(b"DIRM", bytes(20)), page(2), form(b"DJVI", chunk(b"ANTz", b"abcd")))
    save("djvu", "few.djvu", few, unchecked=len(few) - 48)
    odd = b"AT&T" + form(b"DJVU", chunk(b"INFO", bytes(10)), chunk(b"Sjbz", b"x" * 99)[:-1])
    unverified("odd.djvu", odd, 99)
    last = one.index(b"BG44")
    save("djvu", "cut.djvu", one[:last + 50], verdict="truncated", length=last + 50)
    save("djvu", "overwritten.djvu", one[:last - 5] + b"\1" * 900, verdict="truncated", length=one.index(b"Sjbz"))
    longer = one[:last + 4] + b"\0\0\1\0" + one[last + 8:]
    save("djvu", "longer.djvu", longer, verdict="truncated", length=one.index(b"Sjbz"),
         why=f"no chunk at {last + 8 + 256}" if last + 8 + 256 + 8 <= len(one) else f"a chunk longer than its form at {last}")
    save("djvu", "nested.djvu", one[:last] + b"FORM" + one[last + 4:], verdict="truncated", length=last, why=f"a form of an unknown kind at {last}")
    save("djvu", "text.djvu", b"AT&TFORM and others were companies.", verdict="reject", why="no DjVu form at 0")
    save("djvu", "zeros.djvu", one[:16] + bytes(900), verdict="reject")
