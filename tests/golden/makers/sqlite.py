"""SQLite databases (Python's sqlite3) and their logs; what is damaged, by hand."""
import os, sqlite3, struct, tempfile

from makers.common import save


def database(script, page=512, vacuum=0, after=(), mode="delete"):
    """The file that these statements make; with `mode` "wal" its log."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.db")
        base = sqlite3.connect(path, isolation_level=None)
        base.execute(f"pragma page_size={page}")
        base.execute(f"pragma auto_vacuum={vacuum}")
        if mode == "wal":
            base.execute("pragma journal_mode=wal")
        for line in script:
            base.execute(line)
        for line in after:
            base.execute(line)
        with open(path + ("-wal" if mode == "wal" else ""), "rb") as file:
            data = bytearray(file.read())
        base.close()
    return data


TABLE = ["create table t(a integer primary key, b)", "create index i on t(b)"]


def fill(count, width=30):
    return [f"insert into t values({n}, '{chr(97 + n % 26) * (width + n)}')" for n in range(count)]


def patched(data, at, value):
    data = bytearray(data)
    data[at:at + len(value)] = value
    return data


def make():
    empty = database(["create table t(a)", "drop table t"], page=4096, vacuum=1)
    assert len(empty) == 4096 and not empty[103:105].strip(b"\0")
    for name, value, verdict, why in (("empty", bytes(1024), "complete", ""),
                                      ("empty-text", b"Something else. " * 64, "unverified", "nothing verifies the bytes of the last page, which is empty")):
        save("sqlite", name + ".db", patched(patched(empty, 112, bytes(4096 - 112)), 3072, value), verdict=verdict, length=4096, unchecked=112, why=why)
    small = database(TABLE + fill(12))
    pages = len(small) // 512
    save("sqlite", "table.sqlite", small)
    save("sqlite", "places.sqlite", database(["create table moz_places(a)", "create table moz_historyvisits(a)"] + TABLE + fill(12)), title="Firefox history")
    save("sqlite", "indexed.sqlite", database([f"create table {name}(a)" for name in ("database", "object_store", "object_data")] + TABLE + fill(12)), title="IndexedDB")
    save("sqlite", "no-places.sqlite", database(["create view moz_historyvisits as select 1", "create table moz_places(a)"] + TABLE + fill(12)), title="")
    save("sqlite", "overflow.sqlite", database(TABLE + fill(3, 1200)))
    long = database(TABLE + fill(1, 3000))
    save("sqlite", "overflow-wiped.sqlite", long[:-512] + bytes(512), verdict="unverified", length=len(long), why="zeros in the last page, which is in use")
    # Payloads that overflow, and free pages, are not checked; they are the last ones here.
    free = database(TABLE + fill(8, 300), after=["delete from t where a > 3"])
    save("sqlite", "free.sqlite", free, unchecked=len(free) - 1024)
    save("sqlite", "auto-vacuum.sqlite", database(TABLE + fill(14), vacuum=1))
    save("sqlite", "rowid.sqlite", database(["create table t(a text primary key, b) without rowid", "create view v as select a from t",
                                             "insert into t values('x', 'y')"]))
    save("sqlite", "large-page.sqlite", database(["create table t(a)", "insert into t values('z')"], page=4096), unchecked=8192 - 300)
    # Written before version 3.7.0: no number of pages.
    old = patched(patched(small, 28, bytes(4)), 92, bytes(8))
    save("sqlite", "no-count.sqlite", old)
    cut = 5 * 512 + 100
    save("sqlite", "cut.sqlite", small[:cut], verdict="truncated", length=cut, why=f"the image ends at {cut}, before the file does")
    save("sqlite", "old-cut.sqlite", old[:cut], verdict="truncated", length=cut)
    save("sqlite", "wiped.sqlite", patched(small, 4 * 512, bytes(len(small) - 4 * 512)), verdict="truncated", length=4 * 512)
    save("sqlite", "erased.sqlite", patched(small, 4 * 512, b"\xff" * (len(small) - 4 * 512)), verdict="truncated", length=4 * 512,
         why="page 5 at 2048 has a type that does not fit the reference to it")
    save("sqlite", "text.sqlite", patched(small, 4 * 512 + 40, b"lorem ipsum " * 200)[:len(small)], verdict="truncated", length=4 * 512)
    first_leaf = next(n for n in range(1, pages) if small[n * 512] == 13)
    save("sqlite", "cells.sqlite", patched(small, first_leaf * 512 + 3, b"\x7f\x00"), verdict="truncated", length=first_leaf * 512,
         why=f"page {first_leaf + 1} at {first_leaf * 512} has more cells than there is room for")
    save("sqlite", "fragments.sqlite", patched(small, first_leaf * 512 + 7, b"\x09"), verdict="truncated", length=first_leaf * 512,
         why=f"page {first_leaf + 1} at {first_leaf * 512} has cells and free blocks that do not fill it")
    save("sqlite", "free-count.sqlite", patched(small, 36, b"\0\0\0\1"), verdict="unverified", length=len(small),
         why="the list of free pages is invalid")
    save("sqlite", "page-size.sqlite", patched(small, 16, b"\3\0"), verdict="reject", why="an impossible page size")
    save("sqlite", "fractions.sqlite", patched(small, 21, b"\x41"), verdict="reject", why="impossible versions or fractions")
    save("sqlite", "reserved.sqlite", patched(small, 80, b"\1"), verdict="reject", why="an impossible schema format or encoding")
    save("sqlite", "first-page.sqlite", patched(small, 105, b"\0\1"), verdict="reject")
    make_logs()


def sum_words(data, sums, order):
    for first, second in struct.iter_unpack(order + "II", bytes(data)):
        sums = ((sums[0] + first + sums[1]) & 0xffffffff, sums[1])
        sums = (sums[0], (sums[1] + second + sums[0]) & 0xffffffff)
    return sums


def big_endian_log(log):
    """The same log as a big-endian machine writes it."""
    page, out = struct.unpack_from(">I", log, 8)[0], bytearray()
    head = struct.pack(">I", 0x377f0683) + log[4:24]
    sums = sum_words(head, (0, 0), ">")
    out += head + struct.pack(">II", *sums)
    for at in range(32, len(log), 24 + page):
        data = log[at + 24:at + 24 + page]
        sums = sum_words(data, sum_words(log[at:at + 8], sums, ">"), ">")
        out += log[at:at + 16] + struct.pack(">II", *sums) + data
    return out


def make_logs():
    def why(data):
        return f"a log may end after any frame; those up to {len(data)} are valid"

    log = database(TABLE + fill(4), mode="wal")
    save("sqlitewal", "log.wal", log, verdict="unverified", length=len(log), why=why(log))
    big = big_endian_log(log)
    save("sqlitewal", "big-endian.wal", big, verdict="unverified", length=len(big), why=why(big))
    again = database(["pragma wal_autocheckpoint=0"] + TABLE + fill(3), mode="wal",
                     after=["pragma wal_checkpoint(restart)", "insert into t values(50, 'x')"])
    save("sqlitewal", "older-frames.wal", again, verdict="unverified", length=len(again), why=why(again))
    frame = 24 + 512
    at = 32 + 3 * frame
    save("sqlitewal", "damaged.wal", patched(log, at + 100, b"?"), verdict="truncated", length=at,
         why=f"the checksum of the frame at {at} is wrong")
    save("sqlitewal", "cut.wal", log[:at + 99], verdict="truncated", length=at + 99, why=f"the image ends at {at + 99}, before the file does")
    save("sqlitewal", "wiped.wal", patched(log, at, bytes(len(log) - at)), verdict="unverified", length=at)
    save("sqlitewal", "header.wal", patched(log, 24, bytes(1)) if log[24] else patched(log, 24, b"\1"), verdict="reject",
         why="the header's checksum is wrong")
    save("sqlitewal", "page-size.wal", patched(log, 8, b"\0\0\3\0"), verdict="reject", why="an impossible page size")
    make_journals()


def segment(count, pages, nonce=0x12345678, told=None, magic=b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"):
    told = len(pages) if told is None else told
    out = (magic + struct.pack(">5I", told, nonce, count, 512, 512)).ljust(512, b"\0")
    for number, data in pages:
        total = (nonce + sum(data[i] for i in range(512 - 200, 0, -200))) & 0xffffffff
        out += struct.pack(">I", number) + data + struct.pack(">I", total)
    return out


def make_journals():
    small = bytes(database(TABLE + fill(12)))
    pages = [(n + 1, small[n * 512:n * 512 + 512]) for n in range(4)]
    count = len(small) // 512
    one = segment(count, pages)
    save("sqlitejournal", "one.journal", one, unchecked=len(one) - 520)
    padded = one.ljust((len(one) + 511) // 512 * 512, b"\0")
    two = padded + segment(count, pages[1:2], nonce=0xfffffff0)
    save("sqlitejournal", "two.journal", two, sequence="yes")
    name = b"/home/someone/other.db-mj0A1B2C3D4"
    tail = struct.pack(">I", (1 << 30) // 512 + 1) + name + struct.pack(">II", len(name), sum(name)) + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    save("sqlitejournal", "super.journal", one + tail, sequence="yes")
    open_end = segment(count, pages, told=0xffffffff)
    save("sqlitejournal", "not-told.journal", open_end, verdict="unverified", length=len(open_end),
         why="the number of records is not stored; 4 are valid")
    unsynced = segment(count, pages, told=0, magic=bytes(8))
    save("sqlitejournal", "unsynced.journal", unsynced, verdict="unverified", length=len(unsynced))
    save("sqlitejournal", "cut.journal", one[:1500], verdict="truncated", length=1500, why="the image ends at 1500, before the file does")
    at = 512 + 520
    headers = two[:len(padded) + 100]
    save("sqlitejournal", "cut-header.journal", headers, verdict="truncated", length=len(headers))
    save("sqlitejournal", "damaged.journal", patched(one, at + 4 + 112, bytes([one[at + 4 + 112] ^ 1])), verdict="truncated", length=at,
         why=f"the checksum of the record at {at} is wrong")
    save("sqlitejournal", "sector.journal", patched(one, 20, b"\0\0\2\1"), verdict="reject", why="no journal header")
    save("sqlitejournal", "first.journal", patched(one, 512, bytes(4)), verdict="reject", why="no valid record")
