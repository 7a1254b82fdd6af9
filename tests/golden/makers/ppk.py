"""PuTTY's private keys: keys are noise, and the MAC is made up."""
import base64, random

from makers.common import save


def lines(seed, length):
    text = base64.b64encode(random.Random(seed).randbytes(length)).decode()
    return [text[i:i + 64] for i in range(0, len(text), 64)]


def key(version=3, encryption="none", end="\n", public=51, digits=None):
    secret = ["Key-Derivation: Argon2id", "Argon2-Memory: 8192", "Argon2-Passes: 13", "Argon2-Parallelism: 1", "Argon2-Salt: " + "5a" * 16] if encryption != "none" and version == 3 else []
    a, b = lines(1, public), lines(2, 36)
    text = [f"PuTTY-User-Key-File-{version}: ssh-ed25519", f"Encryption: {encryption}", "Comment: golden", f"Public-Lines: {len(a)}", *a, *secret, f"Private-Lines: {len(b)}", *b,
            "Private-MAC: " + "0f" * (digits or (20 if version == 2 else 32))]
    return "".join(line + end for line in text).encode()


def make():
    for version in (2, 3):
        save("ppk", f"key-{version}.ppk", key(version), unchecked=1)
    save("ppk", "secret.ppk", key(3, "aes256-cbc", public=279), unchecked=1)
    save("ppk", "windows.ppk", key(2, "aes256-cbc", "\r\n"), unchecked=1)
    whole = key()
    save("ppk", "no-end.ppk", whole[:-1] + b"\0" * 9, verdict="unverified", length=len(whole) - 1, why=f"no line end at {len(whole) - 1}")
    save("ppk", "cut.ppk", whole[:150], verdict="truncated", length_min=90, length_max=150)
    for name, junk in (("zeros", bytes(300)), ("random", random.Random(3).randbytes(300))):
        save("ppk", f"{name}.ppk", whole[:150] + junk, verdict="truncated", length_min=90, length_max=150)
    save("ppk", "mac.ppk", key(3, digits=20), verdict="truncated", length=whole.rindex(b"Private-MAC"), why=f"no line of a key at {whole.rindex(b'Private-MAC')}")
    save("ppk", "count.ppk", whole.replace(b"Lines: 2", b"Lines: 1", 1), verdict="truncated", length_min=90, length_max=200)
    save("ppk", "version.ppk", whole.replace(b"File-3", b"File-4"), verdict="reject", why="no version at 0")
    save("ppk", "text.ppk", whole[:40] + b"\nand so on\n", verdict="reject", why="no encryption at 41")
