"""Registry hives, cell by cell, and their logs."""
import random, struct

from makers.common import save

TIME = 133536000000000000  # 2024-02-29


def header(bins, kind=0, sequence=(5, 5), name="\\??\\C:\\Users\\someone\\ntuser.dat", root=32):
    data = b"regf" + struct.pack("<IIQIIIIIII", *sequence, TIME, 1, 5, kind, 1, root, bins, 1) + name[-31:].encode("utf-16-le").ljust(64, b"\0")
    data = data.ljust(508, b"\0")
    total = 0
    for word, in struct.iter_unpack("<I", data):
        total ^= word
    return data + struct.pack("<I", total)


def cell(data, used=True):
    size = (len(data) + 4 + 7) // 8 * 8
    return struct.pack("<i", -size if used else size) + data.ljust(size - 4, b"\0")


def node(name, values=0):
    return cell(b"nk" + struct.pack("<HQI", 0x2c, TIME, 0).ljust(70, b"\0") + struct.pack("<HH", len(name), 0) + name)


def value(name, number):
    return cell(b"vk" + struct.pack("<HIIIHH", len(name), 0x80000004, number, 4, 1, 0) + name)


def bin_of(offset, cells, size=4096):
    head = b"hbin" + struct.pack("<IIQQI", offset, size, 0, TIME, 0)
    data = head + b"".join(cells)
    left = size - len(data)
    return data + (struct.pack("<i", left).ljust(left, b"\0") if left else b"")


def marvin(data):
    """Marvin32 with the seed of the registry's logs."""
    def turn(value, count):
        return (value << count | value >> 32 - count) & 0xffffffff

    low, high = 0x7a4e55c5, 0x82ef4d88
    for word in [w for w, in struct.iter_unpack("<I", data)] + [0x80, 0]:
        low = (low + word) & 0xffffffff
        high ^= low
        low = (turn(low, 20) + high) & 0xffffffff
        high = turn(high, 9) ^ low
        low = (turn(low, 27) + high) & 0xffffffff
        high = turn(high, 19)
    return high << 32 | low


def log_entry(size, number, fill):
    content = fill * (size - 40)
    head = b"HvLE" + struct.pack("<IIIII", size, 0, number, 12288, 1) + struct.pack("<Q", marvin(content))
    return head + struct.pack("<Q", marvin(head)) + content


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    cells = [node(b"ROOT")] + [value(b"Number%d" % n, n) for n in range(20)] + [cell(b"lf" + struct.pack("<HI4s", 1, 32, b"ROOT"))]
    used = sum(len(c) for c in cells)
    text = cell("some text of a value, ".encode("utf-16-le") * 20)
    bins = bin_of(0, cells) + bin_of(4096, [node(b"Key"), text], 8192)
    hive = header(len(bins)).ljust(4096, b"\0") + bins
    end = 4096 + 4096 + 32 + len(node(b"Key")) + len(text)
    name = "\\??\\C:\\Users\\someone\\ntuser.dat"[-31:]
    save("regf", "hive.dat", hive, unchecked=end, title=name, time=TIME // 10000000 - 11644473600,
         unverified=f"{4096 + 32 + used + 4}-8192 {end + 4}-{len(hive)}")
    save("regf", "open.dat", header(len(bins), sequence=(6, 5)).ljust(4096, b"\0") + bins, unchecked=end,
         why="the hive was not closed: its sequence numbers differ")
    save("regf", "sum.dat", patched(hive, 508, b"\0\0\0\0"), verdict="unverified", length=len(hive), why="the header's checksum is wrong")
    save("regf", "cut.dat", hive[:5000], verdict="truncated", length=5000, why="the image ends at 5000, before the file does")
    save("regf", "wiped.dat", patched(hive, 4608, bytes(len(hive) - 4608)), verdict="truncated", length_min=4580, length_max=4640)
    at = 8192
    save("regf", "bin.dat", patched(hive, at + 4, b"\1"), verdict="truncated", length=at, why=f"the bin at {at} is damaged after {at}")
    save("regf", "cell.dat", patched(hive, 4096 + 32 + len(cells[0]), b"\xff\xff\xff\x7f"), verdict="truncated", length=4096 + 32 + len(cells[0]))
    save("regf", "random.dat", patched(hive, end + 300, random.Random(1).randbytes(len(hive) - end - 300)), verdict="truncated",
         length_min=end, length_max=end + 600)
    remains = (cell("a value that was deleted, ".encode("utf-16-le") * 9) * 20)[:len(hive) - end - 4]
    save("regf", "last-free.dat", patched(hive, end + 4, remains), verdict="unverified", length=len(hive),
         why="nothing verifies the bytes of the last cell, which is free, from 12288 on")
    save("regf", "no-bin.dat", patched(hive, 4096, bytes(4)), verdict="truncated", length=4096, why="the bin at 4096 is damaged after 4096")
    save("regf", "nothing.dat", patched(hive[:5000], 508, bytes(4)).replace(b"hbin", b"HBIN"), verdict="reject", why="no bin after the header")
    save("regf", "length.dat", patched(hive, 40, b"\1"), verdict="reject", why="an impossible length")
    log = header(len(bins), 6) + log_entry(1024, 5, b"x") + log_entry(512, 6, b"y")
    save("regf", "new.log1", log, verdict="unverified", length=len(log), extension="log",
         why=f"a transaction log may be longer than its contents, {len(log)} bytes")
    save("regf", "new-used-before.log1", log + log_entry(512, 3, b"z"), verdict="unverified", length=len(log))
    save("regf", "new-hash.log1", patched(log, 1800, b"?"), verdict="truncated", length=1536, why="the hashes of the entry at 1536 are wrong")
    save("regf", "new-cut.log1", log[:1800], verdict="truncated", length=1536)
    old = header(len(bins), 1) + (b"DIRT" + b"\x03\0\x80").ljust(512, b"\0") + b"s" * 1536
    save("regf", "old.log", old, verdict="unverified", length=len(old), extension="log")
    save("regf", "log.log", header(len(bins), 1) + b"s" * 1024, verdict="reject")
