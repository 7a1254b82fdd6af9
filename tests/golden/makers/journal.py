"""systemd's journals, object by object; the carver was tried with those of systemd-journal-remote, too."""
import random, struct

from makers.common import save

SECONDS = 1709164800


def item(kind, body):
    data = struct.pack("<BB6xQ", kind, 0, len(body) + 16) + body
    return data.ljust((len(data) + 7) // 8 * 8, b"\0")


def journal(entries=5, size=8192, count=None, header_len=256):
    objects = [item(4, bytes(16 * 8)), item(5, bytes(16 * 4))]
    for n in range(entries):
        objects.append(item(1, bytes(48) + b"MESSAGE=line %d" % n + b"." * n))
        objects.append(item(2, bytes(24) + b"MESSAGE"))
        objects.append(item(3, struct.pack("<QQQ", n + 1, (SECONDS + n) * 1000000, n) + bytes(24) + struct.pack("<QQ", 512, 1)))
    objects.append(item(6, struct.pack("<QQ", 0, 512)))
    last = header_len + sum(map(len, objects[:-1]))
    head = b"LPKSHHRH" + struct.pack("<IIB7x", 0, 4, 1) + bytes(range(64))
    head += struct.pack("<QQQQQQQQQ", header_len, size - header_len, header_len + 16, 128, header_len + 160, 64, last,
                        len(objects) if count is None else count, entries)
    head += struct.pack("<QQQQQQ", entries, 1, last, SECONDS * 1000000, (SECONDS + entries - 1) * 1000000, 9)
    assert len(head) == 208
    data = head.ljust(header_len, b"\0") + b"".join(objects)
    ends = [header_len]
    for thing in objects:
        ends.append(ends[-1] + len(thing))
    return data.ljust(size, b"\0"), ends


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    data, ends = journal()
    save("journal", "journal.journal", data, unchecked=ends[-1] - 8, time=SECONDS + 4)
    save("journal", "old-header.journal", journal(header_len=208)[0], unchecked=journal(header_len=208)[1][-1] - 8)
    save("journal", "count.journal", journal(count=99)[0], verdict="unverified", length=len(data), why=f"{len(ends) - 1} objects, but the header counts 99")
    at = ends[7]
    save("journal", "cut.journal", data[:at + 20], verdict="truncated", length=at + 20, why=f"the image ends at {at + 20}, before the file does")
    for name, fill in (("wiped", bytes(9000)), ("erased", b"\xff" * 9000), ("random", random.Random(1).randbytes(9000))):
        save("journal", name + ".journal", data[:at] + fill[:len(data) - at], verdict="truncated", length_min=at - 8, length_max=at,
             why=f"no object at {at}")
    save("journal", "random-behind.journal", data[:ends[-1] + 100] + random.Random(2).randbytes(len(data) - ends[-1] - 100), verdict="truncated",
         length_min=ends[-1] - 8, length_max=ends[-1] + 400)
    save("journal", "kind.journal", patched(data, at, b"\x08"), verdict="truncated", length_min=at - 8, length_max=at)
    save("journal", "length.journal", patched(data, at + 12, b"\1"), verdict="truncated", length_min=at - 8, length_max=at)
    save("journal", "last.journal", patched(data, 136, b"\1"), verdict="reject", why="an impossible last object")
    save("journal", "header.journal", patched(data, 88, b"\1"), verdict="reject", why="impossible lengths")
    save("journal", "nothing.journal", patched(data, ends[0], bytes(8)), verdict="reject", why="no object after the header")
