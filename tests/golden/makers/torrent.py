"""BitTorrent metainfo files: an encoder of bencoding."""
import random

from makers.common import save


def encoded(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:" % len(value) + value
    if isinstance(value, list):
        return b"l" + b"".join(map(encoded, value)) + b"e"
    return b"d" + b"".join(encoded(k) + encoded(value[k]) for k in sorted(value)) + b"e"


def make():
    pieces = random.Random(1).randbytes(20 * 30)
    value = {"announce": "http://tracker.example/announce", "announce-list": [["http://a.example"], ["http://b.example"]],
             "creation date": 1709164800, "comment": "made for a test",
             "info": {"length": 600000, "name": "golden.iso", "piece length": 32768, "pieces": pieces, "private": 1}}
    data = encoded(value)
    save("torrent", "one.torrent", data, title="golden.iso", time=1709164800)
    many = dict(value, info={"files": [{"length": n, "path": ["folder", "%d.txt" % n]} for n in range(20)], "name": "many",
                             "piece length": 16384, "pieces": pieces})
    save("torrent", "many.torrent", encoded(many), title="many")
    negative = dict(value, zeta=-5)
    save("torrent", "negative.torrent", encoded(negative))
    two = {"announce": "x", "info": {"file tree": {"a": {"": {"length": 5}}}, "meta version": 2, "name": "two", "piece length": 16384}}
    save("torrent", "version2.torrent", encoded(two), verdict="unverified", length=len(encoded(two)),
         why="a whole dictionary, but no hashes of pieces")
    at = data.index(b"6:pieces")
    save("torrent", "cut.torrent", data[:at + 200], verdict="truncated", length=at + 200, why=f"the image ends at {at + 200}, before the file does")
    end = data.index(b"7:private")
    for name, fill in (("wiped", bytes(3000)), ("random", random.Random(2).randbytes(3000)), ("erased", b"\xff" * 3000)):
        save("torrent", name + ".torrent", data[:end + 9] + fill, verdict="truncated", length=end + 9, why=f"no value at {end + 9}")
    save("torrent", "pieces.torrent", data[:at] + data[at:].replace(b"6:pieces600:", b"6:pieces601:"), verdict="truncated", length=at + 8)
    number = data.index(b"i1709164800e")
    save("torrent", "number.torrent", data[:number] + b"ix" + data[number + 2:], verdict="reject")
    save("torrent", "other.torrent", encoded({"announce": "x", "peers": 5}), verdict="reject")
    deep = b"d8:announce1:x4:info" + b"l" * 100 + b"e" * 101
    save("torrent", "deep.torrent", deep, verdict="truncated", length=20 + 63, why="no value at 83")
    resume = encoded({".fileguard": "0123456789ABCDEF0123456789ABCDEF01234567", "golden.torrent": {"path": "C:\\golden", "downloaded": 5}, "rec": []})
    save("torrent", "resume.dat", resume, verdict="unverified", length=len(resume), extension="dat", why="a whole dictionary, of a client's")
    save("torrent", "resume-cut.dat", resume[:90], verdict="truncated", length_max=90, extension="dat")
    state = encoded({"active_time": 5, "file-format": "libtorrent resume file", "info-hash": b"\1" * 20})
    save("torrent", "state.dat", state + b"\0" * 9, verdict="unverified", length=len(state), extension="dat")
