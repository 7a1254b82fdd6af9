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
    # A certificate deep in a store, with a name in one of its extensions.
    issuer = sequence(der(0x31, sequence(der(6, bytes.fromhex("550403")), der(12, b"golden"))))
    deep = sequence(sequence(integer(1)), der(0xA3, sequence(sequence(der(6, bytes.fromhex("551d01")), der(4, sequence(der(0xA1, sequence(der(0xA4, issuer)))))))))
    for _ in range(7):
        deep = sequence(der(0xA0, sequence(deep)))
    deep = sequence(integer(3), deep)
    save("der", "deep.p12", deep, extension="p12", title="golden", unchecked=8)
    cut = cert[:200]
    save("der", "cut.der", cut, verdict="truncated", length=200)
    save("der", "cut-zeros.der", cut + bytes(900), verdict="truncated", length_min=150, length_max=360)
    save("der", "cut-random.der", cut + noise(900, 5), verdict="truncated", length_min=150, length_max=360)
    long = bytearray(cert)
    long[5] = 0x83
    save("der", "length.der", bytes(long), verdict="reject")
    save("der", "text.der", sequence(der(12, b"Neither a certificate nor a key stands in this sequence, but only text.")), verdict="reject")
    save("der", "set.der", der(0x31, cert), verdict="reject", why="no sequence at 0")
    request = sequence(sequence(integer(0), sequence(der(0x31, sequence(der(6, bytes.fromhex("550403")), der(12, b"golden")))), sequence(RSA, der(3, b"\0" + noise(140, 6)))),
                       RSA, der(3, b"\0" + noise(128, 7)))
    save("der", "request.der", request, extension="der", title="golden", unchecked=len(request) - 130)
    public = sequence(RSA, der(3, b"\0" + noise(270, 8)))
    save("der", "public.der", public, extension="pub", unchecked=len(public) - 270)
    coded = sequence(sequence(der(6, bytes.fromhex("2a864886f70d010c0103")), sequence(der(4, noise(8, 1)), integer(b"\x08\0"))), der(4, noise(600, 9)))
    save("der", "encrypted.key", coded, extension="key", unchecked=len(coded) - 600)
    curve = sequence(integer(1), der(4, noise(32, 2)), der(0xA0, der(6, bytes.fromhex("2a8648ce3d030107"))), der(0xA1, der(3, b"\0\4" + noise(64, 3))))
    bare = sequence(integer(b"\0\xc5" + noise(255, 4)), integer(b"\1\0\1"))
    save("der", "bare.pub", bare, extension="pub", unchecked=len(bare) - 200)
    answer = sequence(der(10, b"\0"), der(0xA0, sequence(der(6, bytes.fromhex("2b0601050507300101")), der(4, sequence(RSA, der(4, noise(200)))))))
    opaque = sequence(integer(0), RSA, der(4, noise(300)))
    save("der", "opaque.key", opaque, verdict="unverified", length=len(opaque), extension="key", why=f"no element where a key or an answer should be, at {len(opaque) - 300}")
    edwards = sequence(der(6, bytes.fromhex("2b6570")))
    save("der", "edwards.pub", sequence(edwards, der(3, b"\0" + noise(32, 5))), extension="pub", unchecked=32)
    save("der", "edwards.key", sequence(integer(0), edwards, der(4, der(4, noise(32, 6)))), extension="key", unchecked=32)
    save("der", "answer.der", answer, extension="der", unchecked=28)
    message = sequence(sequence(integer(2), der(0xA4, sequence(der(0x31, sequence(der(6, bytes.fromhex("550403")), der(12, b"golden"))))), der(0xA4, sequence())),
                       der(0xA0, sequence(sequence(integer(0)))), der(0xA0, der(3, b"\0" + noise(20))))
    save("der", "message.der", message, extension="der", title="golden", unchecked=len(message) - 20)
    save("der", "curve.key", curve, extension="key", unchecked=len(curve) - 65)
    signed = sequence(der(6, bytes.fromhex("2a864886f70d010702")), der(0xA0, sequence(integer(1), der(0x31, RSA), sequence(data), der(0xA0, cert), der(0x31, sequence(integer(1), der(4, noise(256, 4)))))))
    save("der", "signed.p7b", signed, extension="p7b", title="golden.example.org", unchecked=len(signed) - 256)
    # Encrypted bytes over a sector and over a cluster, and what takes their place after a cut.
    def encrypted(length):
        return sequence(sequence(der(6, bytes.fromhex("2a864886f70d010c0103")), sequence(der(4, noise(8, 1)), integer(b"\x08\0"))), der(4, noise(length, 9)))
    long = encrypted(1200)
    for kind, junk in (("wiped", bytes(900)), ("text", b"Only text is left. " * 50), ("erased", b"\xff" * 900)):
        save("der", f"string-{kind}.key", long[:512] + junk, verdict="truncated", length=512, why="no coded bytes at 512")
    wide = encrypted(5000)
    save("der", "cluster.key", wide, verdict="unverified", length=len(wide), extension="key", why="nothing verifies the coded bytes at 4096")
    save("der", "chain.der", cert * 2, extension="der", title="golden.example.org", sequence="yes", unchecked=len(cert) - 140)
    remark = sequence(der(6, bytes.fromhex("6086480186f842010d")), der(4, der(0x16, b"A long remark of the authority that made it. " * 40)))
    told = sequence(sequence(der(0xA0, integer(2)), integer(7), RSA, der(0xA3, sequence(remark))), RSA, der(3, b"\0" + noise(128, 7)))
    save("der", "remark.der", told, extension="der", unchecked=len(told) - 130)
