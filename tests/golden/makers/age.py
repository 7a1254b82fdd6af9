"""Files of age: headers by hand, noise for what is encrypted."""
import base64

from makers.common import save
from makers.sound import noise


def age(data, kind=b"X25519", stanzas=1):
    words = lambda n, seed: base64.b64encode(noise(n, seed)).rstrip(b"=")
    return (b"age-encryption.org/v1\n" + b"".join(b"-> " + kind + b" " + words(32, i) + b"\n" + words(32, 50 + i) + b"\n" for i in range(stanzas)) +
            b"--- " + words(32, 99) + b"\n" + data)


def make():
    secret = noise(20480, 7)
    whole = age(secret)
    start = len(whole) - len(secret)
    why = f"only the key shows where the data from {start} on end"
    save("age", "one.age", whole + b"a text that follows the file. " * 200, verdict="unverified", length_min=len(whole) - 1100, length_max=len(whole) + 1100, why=why)
    save("age", "end.age", whole, verdict="unverified", length=len(whole), unverified=f"{start}-{len(whole)}")
    three = age(noise(60), stanzas=3)
    mark = lambda word: b"-----" + word + b" AGE ENCRYPTED FILE-----\n"
    lines = [base64.b64encode(whole[:5000][i:i + 48]) + b"\n" for i in range(0, 5000, 48)]
    armour = mark(b"BEGIN") + b"".join(lines) + mark(b"END")
    save("age", "armour.age", armour, unchecked=200)
    save("age", "armour-crlf.age", armour.replace(b"\n", b"\r\n"), unchecked=200)
    cut = len(mark(b"BEGIN")) + 65 * 40
    save("age", "armour-cut.age", armour[:cut + 9] + noise(900, 3), verdict="truncated", length_min=cut, length_max=cut + 9)
    save("age", "armour-uneven.age", armour[:cut + 8] + b"\n" + armour[cut + 8:], verdict="unverified", length=len(armour) + 1,
         why=f"lines of other lengths before {len(armour) + 1}")
    save("age", "armour-other.age", mark(b"BEGIN") + base64.b64encode(noise(48)) + b"\n" + mark(b"END"), verdict="reject", why="no header at 0")
    save("age", "three.age", three, verdict="unverified", length_min=len(three) - 60, length_max=len(three))
    save("age", "cut.age", whole[:start + 20], verdict="truncated", length=start + 20)
    save("age", "head-cut.age", whole[:120], verdict="truncated", length_min=70, length_max=120)
    save("age", "version.age", b"age-encryption.org/v2\n" + whole[22:], verdict="reject", why="no header at 0")
