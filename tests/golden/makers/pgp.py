"""OpenPGP: rings of keys and armour, packet by packet. The keys are noise."""
import bz2, struct, zlib

from makers.common import save
from makers.keys import pem
from makers.sound import noise


def crc24(data):
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc = crc << 1 ^ (0x1864CFB if crc & 0x800000 else 0)
    return crc


def packet(kind, data, new=False):
    if not new:
        return bytes([0x80 | kind << 2 | 1]) + struct.pack(">H", len(data)) + data
    length = len(data)
    head = bytes([length]) if length < 192 else bytes([(length - 192 >> 8) + 192, length - 192 & 0xFF])
    return bytes([0xC0 | kind]) + head + data


def ring(new=False):
    key = b"\4" + struct.pack(">I", 1709251198) + b"\1" + b"\4\0\x91" + noise(127, 1) + b"\0\x11\1\0\1"
    signature = b"\4\x13\1\x08\0\0\0\0\x12\x34\4\0\x91" + noise(127, 2)
    return packet(6, key, new) + packet(13, b"Golden Hour <g@example.org>", new) + packet(2, signature, new) + packet(14, key, new) + \
        packet(2, signature, new)


def messages():
    """Encrypted ones: with a passphrase, for a key, in parts."""
    secret = b"\1" + noise(9000, 7)
    symmetric = packet(3, b"\4\x09\3\x0a" + noise(8, 8) + b"\xff", True)
    public = packet(1, b"\3" + noise(8, 9) + b"\1\x08\0" + noise(256, 10))
    parts = b"\xd2" + b"\xed" + secret[:8192] + bytes((192 + (len(secret) - 8192 - 192 >> 8), len(secret) - 8192 - 192 & 0xff)) + secret[8192:]
    plain = b"\xd2\xff" + struct.pack(">I", len(secret)) + secret
    for name, data in (("symmetric", symmetric + parts), ("public", public + plain), ("both", public + symmetric + parts)):
        expected = dict(verdict="unverified", length=len(data), extension="gpg", why=f"only the key verifies the encrypted bytes up to {len(data)}")
        save("pgp", f"message-{name}.gpg", data, **expected)
        save("pgp", f"message-{name}-noise.gpg", data + noise(3000, 11), **expected)
    whole = symmetric + parts
    save("pgp", "message-cut.gpg", whole[:5000], verdict="truncated", length=5000, why=f"the image ends at 5000, before the file does")
    save("pgp", "message-zeros.gpg", whole[:5000] + bytes(9000), verdict="truncated", length_min=4000, length_max=6100)
    save("pgp", "message-first.gpg", symmetric + b"\xd2\xe8" + secret[:256] + b"\0" + noise(99), verdict="reject", why="no keys and encrypted data at 0")
    save("pgp", "message-version.gpg", symmetric + b"\xd2\x64\x07" + noise(300), verdict="reject")
    save("pgp", "message-keys.gpg", symmetric + packet(13, b"Golden Hour", True) + noise(300), verdict="reject")


def signed_messages():
    """Signed ones: as they are, compressed, and signatures alone."""
    key = noise(8, 20)
    head = packet(4, b"\3\0\x08\1" + key + b"\1")[:1].replace(b"\x91", b"\x90") + b"\x0d\3\0\x08\1" + key + b"\1"
    signature = packet(2, b"\4\0\1\x08\0\6\5\2" + struct.pack(">I", 1709251198) + b"\0\x0a\x09\x10" + key + b"\x12\x34\x08\0\x80" + noise(255, 21))
    text = b"".join(b"The light was good on day %d.\n" % i for i in range(300))
    literal = b"b\0" + struct.pack(">I", 1709251198) + text
    parts = b"\xcb\xec" + literal[:4096] + bytes((192 + (len(literal) - 4096 - 192 >> 8), len(literal) - 4096 - 192 & 0xff)) + literal[4096:]
    whole = head + packet(11, literal) + signature
    in_parts = head + parts + signature
    save("pgp", "signed.gpg", whole, extension="gpg", unchecked=15)
    save("pgp", "signed-parts.gpg", in_parts, extension="gpg", unchecked=15)
    save("pgp", "signed-cut.gpg", whole[:3000] + noise(9000, 22), verdict="truncated", length=18)
    save("pgp", "signed-other.gpg", whole.replace(key, noise(8, 23), 1), verdict="truncated")
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = b"\xa3\1" + raw.compress(in_parts) + raw.flush()
    save("pgp", "zip.gpg", packed, extension="gpg")
    save("pgp", "zlib.gpg", b"\xa3\2" + zlib.compress(whole), extension="gpg")
    save("pgp", "bzip2.gpg", b"\xa3\3" + bz2.compress(whole), extension="gpg")
    save("pgp", "zip-cut.gpg", packed[:-300] + noise(4000, 25), verdict="truncated", length_min=len(packed) - 310, length_max=len(packed) + 2000)
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    save("pgp", "zip-other.gpg", b"\xa3\1" + raw.compress(text) + raw.flush(), verdict="reject", why="no compressed packets at 2")
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    save("pgp", "zip-short.gpg", b"\xa3\1" + raw.compress(whole[:-1]) + raw.flush(), verdict="reject")
    save("pgp", "alone.sig", signature, extension="sig", unchecked=8)
    save("pgp", "two.sig", signature * 2, extension="sig", sequence="yes", unchecked=8)
    save("pgp", "number.sig", signature.replace(b"\x12\x34\x08\0", b"\x12\x34\x08\x09"), verdict="reject", why="no signature at 0")


def make():
    gold = dict(title="Golden Hour <g@example.org>", time=1709251198)
    for new in (False, True):
        data = ring(new)
        at = f"no packet starts at {len(data)}, and the number of packets is not stored"
        kind = "new" if new else "old"
        save("pgp", f"ring-{kind}.gpg", data, verdict="unverified", length=len(data), extension="gpg", why=at, **gold)
        for name, junk in (("zeros", bytes(900)), ("ones", b"\xff" * 900), ("text", b"Some text. " * 50)):
            save("pgp", f"ring-{kind}-{name}.gpg", data + junk, verdict="unverified", length=len(data), why=at, **gold)
    data = ring()
    save("pgp", "ring-two.gpg", data * 2, verdict="unverified", length=2 * len(data), **gold)
    save("pgp", "ring-cut.gpg", data[:-50], verdict="truncated", length=len(data) - 50, **gold)
    save("pgp", "key-alone.gpg", packet(6, noise(100)), verdict="reject")
    messages()
    signed_messages()
    block = pem("PGP PUBLIC KEY BLOCK", data, crc=crc24(data))
    save("pgp", "key.asc", block, extension="asc", sequence="yes", **gold)
    save("pgp", "two.asc", block * 2, extension="asc", sequence="yes", **gold)
    save("pgp", "crlf.asc", pem("PGP PUBLIC KEY BLOCK", data, crc=crc24(data), end="\r\n"), extension="asc", sequence="yes", **gold)
    save("pgp", "no-crc.asc", pem("PGP PRIVATE KEY BLOCK", data), extension="asc", sequence="yes", **gold)
    save("pgp", "fields.asc", pem("PGP MESSAGE", noise(300), fields="Version: none\nComment: golden", crc=crc24(noise(300))), extension="asc", sequence="yes")
    signature = pem("PGP SIGNATURE", noise(200), crc=crc24(noise(200)))
    signed = b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe light was good.\n- -----BEGIN is no line of its own.\n" + signature
    save("pgp", "signed.asc", signed, extension="asc")
    save("pgp", "open-line.asc", block[:-1], verdict="unverified", length=len(block) - 1)
    wrong = pem("PGP MESSAGE", noise(300), crc=crc24(noise(300)) ^ 1)
    save("pgp", "crc.asc", wrong, verdict="truncated", length=len(wrong), why=f"the CRC before {len(wrong)} is wrong")
    cut = block[:400]
    save("pgp", "cut.asc", cut, verdict="truncated", length=400)
    save("pgp", "cut-zeros.asc", cut + bytes(900), verdict="truncated", length=400)
    save("pgp", "cut-random.asc", cut + noise(900, 6), verdict="truncated", length_min=390, length_max=410)
    save("pgp", "signed-cut.asc", signed[:90] + bytes(50), verdict="truncated", length=90)
    save("pgp", "no-data.asc", b"-----BEGIN PGP MESSAGE-----\n" + bytes(90), verdict="reject", why="no base64 after the line at 0")
