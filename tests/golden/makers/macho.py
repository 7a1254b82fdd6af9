"""Mach-O: programs, libraries, object files, universal ones, command by command; their code is made up."""
import random, struct

from makers.common import save
from makers.elf import code


def made(wide=True, big=False, kind=2, library=None, signed=False, signature_break=0, name_break=0, symbols=("_main", "_printf", "_start"), code_len=500,
         extra=b"", gap=0, command_break=0, message=b""):
    o = ">" if big else "<"
    head = 32 if wide else 28
    commands = []
    size = (72 + 80 if wide else 56 + 68) + 24 + 80 + (16 if signed else 0) + (24 + 24 if library else 0) + len(extra)
    at = head + size
    text = code(code_len)
    body = text
    if wide:
        segment = struct.pack(o + "II16sQQQQIIII", 0x19, 152, b"__TEXT", 0, 4096, 0, at + len(text), 7, 5, 1, 0)
        segment += struct.pack(o + "16s16sQQIIIIIIII", b"__text", b"__TEXT", 0, len(text), at, 2, 0, 0, 0, 0, 0, 0)
    else:
        segment = struct.pack(o + "II16sIIIIIIII", 1, 124, b"__TEXT", 0, 4096, 0, at + len(text), 7, 5, 1, 0)
        segment += struct.pack(o + "16s16sIIIIIIIII", b"__text", b"__TEXT", 0, len(text), at, 2, 0, 0, 0, 0, 0)
    commands.append(segment)
    names, entries = b" \0", b""
    for name in symbols:
        entries += struct.pack(o + "IBBH" + ("Q" if wide else "I"), len(names) + name_break, 15, 1, 0, 0)
        names += name.encode() + b"\0"
    symbols_at = at + len(body)
    names_at = symbols_at + len(entries)
    names += bytes(-(names_at + len(names)) % 16)
    commands.append(struct.pack(o + "IIIIII", 2, 24 + command_break, symbols_at, len(symbols), names_at, len(names)))
    commands.append(struct.pack(o + "II", 11, 80) + bytes(72))
    if library:
        commands.append(struct.pack(o + "IIIIII", 13, 48, 24, 2, 1, 1) + library.encode().ljust(24, b"\0"))
    body += entries + names
    if signed:
        place = at + len(body)
        directory = struct.pack(">IIIIIIIII", 0xfade0c02, 44 + 7 + 40, 0x20001, 0, 51, 44, 0, 2, place + signature_break) + bytes([20, 1, 0, 12]) + bytes(4)
        directory += b"golden\0" + random.Random(1).randbytes(40)
        index = struct.pack(">II", 0, 20 + 8 * bool(message))
        if message:
            index += struct.pack(">II", 0x10000, 28 + len(directory))
            directory += struct.pack(">II", 0xfade0b01, 8 + len(message)) + message
        blobs = struct.pack(">III", 0xfade0cc0, 0, len(index) // 8) + index + directory
        blobs = blobs[:4] + struct.pack(">I", len(blobs)) + blobs[8:] + bytes(40)
        commands.append(struct.pack(o + "IIII", 0x1d, 16, place, len(blobs)))
        body += blobs
    if extra:
        commands.append(extra)
    if gap:
        body += code(gap, 8)
    magic = 0xfeedfacf if wide else 0xfeedface
    data = struct.pack(o + "IIIIIII", magic, 0x01000007 if wide else 7, 3, kind, len(commands), sum(map(len, commands)), 0)
    data += bytes(4) if wide else b""
    return data + b"".join(commands) + body


def universal(*files, wide=False, align=6):
    step = 32 if wide else 20
    at = 8 + step * len(files)
    head, body = struct.pack(">II", 0xcafebabf if wide else 0xcafebabe, len(files)), b""
    for i, data in enumerate(files):
        pad = -(at + len(body)) % (1 << align)
        body += bytes(pad)
        place = at + len(body)
        head += struct.pack(">IIQQII", 7, i, place, len(data), align, 0) if wide else struct.pack(">IIIII", 7, i, place, len(data), align)
        body += data
    return head + body


def make():
    for wide in (True, False):
        for big in (False, True):
            save("macho", f"program-{64 if wide else 32}-{'be' if big else 'le'}.macho", made(wide, big), extension="")
    save("macho", "library.dylib", made(library="libgolden.1.dylib", kind=6), extension="dylib", title="libgolden.1.dylib")
    save("macho", "object.o", made(kind=1), extension="o")
    signed = made(signed=True)
    save("macho", "signed.macho", signed, unchecked=len(signed) - 100)
    # The signer's message: indefinite lengths around definite ones, as Apple writes it.
    noise = random.Random(2).randbytes
    message = (b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x0d\x30\x0b\x06\x09" + noise(9) +
               b"\xa0\x82\x01\x04\x30\x82\x01\x00" + noise(0) + b"\x03\x81\xfd\0" + noise(252) + b"\x31\x81\x83\x04\x81\x80" + noise(128) + bytes(6))
    told = made(signed=True, message=message)
    save("macho", "message.macho", told, unchecked=len(told) - len(message) - 140)
    place = told.index(message)
    for name, cut in (("certificate", 150), ("hash", len(message) - 100)):
        wiped = told[:place + cut] + bytes(len(told) - place - cut)
        save("macho", f"message-{name}.macho", wiped, verdict="truncated", length_min=300, length_max=place + cut)
    save("macho", "hash-wiped.macho", signed[:-60] + bytes(60), verdict="truncated", length_min=300, length_max=len(signed) - 60)
    save("macho", "universal.macho", universal(made(False), made(signed=False)))
    save("macho", "universal-64.dylib", universal(made(kind=6, library="lib.dylib"), made(False, kind=6), wide=True), extension="dylib", title="lib.dylib")
    plain = made()
    bare = made(symbols=())
    save("macho", "no-symbols.macho", bare, verdict="unverified", length_min=len(bare) - 32, length_max=len(bare))
    archive = universal(b"!<arch>\n" + code(100), b"!<arch>\n" + code(100))
    save("macho", "archives.a", archive, verdict="unverified", length=len(archive))
    names = made(name_break=9999)
    save("macho", "names.macho", names, verdict="truncated", length_min=300, length_max=len(names))
    bad = made(signed=True, signature_break=5)
    save("macho", "signature.macho", bad, verdict="truncated", length_min=300, length_max=len(bad))
    save("macho", "command.macho", made(command_break=2), verdict="reject", why="no command at 184")
    save("macho", "cut.macho", plain[:-9], verdict="truncated", length=len(plain) - 9, why=f"the image ends at {len(plain) - 9}, before the file does")
    big = made(code_len=14000)
    rng = random.Random(4)
    for name, junk in (("random", rng.randbytes(6000)), ("zeros", bytes(6000)), ("text", b"nothing but words, " * 316)):
        save("macho", f"cut-{name}.macho", big[:10000] + junk, verdict="truncated", length_min=8900, length_max=11100)
    pair = universal(made(False), plain)
    save("macho", "universal-cut.macho", pair[:-30], verdict="truncated", length_min=len(pair) - 100, length_max=len(pair) - 30)
    broken = bytearray(pair)
    struct.pack_into(">I", broken, 8 + 8, 77)
    save("macho", "universal-list.macho", bytes(broken), verdict="reject", why="entry 0 of the list is invalid")
    broken = bytearray(plain)
    broken[12] = 99
    save("macho", "kind.macho", bytes(broken), verdict="reject", why="no Mach-O header at 0")
    save("macho", "class.macho", b"\xca\xfe\xba\xbe\0\0\0\x34" + bytes(99), verdict="reject", why="no number of files at 4")
