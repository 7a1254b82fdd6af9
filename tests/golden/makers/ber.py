"""PKCS #12, signed and encrypted data in BER, element by element: what is inside is noise."""
from makers.common import save
from makers.keys import RSA, der, integer, sequence
from makers.sound import noise

DATA, SIGNED, ENVELOPED = (der(6, bytes.fromhex("2a864886f70d0107" + kind)) for kind in ("01", "02", "03"))


def open_element(tag, *inside):
    """Without a length."""
    return bytes([tag, 0x80]) + b"".join(inside) + b"\0\0"


def store(seed, certificate=noise(400, 3)):
    """As NSS writes it."""
    bag = open_element(0x30, DATA, open_element(0xA0, open_element(0x24, der(4, certificate), der(4, noise(40, seed)))))
    return open_element(0x30, integer(3), open_element(0x30, DATA, open_element(0xA0, open_element(0x24, der(4, bag)))),
                        sequence(sequence(RSA, der(4, noise(20))), der(4, noise(8)), integer(b"\x08\0")))


def signed():
    inside = open_element(0x30, integer(1), der(0x31, RSA), open_element(0x30, DATA), open_element(0xA0, sequence(RSA, der(3, b"\0" + noise(300, 5)))),
                          der(0x31, sequence(integer(1), der(4, noise(256, 4)))))
    return open_element(0x30, SIGNED, open_element(0xA0, inside))


def encrypted():
    content = open_element(0x30, DATA, sequence(RSA, der(4, noise(8))), open_element(0xA0, der(4, noise(400, 8)), der(4, noise(16, 9))))
    inside = open_element(0x30, integer(0), der(0x31, sequence(integer(0), RSA, der(4, noise(128, 4)))), content)
    return open_element(0x30, ENVELOPED, open_element(0xA0, inside))


def make():
    whole = store(1)
    save("ber", "store.p12", whole, extension="p12", unchecked=12)
    mail = signed()
    save("ber", "signed.p7b", mail, extension="p7b", unchecked=12)
    for name, junk in (("zeros", bytes(900)), ("random", noise(900, 6))):
        save("ber", f"{name}.p7b", mail[:300] + junk, verdict="truncated", length_min=60, length_max=1200)
    secret = encrypted()
    save("ber", "encrypted.p7b", secret, extension="p7b", unchecked=12)
    save("ber", "encrypted-zeros.p7b", secret[:500] + bytes(900), verdict="truncated", length_min=60, length_max=1200)
    save("ber", "cut.p12", whole[:-9], verdict="truncated", length=len(whole) - 9, why=f"the image ends at {len(whole) - 9}, before the file does")
    save("ber", "long.p7b", mail.replace(b"\x03\x82", b"\x03\x84", 1), verdict="truncated", length_min=60, length_max=200)
    save("ber", "other.p12", whole[:2] + integer(4) + whole[5:], verdict="reject", why="neither keys nor signed or encrypted data at 0")
    save("ber", "few.p12", whole[:7] + noise(200, 7), verdict="reject")
