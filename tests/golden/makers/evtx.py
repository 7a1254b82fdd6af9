"""EVTX logs, record by record. Their content is noise, not binary XML. They are large: what is damaged is in
tests/unit/test_carver_system.c."""
import random, struct, zlib

from makers.common import save

TIME = 133536000000000000  # 2024-02-29
SECONDS = TIME // 10000000 - 11644473600


def record(number, content):
    size = 24 + len(content) + 4
    return struct.pack("<IIQQ", 0x2a2a, size, number, TIME + number * 10000000) + content + struct.pack("<I", size)


def chunk(first, count, seed=1):
    rng = random.Random(seed + first)
    records = b"".join(record(first + n, bytes(rng.randrange(64) for _ in range(36))) for n in range(count))
    used = 512 + len(records)
    last = used - 64
    head = b"ElfChnk\0" + struct.pack("<QQQQIIII", first, first + count - 1, first, first + count - 1, 128, last, used,
                                      zlib.crc32(records))
    head = head.ljust(124, b"\0")
    tables = bytes(384)
    head += struct.pack("<I", zlib.crc32(head[:120] + tables))
    return (head + tables + records).ljust(65536, b"\0")


def log(chunks):
    head = b"ElfFile\0" + struct.pack("<QQQIHHHH", 0, len(chunks) - 1, 99, 128, 1, 3, 4096, len(chunks))
    head = head.ljust(120, b"\0")
    head += struct.pack("<II", 0, zlib.crc32(head))
    return head.ljust(4096, b"\0") + b"".join(chunks)


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    one = log([chunk(1, 20)])
    used = 4096 + 512 + 20 * 64
    save("evtx", "one.evtx", one, unchecked=used, time=SECONDS + 20)
    at = 4608 + 7 * 64
    save("evtx", "cut.evtx", one[:at + 20], verdict="truncated", length=at + 20, why=f"the image ends at {at + 20}, before the file does")
    save("evtx", "no-chunk.evtx", patched(one[:used], 4096, b"elf"), verdict="truncated", length=used)
    save("evtx", "nothing.evtx", patched(patched(one[:used], 4096, b"elf"), 124, bytes(4)), verdict="reject", why="no chunk after the header")
    save("evtx", "header.evtx", patched(one[:used], 32, b"\x40"), verdict="reject", why="an impossible header")
    old = one[4608 + 17 * 64 + 8:used]
    save("evtx", "old-records.evtx", one[:used] + old + one[used + len(old):], unchecked=used, time=SECONDS + 20, why="",
         unverified=f"{used}-{len(one)}")
    strange = b"neither a record nor zeros " * 40
    save("evtx", "strange.evtx", one[:used] + strange + one[used + len(strange):], unchecked=used, time=SECONDS + 20,
         why=f"the unused space at {used} holds neither zeros nor old records", unverified=f"{used}-{len(one)}")
    # Remains of records up to a sector, and zeros from there on, look as if clusters of zeros had taken their place.
    remains = (old * 40)[:8192 - used]
    save("evtx", "wiped.evtx", one[:used] + remains + bytes(len(one) - 8192), verdict="unverified", length=len(one),
         why="the unused space is zeros from a sector on, as if wiped, at 8192")
    save("evtx", "old-records-far.evtx", one[:used] + (old * 400)[:len(one) - used], verdict="unverified", length=len(one), time=SECONDS + 20,
         why="nothing verifies the bytes in the unused space, from 8192 on")
    mixed = (old * 300) + (b"The rest of another file \x01\x02\x03 " * 3000)
    mixed = mixed[:len(one) - used]
    save("evtx", "mixed.evtx", one[:used] + mixed, verdict="unverified", length=len(one),
         why=f"the unused space ends, at {len(one)}, in neither zeros nor old records")
    text = (b"The rest of another file, which is text. " * 2000)[:len(one) - used - 1000]
    save("evtx", "text.evtx", one[:used + 1000] + text, verdict="truncated", length=used + 1000,
         why=f"foreign bytes after the records, at {used + 1000}")
