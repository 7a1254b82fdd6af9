"""Apache Arrow's files, message by message."""
import struct

from makers.common import save
from makers.sound import noise


def description(body):
    """A message's table: its fields' places, then the fields: version, kind, header, length of the body."""
    places = struct.pack("<HHHHHHxx", 12, 24, 4, 6, 8, 16)
    table = struct.pack("<iHBxI4xQ", len(places), 4, 3, 0, body)
    out = struct.pack("<I", 4 + len(places)) + places + table
    return out + bytes(-len(out) % 8)


def message(data, marked=True):
    told = description(len(data))
    return (b"\xff" * 4 if marked else b"") + struct.pack("<I", len(told)) + told + data


def arrow(messages, footer=b"a table of batches: " * 9, marked=True, length=None):
    end = b"\xff" * 4 + bytes(4) if marked else bytes(4)
    return b"ARROW1\0\0" + b"".join(messages) + end + footer + struct.pack("<I", len(footer) if length is None else length) + b"ARROW1"


def make():
    messages = [message(b""), message(bytes(range(240))), message(noise(800))]
    whole = arrow(messages)
    save("arrow", "batches.arrow", whole, unchecked=8)
    save("arrow", "older.arrow", arrow([message(bytes(64), False), message(bytes(96), False)], marked=False), unchecked=8)
    save("arrow", "cut.arrow", whole[:600], verdict="truncated", length=600)
    save("arrow", "footer-cut.arrow", whole[:-30], verdict="truncated", length=len(whole) - 30)
    lz4 = struct.pack("<Q", 400) + b"\x04\x22\x4d\x18" + bytes(52)
    coded = arrow([message(b""), message(lz4)])
    save("arrow", "coded.arrow", coded, unchecked=8, embedded=coded.index(b"\x04\x22\x4d\x18"))
    first = 8 + len(messages[0]) + len(messages[1])
    save("arrow", "random.arrow", whole[:first] + noise(4000, 5), verdict="truncated", length=first)
    save("arrow", "length.arrow", arrow(messages, length=3) + noise(99), verdict="truncated", length=len(whole) + 99)
    save("arrow", "nothing.arrow", b"ARROW1\0\0" + noise(300), verdict="reject", why="no message at 8")
    save("arrow", "mark.arrow", b"ARROW2" + whole[6:], verdict="reject", why="no mark at 0")
    # As Polars writes it: a schema without a length before the messages.
    schema = struct.pack("<IiIIII", 4, -14, 20, 65540, 0xa0000, 0x8000b) + bytes(range(64))
    save("arrow", "schema.arrow", arrow([schema] + messages), unchecked=104)
