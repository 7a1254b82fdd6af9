"""Keys and certificates in PEM, OpenSSH's keys."""
import struct

from makers.common import save
from makers.keys import certificate, pem, rsa_key
from makers.sound import noise


def ssh_key():
    def string(data):
        return struct.pack(">I", len(data)) + data

    public = string(b"ssh-ed25519") + string(noise(32, 2))
    return b"openssh-key-v1\0" + string(b"none") + string(b"none") + string(b"") + struct.pack(">I", 1) + string(public) + string(noise(136, 3))


def make():
    cert, key = pem("CERTIFICATE", certificate()), pem("RSA PRIVATE KEY", rsa_key())
    save("pem", "certificate.crt", cert, extension="crt")
    save("pem", "key.pem", key, extension="pem")
    save("pem", "crlf.pem", pem("RSA PRIVATE KEY", rsa_key(), end="\r\n"), extension="pem")
    save("pem", "wide.crt", pem("CERTIFICATE", certificate(), 76), extension="crt")
    save("pem", "chain.crt", cert * 3, extension="crt", sequence="yes")
    save("pem", "both.pem", key + cert, extension="pem", sequence="yes")
    save("pem", "openssh.pem", pem("OPENSSH PRIVATE KEY", ssh_key(), 70), extension="pem")
    fields = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF"
    save("pem", "encrypted.pem", pem("RSA PRIVATE KEY", noise(640, 4), fields=fields), extension="pem")
    save("pem", "open-line.pem", key[:-1], verdict="unverified", length=len(key) - 1)
    save("pem", "open-random.pem", key[:-1] + b"x\x9d\x02" + noise(900, 6), verdict="unverified", length=len(key) - 1)
    cut = key[:300]
    save("pem", "cut.pem", cut, verdict="truncated", length=300)
    for kind, junk in (("zeros", bytes(900)), ("ones", b"\xff" * 900), ("text", b"\nNothing else.\n" * 30)):
        save("pem", f"cut-{kind}.pem", cut + junk, verdict="truncated", length_min=290, length_max=302)
    save("pem", "cut-random.pem", cut + noise(900, 8), verdict="truncated", length_min=290, length_max=310)
    short = pem("CERTIFICATE", certificate()[:-1])
    save("pem", "length.crt", short, verdict="truncated", length=len(short), why=f"data with a wrong length before {len(short)}")
    label = cert.replace(b"END CERTIFICATE", b"END X509 CRL")
    save("pem", "label.crt", label, verdict="truncated", length=len(label))
    save("pem", "no-data.pem", b"-----BEGIN PRIVATE KEY-----\n" + bytes(90), verdict="reject", why="no block of base64 at 0")
    said = b"Certificate:\n    Data:\n        Version: 3 (0x2)\n        Serial Number: 4121 (0x1019)\n"
    save("pem", "said.crt", said + cert, extension="crt", sequence="yes")
    save("pem", "bag.pem", b"Bag Attributes\n    friendlyName: golden\nKey Attributes: <No Attributes>\n" + key + said + cert, extension="pem", sequence="yes")
    save("pem", "said-cut.crt", said + b"\1" * 60 + cert, verdict="reject", why="no block of base64 at 0")
    prose = b"# Issuer: CN=Golden Authority\n# Serial: 4711\n\n"
    save("pem", "bundle.crt", cert + prose + cert + b"\nGolden Authority 2\n==================\n" + cert, extension="crt", sequence="yes")
    said = b"Public Key Info:\n\tPublic Key Algorithm: RSA\n\tKey Security Level: Medium (2048 bits)\n\nmodulus:\n\t00:d3:02:\n\n"
    save("pem", "gnutls.pem", said + key, extension="pem", sequence="yes")
    save("pem", "gnutls.crt", b"X.509 Certificate Information:\n\tVersion: 3\n\tIssuer: CN=golden\n\n" + cert, extension="crt", sequence="yes")

    def string(data):
        return struct.pack(">I", len(data)) + data

    def ssh2(label, data, fields):
        text = pem(label, data, 70, fields).replace(b"-----BEGIN", b"---- BEGIN").replace(b"-----END", b"---- END")
        return text.replace(b"-----", b" ----")

    public = string(b"ssh-rsa") + string(b"\1\0\1") + string(b"\0" + noise(256, 12))
    comment = 'Comment: "2048-bit RSA, a comment that goes on \\\nin the next line"'
    save("pem", "ssh2.pub", ssh2("SSH2 PUBLIC KEY", public, comment), extension="pem")
    save("pem", "ssh2-length.pub", ssh2("SSH2 PUBLIC KEY", public[:-1], comment), verdict="truncated")
    private = struct.pack(">II", 0x3f6ff9eb, 508) + noise(500, 13)
    save("pem", "ssh2.pem", ssh2("SSH2 ENCRYPTED PRIVATE KEY", private, comment), extension="pem")
    save("pem", "ssh2-open.pem", ssh2("SSH2 ENCRYPTED PRIVATE KEY", private, comment)[:-1] + b"\x9d\1", verdict="unverified",
         length=len(ssh2("SSH2 ENCRYPTED PRIVATE KEY", private, comment)) - 1)
    save("pem", "chain-open.crt", cert * 2 + cert[:-1] + b"\x9d\1", verdict="unverified", length=3 * len(cert) - 1, extension="crt")
    for kind, junk in (("zeros", bytes(900)), ("random", noise(900, 8)), ("text", b"\nNothing else.\n" * 30)):
        at = 2 * len(cert) + 300
        save("pem", f"chain-{kind}.crt", (cert * 3)[:at] + junk, verdict="truncated", length_min=at - 65, length_max=at + 10, extension="crt")
    save("pem", "certifi.crt", b"\n" + prose + cert + b"\n" + prose + cert, extension="crt", sequence="yes")
    save("pem", "curl.crt", b"##\n## Bundle of CA Root Certificates\n##\n\nGolden\n======\n" + cert, extension="crt", sequence="yes")
    save("pem", "empty-line.crt", b"\n" + cert, verdict="reject", why="no block of base64 at 0")
