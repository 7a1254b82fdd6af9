"""What the makers of keys and certificates share: DER, armour. The keys are noise and open nothing."""
import base64

from makers.sound import noise


def der(tag, data):
    length = len(data)
    if length < 0x80:
        return bytes([tag, length]) + data
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + data


def sequence(*parts):
    return der(0x30, b"".join(parts))


def integer(value):
    return der(2, value if isinstance(value, bytes) else bytes([value]))


def number(length, seed):
    """A large integer of noise."""
    return integer(b"\0\x91" + noise(length - 1, seed))


RSA = sequence(der(6, bytes.fromhex("2a864886f70d010101")), der(5, b""))
SIGNED = sequence(der(6, bytes.fromhex("2a864886f70d01010b")), der(5, b""))


def name(text):
    return sequence(der(0x31, sequence(der(6, b"\x55\x04\x03"), der(12, text))))


def rsa_key():
    return sequence(integer(0), number(128, 1), integer(b"\1\0\1"), *(number(64, i) for i in range(2, 8)))


def certificate():
    times = sequence(der(23, b"240229000000Z"), der(23, b"340229000000Z"))
    key = sequence(RSA, der(3, b"\0" + sequence(number(128, 1), integer(b"\1\0\1"))))
    flags = der(0xA3, sequence(sequence(der(6, b"\x55\x1d\x13"), der(1, b"\xff"), der(4, sequence(der(1, b"\xff"))))))
    body = sequence(der(0xA0, integer(2)), integer(b"\x11\x22"), SIGNED, name(b"Golden CA"), times, name(b"golden.example.org"), key, flags)
    return sequence(body, SIGNED, der(3, b"\0" + noise(128, 9)))


def pem(label, data, width=64, fields="", end="\n", crc=None):
    text = base64.b64encode(data).decode()
    lines = [text[i:i + width] for i in range(0, len(text), width)]
    if crc is not None:
        lines.append("=" + base64.b64encode(crc.to_bytes(3, "big")).decode())
    out = [f"-----BEGIN {label}-----"] + ([*fields.split("\n"), ""] if fields else []) + lines + [f"-----END {label}-----", ""]
    return end.join(out).encode()
