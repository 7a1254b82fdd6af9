"""NetCDF in the classic formats, list by list."""
import random, struct

from makers.common import save


def netcdf(version, records=0):
    wide, pad = version == 5, lambda data: data + bytes(-len(data) % 4)
    number = lambda value: struct.pack(">Q" if wide else ">I", value)
    place = lambda value: struct.pack(">I" if version == 1 else ">Q", value)
    name = lambda text: number(len(text)) + pad(text)
    kind = lambda value: struct.pack(">I", value)
    dims = kind(10) + number(3) + name(b"time") + number(0) + name(b"lat") + number(30) + name(b"lon") + number(20)
    attrs = kind(12) + number(1) + name(b"title") + kind(2) + number(6) + pad(b"golden")
    none = kind(0) + number(0)
    def variables(at):
        sizes = [30 * 20 * 4, 20 * 4, 20 * 8]
        out = kind(11) + number(3)
        out += name(b"height") + number(2) + number(1) + number(2) + attrs + kind(5) + number(sizes[0]) + place(at)
        out += name(b"rain") + number(2) + number(0) + number(2) + none + kind(5) + number(sizes[1]) + place(at + sizes[0])
        return out + name(b"wind") + number(2) + number(0) + number(2) + none + kind(6) + number(sizes[2]) + place(at + sizes[0] + sizes[1])
    head = b"CDF" + bytes([version]) + number(records) + dims + attrs
    at = len(head) + len(variables(0))
    body = b"".join(struct.pack(">f", 100 + i / 7) for i in range(600)) + b"".join(struct.pack(">f", i / 3) for i in range(60 * records))
    return head + variables(at) + body, at


def texts(padding, records=0):
    """One variable of 7 letters and its padding, or of one letter a record."""
    name = lambda text: struct.pack(">I", len(text)) + text + bytes(-len(text) % 4)
    dims = struct.pack(">II", 10, 2) + name(b"time") + struct.pack(">I", 0) + name(b"n") + struct.pack(">I", 7)
    head = b"CDF\1" + struct.pack(">I", records) + dims + struct.pack(">II", 0, 0)
    one = lambda at: struct.pack(">II", 11, 1) + name(b"note") + struct.pack(">II", 1, 0 if records else 1) + struct.pack(">IIIII", 0, 0, 2, 4 if records else 8, at)
    at = len(head) + len(one(0))
    return head + one(at) + b"goldens"[:7] * (records or 1) + padding, at


def make():
    for fill in (b"\0", b"", b"\x81"):
        whole, at = texts(fill)
        save("netcdf", f"padding-{fill.hex() or 'none'}.nc", whole + b"\xf3" * 90, verdict="unverified", length=len(whole), why=f"nothing verifies the data from {at} on")
    whole, at = texts(b"", 11)
    whole = whole[:at + 11]
    save("netcdf", "letters.nc", whole + b"\xf3" * 90, verdict="unverified", length=len(whole), why=f"nothing verifies the data from {at} on")
    for version in (1, 2, 5):
        whole, at = netcdf(version, 4)
        save("netcdf", f"map-{version}.nc", whole, verdict="unverified", length=len(whole), why=f"nothing verifies the data from {at} on")
    whole, at = netcdf(1)
    save("netcdf", "fixed.nc", whole + bytes(50), verdict="unverified", length=len(whole))
    save("netcdf", "cut.nc", whole[:900], verdict="truncated", length=900, why="the image ends at 900, before the file does")
    long, _ = netcdf(1, 60)
    save("netcdf", "random.nc", long[:4000] + random.Random(1).randbytes(16000), verdict="truncated", length_min=3000, length_max=5100)
    huge = netcdf(5, 4)[0].replace(struct.pack(">IQ", 5, 80), struct.pack(">IQ", 5, (1 << 50) - 160))
    huge = huge[:4] + struct.pack(">Q", 1 << 14) + huge[12:]
    save("netcdf", "huge.nc", huge, verdict="truncated", length=len(huge), why=f"the image ends at {len(huge)}, before the file does")
    save("netcdf", "list.nc", whole.replace(b"\0\0\0\x0b\0\0\0\3", b"\0\0\0\x0f\0\0\0\3"), verdict="reject")
    save("netcdf", "version.nc", b"CDF\3" + whole[4:], verdict="reject", why="no header at 0")
