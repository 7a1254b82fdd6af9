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


def sealed(content):
    """A secret key as Java writes it."""
    of_bytes = b"ur" + text(b"[B") + b"\xac\xf3\x17\xf8\6\x08T\xe0\2\0\0xp"
    fields = b"[" + text(b"encodedParams") + b"t" + text(b"[B") + b"[" + text(b"encryptedContent") + b"q\0~\0\2L" + text(b"paramsAlg") + \
        b"t" + text(b"Ljava/lang/String;") + b"L" + text(b"sealAlg") + b"q\0~\0\3xp"
    return b"\xac\xed\0\5sr" + text(b"com.sun.crypto.provider.SealedObjectForKeyProtector") + noise(8, 1) + b"\2\0\0xr" + \
        text(b"javax.crypto.SealedObject") + noise(8, 2) + b"\2\0\4" + fields + of_bytes + struct.pack(">I", 15) + noise(15, 3) + \
        b"uq\0~\0\5" + struct.pack(">I", len(content)) + content + b"t" + text(b"PBEWithMD5AndTripleDES") + b"q\0~\0\x09"


def secrets(*contents):
    out = struct.pack(">III", 0xCECECECE, 2, len(contents))
    for i, content in enumerate(contents):
        out += struct.pack(">I", 3) + text(b"key %d" % i) + struct.pack(">Q", 1700000000000) + sealed(content)
    return out + noise(20, 9)


def make():
    hidden = secrets(noise(304, 4), noise(200, 5))
    save("jks", "secrets.jceks", hidden, verdict="unverified", length=len(hidden), why=f"the checksum at {len(hidden) - 20} needs the password")
    first = len(secrets(noise(304, 4))) - 20
    save("jks", "secrets-cut.jceks", hidden[:first + 500], verdict="truncated", length=first + 500, why=f"the image ends at {first + 500}, before the file does")
    save("jks", "secrets-noise.jceks", hidden[:first + 100] + noise(2000, 6), verdict="truncated", length=first, why=f"no entry at {first}")
    whole = jks((1, b"golden"), (2, b"root"))
    save("jks", "store.jks", whole, verdict="unverified", length=len(whole), why=f"the checksum at {len(whole) - 20} needs the password")
    trust = jks((2, b"root"), magic=0xCECECECE)
    save("jks", "trust.jceks", trust + bytes(90), verdict="unverified", length=len(trust))
    save("jks", "cut.jks", whole[:900], verdict="truncated")
    first = whole.index(b"\0\0\0\2\0\4root")
    save("jks", "entry.jks", whole[:first] + bytes(900), verdict="truncated", length=first, why=f"no entry at {first}")
    save("jks", "length.jks", whole.replace(b"\0\5X.509\0\0", b"\0\5X.509\1\0"), verdict="reject", why="no entry at 12")
    save("jks", "version.jks", whole[:7] + b"\7" + whole[8:], verdict="reject", why="no header at 0")
