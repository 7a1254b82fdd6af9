"""RealMedia, chunk by chunk, and RealAudio; packets are noise."""
import random, struct

from makers.common import save


def chunk(kind, data, version=0, length=None):
    return kind + struct.pack(">IH", 10 + len(data) if length is None else length, version) + data


def head(count=4):
    return b".RMF" + struct.pack(">IHII", 18, 0, 0, count)


def texts(*values):
    return b"".join(struct.pack(">H", len(v)) + v for v in values)


def stream(number, kind, extra):
    name = b"The Stream"
    return chunk(b"MDPR", struct.pack(">HIIIIIII", number, 20000, 20000, 600, 300, 0, 0, 1000) + bytes((len(name),)) + name +
                 bytes((len(kind),)) + kind + struct.pack(">I", len(extra)) + extra)


def packets(count, streams=2, version=0, seed=1):
    rng = random.Random(seed)
    out = b""
    for i in range(count):
        data = rng.randbytes(rng.randrange(40, 160))
        extra = struct.pack(">HB", 1, 2) if version else b"\0\2"
        out += struct.pack(">HHHI", version, 10 + len(extra) + len(data), i % streams, 40 * i) + extra + data
    return out


def data(count, body, length=None):
    return chunk(b"DATA", struct.pack(">II", count, 0) + body, length=length)


def front(streams=2, index_at=0):
    prop = struct.pack(">IIIIIIIIIHH", 20000, 20000, 600, 300, 12, 1000, 0, index_at, 0, streams, 3)
    out = head() + chunk(b"PROP", prop) + chunk(b"CONT", texts(b"A golden film", b"Nobody", b"", b"CC0"))
    out += stream(0, b"video/x-pn-realvideo", b"\0\0\0\x22VIDORV10".ljust(34, b"\0"))
    return out + (stream(1, b"audio/x-pn-realaudio", audio(4, 0x1b53530, title=b"")) if streams == 2 else b"")


def index(count=5):
    return chunk(b"INDX", struct.pack(">IHI", count, 0, 0) + b"".join(struct.pack(">HIII", 0, i, i, i) for i in range(count)))


def audio(version, length, title=b"A golden song"):
    strings = b"".join(bytes((len(t),)) + t for t in (title, b"Nobody", b"CC0", b""))
    if version == 3:
        body = struct.pack(">IIHI", 0, 0, 60000, length) + strings + b"\0\4lpcJ"
        return b".ra\xfd" + struct.pack(">HH", 3, len(body)) + body
    body = struct.pack(">H", version) + b"LLLL" + struct.pack(">HIIIIHHHHHHHH", 2, 240, 0, 60000, 0, 16, 240, 60, 0, 8000, 0, 16, 1)
    body += b"\4Int0\4dnet\1\7\0" + strings
    body = body.replace(b"LLLL", struct.pack(">I", len(body)), 1)
    return b".ra\xfd" + struct.pack(">HH", version, 0) + b".ra%d" % version + struct.pack(">I", length) + body


def make():
    title = dict(title="A golden film")
    body = packets(12)
    at = len(front() + data(12, body))
    save("rm", "film.rm", front(index_at=at) + data(12, body) + index(), **title)
    save("rm", "no-index.rm", front(index_at=at) + data(12, body) + bytes(90), verdict="truncated", length=at, why=f"no index at {at}", **title)
    save("rm", "sound.rm", front(1) + data(8, packets(8, 1)), unchecked=len(front(1)) + 18 + len(packets(7, 1)), **title)
    save("rm", "second.rm", front() + data(6, packets(6, version=1)), unchecked=len(front()) + 18 + len(packets(5, version=1)), **title)
    last = len(front()) + 18 + len(packets(11))
    save("rm", "uncounted.rm", front() + data(0, body), unchecked=last, **title)
    save("rm", "ffmpeg.rm", front() + data(12, body + bytes(8)), unchecked=last, **title)
    save("rm", "two.rm", front(index_at=7) + data(12, body) + data(4, packets(4, seed=3)) + index() + index(2) + chunk(b"RMMD", bytes(30), 0), sequence="yes", **title)
    live = front() + data(0, body, length=0)
    save("rm", "live.rm", live, verdict="unverified", length=len(live), why=f"an unclosed recording: no packet at {len(live)}", **title)
    plain = front() + data(12, body)
    save("rm", "cut.rm", plain[:-100], verdict="truncated", length=len(plain) - 100, why=f"the image ends at {len(plain) - 100}, before the file does")
    two = len(front()) + 18 + struct.unpack_from(">H", body, 2)[0]
    wrong = bytearray(plain)
    wrong[two + 1] = 2
    save("rm", "packet.rm", bytes(wrong), verdict="truncated", length=two, why=f"no packet or index at {two}")
    wrong = bytearray(plain)
    wrong[two + 5] = 9
    save("rm", "stream.rm", bytes(wrong), verdict="truncated", length=two, why=f"no packet or index at {two}")
    more = front() + data(13, body + bytes(40))
    save("rm", "count.rm", more, verdict="truncated", length=len(more) - 40)
    save("rm", "random.rm", plain[:two] + random.Random(5).randbytes(3000), verdict="truncated", length=two)
    wrong = bytearray(plain + index())
    wrong[-13] = 1
    save("rm", "index.rm", bytes(wrong), verdict="truncated", length=len(plain), why=f"no packet or index at {len(plain)}")
    save("rm", "no-data.rm", front() + index(), verdict="reject", why=f"no packets before {len(front() + index())}")
    save("rm", "no-stream.rm", head() + data(12, body), verdict="reject", why=f"no packet or index at {18 + 18}")
    save("rm", "head.rm", b".RMF" + struct.pack(">I", 15) + plain[8:], verdict="reject", why="no header at 0")

    for version in (3, 4):
        whole = audio(version, 700) + random.Random(version).randbytes(700)
        save("rm", f"version-{version}.ra", whole, verdict="unverified", length=len(whole), extension="ra", title="A golden song",
             why=f"the audio before {len(whole)} cannot be verified")
        save("rm", f"cut-{version}.ra", whole[:-99], verdict="truncated", length=len(whole) - 99)
    five = audio(5, 700) + random.Random(5).randbytes(700)
    save("rm", "version-5.ra", five, verdict="unverified", length=len(five), extension="ra")
    bad = bytearray(audio(3, 700))
    bad[22] = 200
    save("rm", "texts.ra", bytes(bad) + bytes(700), verdict="reject")
    bad = bytearray(audio(4, 700))
    bad[56] = 9
    save("rm", "codec.ra", bytes(bad) + bytes(700), verdict="reject", why="impossible fields at 48")
    save("rm", "version.ra", b".ra\xfd\0\6" + bytes(100), verdict="reject", why="no version at 4")
    inside = audio(4, 0x1b53530) + bytes(20)
    save("rm", "inside.ra", inside + data(12, body), verdict="reject", why=f"a stream of RealMedia, whose next chunk is at {len(inside)}")
    inside = audio(5, 0x1b53530)
    save("rm", "inside-5.ra", inside + stream(2, b"audio/x-pn-realaudio", b""), verdict="reject", why=f"a stream of RealMedia, whose next chunk is at {len(inside)}")
