"""Bouncy Castle's keystores, entry by entry."""
import struct

from makers.common import save
from makers.jks import cert, text
from makers.sound import noise


def bks(*kinds, version=2):
    out = struct.pack(">II", version, 20) + noise(20, 1) + struct.pack(">I", 1777)
    for i, kind in enumerate(kinds):
        out += bytes((kind,)) + text(b"golden %d" % i) + struct.pack(">Q", 1700000000000)
        out += struct.pack(">I", kind == 2) + (cert() if kind == 2 else b"")
        if kind == 1:
            out += cert()
        else:
            out += (b"\0" + text(b"PKCS#8") + text(b"RSA") if kind == 2 else b"") + struct.pack(">I", 400) + noise(400, kind)
    return out + b"\0" + noise(20, 9)


def make():
    whole = bks(1, 2, 3, 4)
    end = dict(verdict="unverified", length=len(whole), why=f"the checksum at {len(whole) - 20} needs the password")
    save("bks", "store.bks", whole, **end)
    save("bks", "noise.bks", whole + noise(900, 5), **end)
    old = bks(4, version=1)
    save("bks", "version-1.bks", old, verdict="unverified", length=len(old))
    second = len(bks(1)) - 21
    third = len(bks(1, 2)) - 21
    save("bks", "cut.bks", whole[:third - 50], verdict="truncated", length=third - 50, why=f"the image ends at {third - 50}, before the file does")
    save("bks", "random.bks", whole[:third] + b"\x77" + noise(900, 6), verdict="truncated", length=third, why=f"no entry at {third}")
    save("bks", "certificate.bks", whole[:second + 60] + noise(900, 7), verdict="truncated", length=second, why=f"no entry at {second}")
    save("bks", "empty.bks", whole[:32] + b"\0" + noise(20, 9), verdict="reject", why="no entry at 32")
    save("bks", "salt.bks", whole[:7] + b"\x15" + whole[8:], verdict="reject", why="no header at 0")
