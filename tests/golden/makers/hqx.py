"""BinHex 4.0, by hand."""
import binascii, struct

from makers.common import save

LETTERS = b"!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr"


def hqx(name, data, resources, end=b"\n", wrong=0):
    head = bytes([len(name)]) + name + b"\0TEXTttxt\0\0" + struct.pack(">II", len(data), len(resources))
    plain = b"".join(part + struct.pack(">H", binascii.crc_hqx(part, 0) ^ (wrong if part is data else 0)) for part in (head, data, resources))
    coded, at = b"", 0
    while at < len(plain):
        run = 1
        while at + run < len(plain) and run < 255 and plain[at + run] == plain[at]:
            run += 1
        one = b"\x90\0" if plain[at] == 0x90 else plain[at:at + 1]
        coded += one + bytes([0x90, run]) if run > 3 else one * run
        at += run
    bits = "".join(f"{byte:08b}" for byte in coded)
    bits += "0" * (-len(bits) % 6)
    text = b":" + bytes(LETTERS[int(bits[i:i + 6], 2)] for i in range(0, len(bits), 6)) + b":"
    return b"(This file must be converted with BinHex 4.0)" + end * 2 + end.join(text[i:i + 64] for i in range(0, len(text), 64)) + end


def make():
    text = b"A golden text, which is not long. " * 40 + b"\x90\x90" + bytes(300)
    whole = hqx(b"golden", text, b"")
    save("hqx", "text.hqx", whole, title="golden", sequence="yes")
    both = hqx(b"both forks", text[:500], bytes(range(200)), b"\r\n")
    save("hqx", "both.hqx", both, title="both forks", sequence="yes")
    save("hqx", "mac.hqx", hqx(b"a", b"b" * 90, b"", b"\r"), title="a", sequence="yes")
    colon = next(coded for n in range(64) if (coded := hqx(b"golden", text[:n + 9], b"")).endswith(b"\n:\n"))
    save("hqx", "colon.hqx", colon, title="golden", sequence="yes")
    save("hqx", "cut.hqx", whole[:400], verdict="truncated", length=400)
    for kind, junk in (("zeros", bytes(900)), ("words", b"no more, never\n" * 60)):
        save("hqx", f"{kind}.hqx", whole[:400] + junk, verdict="truncated", length_min=400, length_max=460)
    save("hqx", "crc.hqx", hqx(b"golden", text, b"", wrong=1), verdict="truncated", title="golden")
    save("hqx", "header.hqx", whole[:48] + b"!!!!" + whole[52:], verdict="reject")
    save("hqx", "no-data.hqx", whole[:45] + b" is what it says.\n" * 100, verdict="reject", why="no first line at 0")
