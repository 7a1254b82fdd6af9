"""Safari's cookies, page by page."""
import plistlib, random, struct

from makers.common import save


def cookie(n):
    texts = b"example.org\0" + b"session%d\0" % n + b"/\0" + b"value" * (n % 5 + 1) + b"\0"
    return struct.pack("<IIIIIIII", 56 + len(texts), 0, 1, 0, 56, 68, 77, 79) + bytes(8) + struct.pack("<dd", 7e8, 6e8) + texts


def page(count):
    cookies = [cookie(n) for n in range(count)]
    at, offsets = 12 + 4 * count, b""
    for data in cookies:
        offsets += struct.pack("<I", at)
        at += len(data)
    return struct.pack(">I", 0x100) + struct.pack("<I", count) + offsets + bytes(4) + b"".join(cookies)


def cookies(pages, listed=True):
    tail = plistlib.dumps({"NSHTTPCookieAcceptPolicy": 2}, fmt=plistlib.FMT_BINARY)
    out = b"cook" + struct.pack(">I", len(pages)) + b"".join(struct.pack(">I", len(p)) for p in pages) + b"".join(pages)
    total = sum(p[i] for p in pages for i in range(0, len(p), 4))
    return out + struct.pack(">II", total, 0x07172005) + (struct.pack(">I", len(tail)) + tail if listed else b"")


def make():
    pages = [page(3), page(5), page(1)]
    data = cookies(pages)
    save("binarycookies", "three.binarycookies", data, sequence="yes")
    save("binarycookies", "no-list.binarycookies", cookies(pages, False))
    save("binarycookies", "list-cut.binarycookies", data[:-9], verdict="truncated", length=len(cookies(pages, False)), why=f"the image ends at {len(data) - 9}, before the file does")
    second = 8 + 12 + len(pages[0])
    cut = second + 100
    save("binarycookies", "cut.binarycookies", data[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    third = second + len(pages[1])
    for name, fill in (("wiped", bytes(3000)), ("random", random.Random(1).randbytes(3000)), ("erased", b"\xff" * 3000)):
        save("binarycookies", name + ".binarycookies", data[:third] + fill, verdict="truncated", length=third, why=f"no page at {third}")
    mark = third + len(pages[2])
    save("binarycookies", "mark.binarycookies", data[:mark] + bytes(100), verdict="truncated", length=mark,
         why=f"no mark after the pages, at {mark}")
    save("binarycookies", "first.binarycookies", data[:20] + bytes(400), verdict="reject", why="no page after the header")
    save("binarycookies", "count.binarycookies", b"cook\1\0\0\0" + data[8:], verdict="reject", why="no header")
