"""Palm databases with made-up books."""
import random, struct

from makers.common import save

EPOCH = 2082844800
TIME = 1709251198


def database(records, kind=b"BOOKMOBI", created=TIME + EPOCH, name=b"golden-book"):
    at = 78 + 8 * len(records) + 2
    header = name.ljust(32, b"\0") + struct.pack(">HHIIIIII", 0, 0, created, created, 0, 0, 0, 0) + kind + struct.pack(">II", 0, 0)
    header += struct.pack(">H", len(records))
    for i, record in enumerate(records):
        header += struct.pack(">II", at, i)
        at += len(record)
    return header + b"\0\0" + b"".join(records)


def first(version=6, title=b"A golden book", packing=2, text_len=8000):
    record = struct.pack(">HHIHHHH", packing, 0, text_len, 2, 4096, 0, 0)
    header = b"MOBI" + struct.pack(">IIIII", 232, 2, 65001, 1, version)
    header = header.ljust(68, b"\0") + struct.pack(">II", 16 + 232, len(title))
    return record + header.ljust(232, b"\0") + title + bytes(8)


def make():
    rng = random.Random(1)
    text = [rng.randbytes(400), rng.randbytes(300)]
    end = b"\xe9\x8e\x0d\x0a"
    whole = database([first()] + text + [end])
    save("mobi", "book.mobi", whole, title="A golden book", time=TIME)
    save("mobi", "kindle.azw3", database([first(8)] + text + [end]), extension="azw3", title="A golden book")
    save("mobi", "unix.mobi", database([first()] + text + [end], created=TIME), time=TIME)
    plain = struct.pack(">HHIHHI", 2, 0, 8000, 2, 4096, 0)
    palm = database([plain] + text, b"TEXtREAd")
    save("mobi", "palm.pdb", palm + b"\1" * 50, verdict="unverified", length=len(palm) + 50, extension="pdb", title="golden-book")
    # Text as it is, and packed: bytes, a blank and a letter, a copy, bytes that follow a count.
    words = (b"A golden hour, told in full. " * 300)[:5000]
    packed = lambda n: (b"ab\xc3\x80\x10\x03\x80\x81\x82" * (n // 10 + 1))[:n // 10 * 9] + b"z" * (n % 10)
    for name, packing, records in (("plain", 1, [words[:4096], words[4096:]]), ("packed", 2, [packed(4096), packed(904)])):
        told = database([struct.pack(">HHIHHI", packing, 0, 5000, 2, 4096, 0)] + records, b"TEXtREAd")
        save("mobi", f"palm-{name}.pdb", told + b"\x81" * 900, verdict="unverified", length=len(told), extension="pdb",
             why=f"nothing verifies the last record, at {len(told) - len(records[1])}")
    save("mobi", "cut.mobi", whole[:-200], verdict="truncated", length=len(whole) - 200, title="A golden book")
    start = 78 + 8 * 4 + 2
    save("mobi", "overwritten.mobi", whole[:-200] + b"\1" * 900, verdict="truncated", length=start + 16, why=f"no last record at {len(whole) - 4}")
    wrong = bytearray(whole)
    wrong[78 + 8 + 3] = 1
    wrong[78 + 8 + 2] = 0
    save("mobi", "back.mobi", bytes(wrong), verdict="reject", why="record offsets that do not rise in the list at 78")
    wrong = bytearray(whole)
    wrong[80] = 9
    save("mobi", "place.mobi", bytes(wrong), verdict="reject", why="the first record does not follow the list at 78")
    save("mobi", "packing.mobi", database([first(packing=9)] + text + [end]), verdict="reject", why="an unknown text compression in the first record")
    save("mobi", "no-header.mobi", whole.replace(b"MOBI\0\0\0\xe8", b"XXXX\0\0\0\xe8"), verdict="reject", why="no Mobipocket header in the first record")
    save("mobi", "one-record.mobi", database([end]), verdict="reject", why="fewer than two records at 76")
    save("mobi", "other.pdb", database([first(), end], b"DATAPlkr"), verdict="reject", why="not a book's database type at 60")
    save("mobi", "name.mobi", b"x" * 32 + whole[32:], verdict="reject", why="an unterminated name at 0")
