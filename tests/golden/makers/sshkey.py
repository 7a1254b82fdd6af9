"""OpenSSH's public keys, text by text."""
import base64, struct

from makers.common import save
from makers.packing import junk


def key(kind, *parts, comment=b"golden@example.org", end=b"\n"):
    data = b"".join(struct.pack(">I", len(part)) + part for part in (kind,) + parts)
    return kind + b" " + base64.b64encode(data) + (b" " + comment if comment else b"") + end


def make():
    rsa = key(b"ssh-rsa", b"\1\0\1", b"\0" + b"\x91" + junk(255, 1))
    curve = key(b"ssh-ed25519", junk(32, 2), comment=b"")
    nist = key(b"ecdsa-sha2-nistp256", b"nistp256", b"\4" + junk(64, 3), comment="Größe".encode())
    save("sshkey", "rsa.pub", rsa, title="golden@example.org", why="")
    save("sshkey", "ed25519.pub", curve, title="")
    save("sshkey", "ecdsa.pub", nist, title="Größe")
    save("sshkey", "authorized_keys.pub", rsa + curve + nist, sequence="yes", title="golden@example.org")
    save("sshkey", "crlf.pub", rsa.replace(b"\n", b"\r\n"))
    half = len(rsa) // 2
    save("sshkey", "no-end.pub", curve[:-1], verdict="unverified", length=len(curve) - 1, why="no end of the line at 0 after its key")
    save("sshkey", "random.pub", rsa[:-1] + b"\1" + junk(300, 4), verdict="unverified", length=len(rsa) - 20)
    save("sshkey", "cut.pub", rsa[:half], verdict="reject", why="no key at 0")
    save("sshkey", "kind.pub", rsa.replace(b"ssh-rsa", b"ssh-dss"), verdict="reject")
    save("sshkey", "words.pub", b"ssh-rsa AAAAB3NzaC1yc2E and so on\n", verdict="reject")
