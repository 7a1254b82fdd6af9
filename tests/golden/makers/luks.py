"""LUKS 1 and 2: headers; keys and volumes are made up."""
import struct

from makers.common import save
from makers.elf import code

UUID = b"11111111-2222-3333-4444-555555555555"


def first(payload=8, slots=8, mark=0xac71f3):
    head = b"LUKS\xba\xbe\0\1" + b"aes".ljust(32, b"\0") + b"xts-plain64".ljust(32, b"\0") + b"sha256".ljust(32, b"\0")
    head += struct.pack(">II", payload, 16) + code(20) + code(32) + struct.pack(">I", 1000) + UUID.ljust(40, b"\0")
    for i in range(slots):
        head += struct.pack(">II", 0xdead if i else mark, 1000 if not i else 0) + bytes(32) + struct.pack(">II", 2, 100)
    return head.ljust(1024, b"\0") + code(3072)


def second(mirror=b"SKUL", text=None):
    def header(magic):
        data = magic + b"\xba\xbe\0\2" + struct.pack(">QQ", 16384, 3) + bytes(48) + b"sha256".ljust(32, b"\0") + code(64)
        data += UUID.ljust(40, b"\0") + bytes(48) + struct.pack(">Q", 0 if magic == b"LUKS" else 16384)
        return data.ljust(4096, b"\0") + json.ljust(12288, b"\0")
    json = text or (b'{"keyslots":{"0":{"type":"luks2","area":{"type":"raw","offset":"32768","size":"4096"}}},'
                    b'"segments":{"0":{"type":"crypt","offset":"36864","size":"dynamic"}}}')
    return header(b"LUKS") + header(mirror) + code(4096)


def make():
    def unverified(name, data, end):
        save("luks", name, data, verdict="unverified", length=end, title=UUID.decode(),
             why=f"the header with its keys; the volume from {end} on cannot be verified")
    plain = first()
    unverified("first.luks", plain + code(500), 4096)
    unverified("far.luks", first(16) + code(8000), 4096)
    unverified("detached.luks", first(0), 3072)
    unverified("second.luks", second() + code(500), 36864)
    unverified("second-detached.luks", second(text=b'{"keyslots":{"0":{"area":{"offset":"32768","size":"4096"}}},"segments":{}}'), 36864)
    sized = b'{"keyslots":{},"segments":{"0":{"offset":"65536"}},"config":{"json_size":"12288","keyslots_size":"8192"}}'
    unverified("second-sized.luks", second(text=sized) + code(9000), 40960)
    save("luks", "cut.luks", plain[:3000], verdict="truncated", length=3000, why="the image ends at 3000, before the file does")
    save("luks", "mirror.luks", second(b"XXXX")[:18000], verdict="truncated", length=16384, why="no second header at 16384")
    save("luks", "slot.luks", first(mark=7), verdict="reject", why="no key slots at 208")
    save("luks", "payload.luks", first(3), verdict="reject", why="no key slots at 208")
    save("luks", "text.luks", second(text=b"x")[:17000], verdict="reject", why="no JSON text of the header at 4096")
    save("luks", "cipher.luks", plain[:8] + b"\1" + plain[9:], verdict="reject", why="no names of a cipher at 8")
    save("luks", "version.luks", plain[:7] + b"\3" + plain[8:], verdict="reject", why="no magic and version at 0")
