"""Windows' custom jump lists."""
import struct

from makers.common import save
from makers.sound import noise

CLASS = bytes.fromhex("0114020000000000C000000000000046")
MARK = bytes.fromhex("ABFBBFBA")


def link(seed):
    return CLASS + struct.pack("<I", 76) + CLASS + bytes(56) + bytes(b % 160 for b in noise(90 + seed, seed)) + bytes(4)


def tasks(*links):
    return struct.pack("<II", 2, len(links)) + b"".join(links) + MARK


def custom(name, *links):
    return struct.pack("<IH", 0, len(name)) + name.encode("utf-16-le") + struct.pack("<I", len(links)) + b"".join(links) + MARK


def lists(*categories, count=None):
    return struct.pack("<III", 2, len(categories) if count is None else count, 0) + b"".join(categories)


def make():
    one = lists(tasks(link(1), link(2), link(3)))
    save("jumplist", "tasks.customDestinations-ms", one, unchecked=12, unverified=f"12-{len(one) - 4}")
    several = lists(tasks(link(1)), struct.pack("<II", 1, 2) + MARK, custom("Recent pages", link(4), link(5)))
    save("jumplist", "several.customDestinations-ms", several, unchecked=12)
    save("jumplist", "cut.customDestinations-ms", one[:-90], verdict="truncated", length=len(one) - 90)
    save("jumplist", "missing.customDestinations-ms", lists(tasks(link(1)), count=2) + b"\7" * 70000, verdict="truncated", length=len(lists(tasks(link(1)))))
    save("jumplist", "random.customDestinations-ms", one[:300] + noise(70000), verdict="truncated", length_min=100, length_max=300)
    save("jumplist", "version.customDestinations-ms", b"\3" + one[1:], verdict="reject", why="no header at 0")
    save("jumplist", "kind.customDestinations-ms", one[:12] + b"\7" + one[13:], verdict="reject", why="no category at 12")
