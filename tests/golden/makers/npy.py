"""NumPy's arrays: their descriptions by hand, as its versions write them."""
import struct

from makers.common import save
from makers.sound import noise


def npy(descr="'<f4'", shape="(20, 30)", data=b"", version=1, order="False", unit=64):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    head = 10 if version == 1 else 12
    text += b" " * (-(head + len(text) + 1) % unit) + b"\n"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def make():
    floats = b"".join(struct.pack("<f", n * 0.5) for n in range(600))
    plain = npy(data=floats)
    at = len(plain) - 2400
    raw = lambda name, data, at, **more: save("npy", name, data, verdict="unverified", length=len(data), unverified=f"{at}-{len(data)}",
                                              why=f"nothing verifies the data from {at} on", **more)
    raw("plain.npy", plain, at)
    raw("version-2.npy", npy(data=floats, version=2), len(npy(version=2)))
    raw("old.npy", npy(shape="(600L,)", data=floats, unit=16), len(npy(shape="(600L,)", unit=16)))
    raw("order.npy", npy(order="True", data=floats), at)
    fields = dict(descr="[('name', '<U4'), ('when', '<M8[ns]'), (('a title', 'x'), '>i2', (3,))]", shape="(40,)")
    raw("fields.npy", npy(data=b"".join("gold".encode("utf-32-le") + struct.pack("<q3h", n, n, 2 * n, 7) for n in range(40)), **fields), len(npy(**fields)))
    save("npy", "empty.npy", npy(shape="(0, 3)"), unchecked=8, unverified="none")
    one = npy("'|u1'", "()", b"\x07")
    raw("one.npy", one, len(one) - 1)
    save("npy", "cut.npy", plain[:1500], verdict="truncated", length=1500, why="the image ends at 1500, before the file does")
    large = npy("'<i2'", "(30, 400)", b"".join(struct.pack("<h", (x - 200) * y) for y in range(30) for x in range(400)))
    save("npy", "random.npy", large[:8192] + noise(40000), verdict="truncated", length_min=7000, length_max=9300)
    save("npy", "zeros.npy", large[:16384] + bytes(40000), verdict="truncated", length_min=16000, length_max=16500)
    save("npy", "objects.npy", npy("'|O'", "(3,)", b"\x80\x03]q\0." + bytes(60)), verdict="reject")
    save("npy", "shape.npy", npy(shape="(99999999, 99999999, 99999999)", data=floats), verdict="reject")
    save("npy", "no-shape.npy", plain.replace(b"'shape'", b"'shade'"), verdict="reject")
    save("npy", "version.npy", plain[:6] + b"\x04" + plain[7:], verdict="reject", why="no head at 0")
