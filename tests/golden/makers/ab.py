"""Android's backups: compressed, stored and encrypted."""
import io, tarfile, zlib

from makers.common import save
from makers.packing import junk, text


def members():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in (("apps/org.example/_manifest", b"1\norg.example\n"), ("apps/org.example/db/notes.db", junk(5000, 1)), ("apps/org.example/f/a.txt", text(3000))):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mtime = 1709251198
            tar.addfile(info, io.BytesIO(data))
        at = tar.offset
    return out.getvalue()[:at + 1024], at


def make():
    head = b"ANDROID BACKUP\n5\n%d\n%s\n"
    tar, end = members()
    packed = head % (1, b"none") + zlib.compress(tar, 9)
    save("ab", "packed.ab", packed, why="")
    stored = head % (0, b"none") + tar
    at = len(stored) - len(tar)
    starts = [at + i for i in range(0, end, 512) if tar[i + 257:i + 262] == b"ustar"]
    why = f"nothing verifies the members from {at}"
    save("ab", "stored.ab", stored, verdict="unverified", length=len(stored), embedded=" ".join(str(s + 512) for s in starts), why=why)
    save("ab", "stored-random.ab", stored + junk(4000, 2), verdict="unverified", length=len(stored), why=why)
    save("ab", "stored-cut.ab", stored[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    lines = b"".join(junk(n, n).hex().upper().encode() + b"\n" for n in (64, 63)) + b"10000\n" + b"".join(junk(n, n).hex().upper().encode() + b"\n" for n in (16, 96))
    secret = head % (1, b"AES-256") + lines
    save("ab", "encrypted.ab", secret + junk(8192, 3) + bytes(20000), verdict="unverified", length_min=len(secret) + 8192 - 1100, length_max=len(secret) + 8192 + 1100)
    save("ab", "encrypted-lines.ab", secret[:-300] + junk(300, 3), verdict="reject")
    save("ab", "cut.ab", packed[:4000], verdict="truncated", length=4000, why="the image ends at 4000, before the file does")
    save("ab", "random.ab", packed[:4000] + junk(9000, 4), verdict="truncated", length_min=4000, length_max=9000)
    save("ab", "zeros.ab", packed[:4000] + bytes(9000), verdict="truncated", length_min=3900, length_max=4000)
    save("ab", "sum.ab", packed[:-1] + bytes((packed[-1] ^ 1,)), verdict="truncated")
    save("ab", "no-stream.ab", packed[:24] + b"\n" + junk(900, 5), verdict="reject")
    save("ab", "header.ab", packed.replace(b"none", b"AES "), verdict="reject", why="no header at 0")
    save("ab", "compressed.ab", packed[:17] + b"2" + packed[18:], verdict="reject", why="no header at 0")
