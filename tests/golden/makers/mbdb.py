"""Lists of files in iOS backups, record by record."""
import struct

from makers.common import save
from makers.packing import junk, text


def string(data):
    return b"\xff\xff" if data is None else struct.pack(">H", len(data)) + data


def record(domain, path, mode=0o100644, size=0, properties=(), link=None, key=None, time=1300000000):
    kept = mode >> 12 == 8
    out = string(domain) + string(path) + string(link) + string(junk(20, size + 1) if kept else None) + string(key)
    out += struct.pack(">HQIIIIIQBB", mode, 0x1234, 501, 501, time, time + 5, time - 5, size, 4 if kept else 0, len(properties))
    return out + b"".join(string(name) + string(value) for name, value in properties)


RECORDS = [record(b"AppDomain-com.example.notes", b"", 0o40755), record(b"AppDomain-com.example.notes", b"Library/Preferences/com.example.plist", size=612),
           record(b"HomeDomain", b"Library/Caf\xc3\xa9", 0o120755, link=b"/private/var/mobile"),
           record(b"HomeDomain", b"Library/SMS/sms.db", size=90112, key=junk(44, 9), time=1400000000,
                  properties=((b"com.apple.quarantine", b"0002;4f;a"), (b"data", junk(70, 5)))), record(b"CameraRollDomain", b"Media", 0o40755)]


def make():
    whole = b"mbdb\5\0" + b"".join(RECORDS)
    end = len(whole)
    why = "no record at %d, and the number of records is not stored"
    save("mbdb", "backup.mbdb", whole, verdict="unverified", length=end, extension="", time=1400000000, why=why % end)
    for name, other in (("random", junk(3000, 2)), ("zeros", bytes(3000)), ("text", text(3000))):
        save("mbdb", f"{name}.mbdb", whole + other, verdict="unverified", length=end)
    last = end - len(RECORDS[4])
    begun = f"an invalid record at {last}"
    save("mbdb", "cut.mbdb", whole[:-20], verdict="truncated", length=last, why=f"the image ends at {end - 20}, before the file does")
    for name, other in (("random", junk(3000, 4)), ("zeros", bytes(3000)), ("text", text(3000))):
        save("mbdb", f"cut-{name}.mbdb", whole[:last + 18] + other, verdict="truncated", length=last, why=begun)
    save("mbdb", "mode.mbdb", whole.replace(b"\x41\xed", b"\x01\xed", 1), verdict="reject", why="no record at 6")
    save("mbdb", "second.mbdb", whole.replace(b"\x81\xa4", b"\x11\xa4", 1), verdict="truncated", length=6 + len(RECORDS[0]))
    save("mbdb", "domain.mbdb", b"mbdb\5\0" + record(b"com.example", b"a"), verdict="reject", why="no record at 6")
    save("mbdb", "name.mbdb", b"mbdb\5\0" + record(b"HomeDomain", b"a\1b"), verdict="reject", why="no record at 6")
    save("mbdb", "twice.mbdb", whole + whole, verdict="unverified", length=end)
