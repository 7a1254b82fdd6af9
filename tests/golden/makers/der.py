"""Certificates and keys in DER, element by element."""
from makers.common import save
from makers.keys import RSA, certificate, der, integer, rsa_key, sequence
from makers.sound import noise


def make():
    cert, key = certificate(), rsa_key()
    save("der", "certificate.der", cert, extension="der", title="golden.example.org", unchecked=len(cert) - 140)
    save("der", "rsa.key", key, extension="key", unchecked=len(key) - 70)
    wrapped = sequence(integer(0), RSA, der(4, key))
    save("der", "pkcs8.key", wrapped, extension="key", unchecked=len(wrapped) - 70)
    data = der(6, bytes.fromhex("2a864886f70d010701"))
    p12 = sequence(integer(3), sequence(data, der(0xA0, der(4, sequence(data, der(0xA0, der(4, noise(300, 3))))))),
                   sequence(sequence(RSA, der(4, noise(20))), der(4, noise(8)), integer(b"\x08\0")))
    save("der", "store.p12", p12, extension="p12", unchecked=len(p12) - 20)
    cut = cert[:200]
    save("der", "cut.der", cut, verdict="truncated", length=200)
    save("der", "cut-zeros.der", cut + bytes(900), verdict="truncated", length_min=150, length_max=360)
    save("der", "cut-random.der", cut + noise(900, 5), verdict="truncated", length_min=150, length_max=360)
    long = bytearray(cert)
    long[5] = 0x83
    save("der", "length.der", bytes(long), verdict="reject")
    save("der", "text.der", sequence(der(12, b"Neither a certificate nor a key stands in this sequence, but only text.")), verdict="reject")
    save("der", "set.der", der(0x31, cert), verdict="reject", why="no sequence at 0")
