"""Oracle's keystores, entry by entry."""
import struct

from makers.common import save
from makers.keys import RSA, certificate, der, sequence
from makers.sound import noise


def text(value):
    return struct.pack(">H", len(value)) + value


def cert():
    data = certificate()
    return text(b"X.509") + struct.pack(">I", len(data)) + data


def jks(*entries, magic=0xFEEDFEED):
    out = struct.pack(">III", magic, 2, len(entries))
    for kind, name in entries:
        key = sequence(sequence(RSA), der(4, noise(600, 3)))
        out += struct.pack(">I", kind) + text(name) + struct.pack(">Q", 1700000000000)
        out += struct.pack(">I", len(key)) + key + struct.pack(">I", 1) + cert() if kind == 1 else cert()
    return out + noise(20, 9)


def make():
    whole = jks((1, b"golden"), (2, b"root"))
    save("jks", "store.jks", whole, verdict="unverified", length=len(whole), why=f"the checksum at {len(whole) - 20} needs the password")
    trust = jks((2, b"root"), magic=0xCECECECE)
    save("jks", "trust.jceks", trust + bytes(90), verdict="unverified", length=len(trust))
    save("jks", "cut.jks", whole[:900], verdict="truncated")
    first = whole.index(b"\0\0\0\2\0\4root")
    save("jks", "entry.jks", whole[:first] + bytes(900), verdict="truncated", length=first, why=f"no entry at {first}")
    save("jks", "length.jks", whole.replace(b"\0\5X.509\0\0", b"\0\5X.509\1\0"), verdict="reject", why="no entry at 12")
    save("jks", "version.jks", whole[:7] + b"\7" + whole[8:], verdict="reject", why="no header at 0")
