"""Sessions of Chrome, command by command."""
import random, struct

from makers.common import save


def command(kind, data):
    return struct.pack("<HB", len(data) + 1, kind) + data


def pickle(kind, data):
    return command(kind, struct.pack("<I", len(data)) + data)


def snss(version=3):
    page = struct.pack("<III", 7, 0, 26) + b"https://golden.example.org" + bytes(2)
    commands = [command(0, struct.pack("<II", 1, 7)), pickle(6, page), command(14, struct.pack("<II", 1, 2)), command(255, b"")]
    commands = [one for one in commands if len(one) > 3] * 5
    return b"SNSS" + struct.pack("<I", version) + b"".join(commands)


def make():
    whole = snss()
    why = f"no command at {len(whole)}, and the number of commands is not stored"
    save("snss", "session", whole, verdict="unverified", length=len(whole), why=why)
    save("snss", "zeros", whole + bytes(300), verdict="unverified", length=len(whole), why=why)
    coded = b"SNSS\2\0\0\0" + command(6, random.Random(1).randbytes(90)) + command(1, random.Random(2).randbytes(33))
    save("snss", "encrypted", coded + bytes(99), verdict="unverified", length=len(coded))
    save("snss", "cut", whole[:100], verdict="truncated", length=100, why="the image ends at 100, before the file does")
    save("snss", "one", whole[:19] + bytes(99), verdict="reject", why="no command at 19")
    save("snss", "version", b"SNSS\5\0\0\0" + whole[8:], verdict="reject", why="no header at 0")
