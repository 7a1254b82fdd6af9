"""tar archives: Python's tarfile; by hand what it doesn't write."""
import io, tarfile

from makers.common import save
from makers.packing import junk, text


def archive(members, format=tarfile.USTAR_FORMAT, padded=False, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format, **options) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.mtime = 1709251198
            if data is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    data = out.getvalue()
    return data if padded else data[:len(data.rstrip(b"\0")) + 511 & ~511] + bytes(1024)


def header(name, size, type=b"0", magic=b"", size_field=None, extra=b""):
    """A header with its checksum; v7's has no magic."""
    block = bytearray(512)
    block[0:len(name)] = name
    block[100:124] = b"0000644\x000001750\x000001750\x00"
    block[124:136] = size_field or b"%011o\0" % size
    block[136:148] = b"%011o\0" % 1709251198
    block[148:156] = b" " * 8
    block[156:157] = type
    block[257:257 + len(magic)] = magic
    block[345:345 + len(extra)] = extra
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data):
    return data + bytes(-len(data) % 512)


def make():
    words = text(700)
    plain = [("docs/", None), ("docs/a.txt", words), ("docs/link", "a.txt"), ("docs/b.txt", words[:300]), ("docs/empty", b"")]
    whole = archive(plain)
    save("tar", "ustar.tar", whole, extension="tar", title="docs/", time=1709251198, why="", embedded="1024 3072", unverified="1024-1724 3072-3372")
    save("tar", "gnu.tar", archive(plain[1:2] + [("x" * 150, b"long name")], tarfile.GNU_FORMAT, padded=True), title="docs/a.txt", sequence="yes")
    save("tar", "pax.tar", archive(plain[1:2] + [("\u00fc" * 80, b"long name")], tarfile.PAX_FORMAT), title="docs/a.txt")
    save("tar", "pax-global.tar", archive(plain[1:2], tarfile.PAX_FORMAT, pax_headers={"comment": "0123456789abcdef"}), title="docs/a.txt")
    save("tar", "padded.tar", archive(plain[1:2], padded=True), length=10240, sequence="yes")
    v7 = header(b"old.txt", 300, b"\0") + padded(words[:300])
    save("tar", "v7.tar", v7 + bytes(1024), title="old.txt")
    save("tar", "hardlink-size.tar", v7 + header(b"same.txt", 300, b"1") + bytes(1024))
    save("tar", "hardlink-data.tar", v7 + header(b"same.txt", 300, b"1") + padded(words[:300]) + bytes(1024))
    binary = b"\x80" + (300).to_bytes(11, "big")
    save("tar", "base-256.tar", header(b"big.txt", 0, size_field=binary, magic=b"ustar  \0") + padded(words[:300]) + bytes(9216), sequence="yes")
    record = b"12 size=300\n"
    save("tar", "pax-size.tar", header(b"PaxHeader", len(record), b"x", b"ustar\x0000") + padded(record)
         + header(b"huge", 0, magic=b"ustar\x0000") + padded(words[:300]) + bytes(1024), title="huge")
    sparse = bytearray(header(b"holes", 300, b"S", b"ustar  \0"))
    sparse[482] = 1
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    save("tar", "gnu-sparse.tar", bytes(sparse) + bytes(504) + b"\1" + bytes(7) + bytes(512) + padded(words[:300]) + bytes(8192), sequence="yes")
    save("tar", "one-block.tar", v7 + bytes(512), verdict="unverified", length=1536, why="ends with one block of zeros, not two")
    save("tar", "nested.tar", header(b"inner.tar", 3072) + archive(plain[:2])[:2560] + bytes(512) + bytes(1024))
    save("tar", "package.gem", archive([("metadata.gz", words), ("data.tar.gz", words)]), extension="gem")
    save("tar", "machine.ova", archive([("machine.ovf", words), ("machine.vmdk", words)]), extension="ova")

    # Another archive in the place of a member's end, and members of another form after a lost end.
    other = archive([("other.txt", words[:100])], tarfile.GNU_FORMAT)
    swallowed = header(b"long.txt", 2000, magic=b"ustar\x0000") + text(1000)[:1024].ljust(1024) + other[:1024] + bytes(1024)
    save("tar", "header-in-data.tar", swallowed, verdict="unverified", length=len(swallowed), why="the header at 1536 may be another archive's")
    joined = whole[:2048] + other
    save("tar", "other-form.tar", joined, verdict="unverified", length=len(joined), why="the header at 2048 may be another archive's")

    # Members: folder at 0, a.txt at 512 with its data up to 2048, link at 2048, b.txt at 2560.
    save("tar", "cut.tar", whole[:1200], verdict="truncated", length=1200)
    save("tar", "cut-random.tar", whole[:1200] + junk(1500, 2), verdict="truncated", length=1024,
         why="neither a header nor the end at 2048, after the member at 512")
    save("tar", "cut-ff.tar", whole[:2600] + b"\xff" * 1500, verdict="truncated", length=2560)
    save("tar", "cut-text.tar", whole[:2700] + text(1500, 3), verdict="truncated", length=2560)
    save("tar", "cut-other.tar", whole[:1200] + whole, verdict="truncated", length=1024)
    save("tar", "wiped.tar", whole[:1100] + bytes(3000), verdict="unverified", length=3072,
         why="the last member at 512 ends in zeros, as if wiped")
    save("tar", "wiped-block.tar", whole[:1536] + bytes(3000), verdict="unverified", length=3072,
         why="the last member at 512 ends in zeros, as if wiped")
    few = header(b"few", 9, magic=b"ustar\x0000")
    save("tar", "wiped-few.tar", few + bytes(1536), verdict="unverified", length=2048, why="the last member at 0 ends in zeros, as if wiped")
    long = header(b"long.txt", 3594) + text(3584) + bytes(10)
    save("tar", "wiped-from-cluster.tar", long + bytes(-len(long) % 512 + 3000), verdict="unverified", length=5632,
         why="the last member at 0 ends in zeros, as if wiped")
    long = header(b"long.txt", 3584) + text(3584)
    save("tar", "cluster-then-zeros.tar", long + bytes(12288), verdict="unverified", length=10240,
         why="the zeros from the cluster at 4096 on may be a wiped area: more follow than its last record needs")
    save("tar", "cluster-then-record.tar", long + bytes(10240 - 4096), length=10240, sequence="yes")
    # Zeros of another file: they end within the record, which GNU's programs fill.
    gnu, why = archive(plain[1:2], tarfile.GNU_FORMAT), "the zeros from 1536 on may be another file's: they end within a record"
    save("tar", "gnu-within-record.tar", gnu + junk(512, 4), verdict="unverified", length=2560, why=why)
    ustar = archive(plain[1:2])
    save("tar", "zeros-within-record.tar", ustar + bytes(512) + junk(512, 4), verdict="unverified", length=2560, why=why)
    long_name = header(b"././@LongLink", 120, b"L", b"ustar  \0") + padded(b"n" * 119 + b"\0")
    save("tar", "no-member-behind.tar", whole[:2560] + long_name + bytes(2000), verdict="truncated", length=3584,
         why="no member after the header at 2560 that describes one")
    wrong = bytearray(whole)
    wrong[2048] ^= 1
    save("tar", "name-differs.tar", bytes(wrong), verdict="truncated", length=1024)
    wrong = bytearray(whole)
    wrong[150] ^= 1
    save("tar", "checksum-wrong.tar", bytes(wrong), verdict="reject", why="no header with its checksum at 0")
    save("tar", "size-nonsense.tar", header(b"a", 0, size_field=b"12x4567\0\0\0\0\0", magic=b"ustar\x0000") + bytes(2048), verdict="reject")
    save("tar", "size-huge.tar", header(b"a", 0, size_field=b"\x80" + b"\x7f" * 11, magic=b"ustar\x0000") + bytes(2048), verdict="reject")
    save("tar", "size-beyond.tar", header(b"a", 1 << 30, magic=b"ustar\x0000") + words, verdict="truncated", length=512 + len(words))
