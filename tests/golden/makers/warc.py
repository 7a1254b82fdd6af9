"""Web archives, record by record."""
from makers.common import PNG, save
from makers.packing import junk, text


def record(kind, content, name=b"urn:uuid:1", extra=b""):
    return b"WARC/1.0\r\nWARC-Type: " + kind + b"\r\nWARC-Record-ID: <" + name + b">\r\n" + extra + b"Content-Length: %d\r\n\r\n" % len(content) + content + b"\r\n\r\n"


def make():
    info = record(b"warcinfo", b"software: golden\r\n", extra=b"WARC-Filename: golden.warc\r\n")
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>" + text(900) + b"</body></html>"
    image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG + junk(700, 1)
    first = info + record(b"response", page, extra=b"WARC-Target-URI: http://example.org/\r\n")
    whole = first + record(b"response", image) + record(b"metadata", b"")
    embedded = [info.index(b"software"), whole.index(b"HTTP/"), whole.index(b"<html>"), whole.rindex(b"HTTP/"), whole.index(b"\x89PNG")]
    end = dict(verdict="unverified", length=len(whole), title="golden.warc", why=f"no record at {len(whole)}, and the number of records is not stored")
    save("warc", "golden.warc", whole, embedded=" ".join(map(str, embedded)), **end)
    save("warc", "random.warc", whole + junk(900, 2), **end)
    start = first.index(b"HTTP/")
    save("warc", "cut.warc", first[:-200], verdict="truncated", length=len(first) - 200, why=f"the image ends at {len(first) - 200}, before the file does")
    save("warc", "overwritten.warc", first[:-200] + junk(3000, 3), verdict="truncated", length=start, why=f"no end of a record's content at {len(first) - 4}")
    save("warc", "header.warc", first + record(b"response", page).replace(b"Record-ID", b"Record-Id-2"), verdict="truncated", length=len(first), why=f"a broken record's header at {len(first)}")
    save("warc", "alone.warc", b"WARC/1.0\r\n" + text(500), verdict="reject", why="no record's header at 0")
    save("warc", "length.warc", info.replace(b"Length: 18", b"Length: 1x"), verdict="reject")
