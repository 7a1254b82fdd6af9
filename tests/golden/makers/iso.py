"""The smallest image of a CD, by hand: two folders, a file, Joliet's descriptor; large for its 16 empty blocks."""
import struct

from makers.common import save
from makers.packing import text

BLOCK = 2048
DATE = b"2024022923595800\4"  # an hour east of Greenwich
SECONDS = 1709251198 - 3600


def both(value, width=4):
    return value.to_bytes(width, "little") + value.to_bytes(width, "big")


def entry(name, block, length, folder=False):
    data = both(block) + both(length) + bytes([124, 2, 29, 23, 59, 58, 4]) + bytes([2 if folder else 0, 0, 0]) + both(1, 2) + bytes([len(name)]) + name
    return bytes([len(data) + 2 + len(data) % 2, 0]) + data + bytes(len(data) % 2)


def descriptor(kind, blocks, root, table, table_len):
    data = bytearray(BLOCK)
    data[0:7] = bytes([kind]) + b"CD001\1"
    data[8:72] = b"SYSTEM".ljust(32) + b"A VOLUME".ljust(32)
    data[80:88], data[128:132], data[132:140] = both(blocks), both(BLOCK, 2), both(table_len)
    data[140:144] = struct.pack("<I", table)
    root = entry(b"\0", root, BLOCK, True)
    data[156:156 + len(root)] = root
    data[813:830] = DATE
    return bytes(data)


def volume(words, empty=0, udf=()):
    """With blocks of zeros behind its files, and UDF's descriptors."""
    first = 19 + len(udf)
    folders = [(b"\0", first + 1, 1), (b"DOCS", first + 2, 1)]
    table = b"".join(bytes([len(name), 0]) + struct.pack("<IH", block, parent) + name + bytes(len(name) % 2) for name, block, parent in folders)
    blocks = [bytes(BLOCK)] * 16
    blocks.append(descriptor(1, first + 4 + empty, first + 1, first, len(table)))
    blocks.append(descriptor(2, first + 4 + empty, first + 1, first, len(table)))
    blocks.append(b"\xffCD001\1")
    blocks.extend(udf)
    blocks.append(table)
    blocks.append(entry(b"\0", first + 1, BLOCK, True) + entry(b"\1", first + 1, BLOCK, True) + entry(b"DOCS", first + 2, BLOCK, True))
    blocks.append(entry(b"\0", first + 2, BLOCK, True) + entry(b"\1", first + 1, BLOCK, True) + entry(b"A.TXT;1", first + 3, len(words)))
    blocks.append(words)
    return b"".join(block.ljust(BLOCK, b"\0") for block in blocks + [b""] * empty)


def make():
    words = text(1500)
    whole = volume(words)
    save("iso", "small.iso", whole, title="A VOLUME", time=SECONDS, why="", embedded=22 * BLOCK, unverified=f"0-32768 {19 * BLOCK}-{len(whole)}")
    for name, last in ("full", text(BLOCK)), ("other", text(1500) + bytes(20)):  # no zeros pad it, or they begin earlier than it ends
        odd = volume(last)
        save("iso", name + ".iso", odd, verdict="unverified", length=len(odd), why=f"the last file's bytes, before {22 * BLOCK + len(last)}, cannot be verified")
    save("iso", "no-primary.iso", whole[:32768] + whole[34816:36864], verdict="reject", why="no primary volume descriptor at 32768")
    filled, end = volume(words, 20), len(whole)
    save("iso", "filled.iso", filled, title="A VOLUME", why="")
    foreign = text(11 * BLOCK)
    save("iso", "filled-cut.iso", filled[:-len(foreign)] + foreign, verdict="truncated", length=end, why=f"invalid data at {end}")
    table = (foreign[:-BLOCK] + bytes(BLOCK - 512) + b"EFI PART".ljust(512, b"\0"))
    save("iso", "filled-partitions.iso", filled[:-len(table)] + table, title="A VOLUME", why="")
    # HFS beside it: its head at 1,024, blocks of 512 bytes, the first of them at block 4; a catalogue after the last file; a copy of the head.
    shared = bytearray(volume(words, 20))
    head = b"BD" + bytes(16) + struct.pack(">HI4xH", len(shared) // 512 - 6, 512, 4).ljust(46, b"\0")
    shared[1024:1024 + len(head)] = head
    shared[end:end + 36000] = (b"an entry of a catalogue\0\0\1\2" * 1500)[:36000]
    save("iso", "hfs-cut.iso", bytes(shared), verdict="unverified", length=len(shared), why=f"no copy of HFS's head at its end, before {len(shared)}")
    shared[-1024:-1024 + len(head)] = head
    save("iso", "hfs.iso", bytes(shared), title="A VOLUME")
    # The same before blocks that are not HFS's.
    head = head[:18] + struct.pack(">H", len(shared) // 512 - 6 - 12) + head[20:]
    longer = bytearray(shared)
    longer[1024:1024 + len(head)] = head
    hfs_end = len(longer) - 12 * 512
    longer[hfs_end - 1024:] = head.ljust(1024, b"\0") + text(2 * BLOCK) + bytes(BLOCK)
    save("iso", "hfs-tail.iso", bytes(longer), verdict="unverified", length=len(longer), why=f"the bytes after HFS, from {hfs_end} on, cannot be verified")
    few = volume(words, 4)
    save("iso", "few-blocks.iso", few, title="A VOLUME", why="")
    save("iso", "few-blocks-cut.iso", few[:-3 * BLOCK] + text(3 * BLOCK), verdict="unverified", length=len(few), why=f"the bytes after the last file, from {end} on, cannot be verified")
    udf = [b"\0BEA01\1", b"\0NSR02\1", b"\0TEA01\1"]
    shared = volume(words, 2, udf)
    anchor = struct.pack("<HHBBHHHI", 2, 2, 0, 0, 0, 0, 0, len(shared) // BLOCK - 1).ljust(BLOCK, b"\1")
    save("iso", "udf.iso", shared[:-BLOCK] + anchor, title="A VOLUME", unchecked=len(shared) - BLOCK + 16)
    save("iso", "udf-cut.iso", shared, verdict="unverified", length=len(shared), title="A VOLUME", why=f"no anchor of UDF in the last blocks before {len(shared)}")
