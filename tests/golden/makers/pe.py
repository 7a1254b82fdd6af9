"""PE: programs, libraries and drivers, header by header; their code is made up."""
import io, random, struct, zipfile

from makers import lzh, rar, sevenzip
from makers.common import save
from makers.elf import code


def padded(data, to=512):
    return data + bytes(-len(data) % to)


def relocations(pages=2):
    out = b""
    for page in range(pages):
        words = [0x2000 | 8 * i for i in range(20)]  # of 16 bits, as the code is made up
        out += struct.pack("<II", 0x1000 * (page + 1), 8 + 2 * len(words)) + struct.pack(f"<{len(words)}H", *words)
    return out


def version(**texts):
    def block(key, value, children=b"", text=True):
        head = key.encode("utf-16-le") + b"\0\0"
        body = head + bytes(-(6 + len(head)) % 4) + value
        body += bytes(-(6 + len(body)) % 4) + children if children else b""
        return struct.pack("<HHH", 6 + len(body), len(value) // (2 if text else 1), text) + body
    strings = b""
    for key, value in texts.items():
        strings += bytes(-len(strings) % 4) + block(key, value.encode("utf-16-le") + b"\0\0")
    table = block("040904B0", b"", strings)
    fixed = struct.pack("<I", 0xfeef04bd) + bytes(48)
    return block("VS_VERSION_INFO", fixed, block("StringFileInfo", b"", table), text=False)


def resources(address, *leaves):
    """A tree with one leaf (type, data) for each type."""
    root = struct.pack("<IIHHHH", 0, 0, 0, 0, 0, len(leaves))
    middle, places, data = b"", b"", b""
    first = len(root) + 8 * len(leaves)
    entries, at_leaf = first + 48 * len(leaves), b""
    at_data = entries + 16 * len(leaves)
    for i, (kind, content) in enumerate(leaves):
        here = first + 48 * i
        root += struct.pack("<II", kind, 0x80000000 | here)
        middle += struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, 1, 0x80000000 | here + 24)
        middle += struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, 1033, entries + 16 * i)
        at_leaf += struct.pack("<IIII", address + at_data + len(data), len(content), 0, 0)
        data += padded(content, 8)
    data = data[:len(data) - (-len(leaves[-1][1]) % 8)]
    return root + middle + at_leaf + data


def pe(sections, wide=False, flags=0x102, subsystem=3, checksum=None, stamp=1000000000, directories=(), behind=b"", certificate=b"",
       symbols=None, machine=None, section_names=b""):
    """sections: (name, data, directory or None)"""
    dos = b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0".ljust(60, b"\0") + struct.pack("<I", 128)
    dos = dos.ljust(128, b"\x0e")
    table = [[0, 0] for _ in range(16)]
    at, address, headers, body = 512, 0x1000, b"", b""
    for name, data, directory in sections:
        if callable(data):
            data = data(address)
        if directory is not None:
            table[directory] = [address, len(data)]
        raw = padded(data)
        headers += struct.pack("<8sIIIIIIHHI", name, len(data), address, len(raw), at, 0, 0, 0, 0, 0x60000020)
        body += raw
        at += len(raw)
        address += (len(data) + 4095) // 4096 * 4096
    tail, symbol_at, count = b"", 0, 0
    if symbols:
        symbol_at, count = at, len(symbols)
        names = b"".join(name.encode() + b"\0" for name in symbols)
        tail = bytes(18 * count) + struct.pack("<I", 4 + len(names)) + names
    if section_names:
        symbol_at, tail = at, struct.pack("<I", 4 + len(section_names)) + section_names
    if certificate:
        tail += bytes(-(at + len(tail)) % 8) + behind
        behind = b""
        tail += bytes(-(at + len(tail)) % 8)
        data = struct.pack("<IHH", 12 + len(certificate), 0x200, 2) + struct.pack(">BBH", 0x30, 0x82, len(certificate)) + certificate
        data = padded(data, 8)
        table[4] = [at + len(tail), len(data)]
        tail += data
    optional = struct.pack("<HBBIIIII", 0x20b if wide else 0x10b, 8, 0, 512, 0, 0, 0x1000, 0x1000)
    optional += struct.pack("<QII", 0x140000000, 4096, 512) if wide else struct.pack("<IIII", 0x2000, 0x400000, 4096, 512)
    optional += struct.pack("<HHHHHHIIIIHH", 6, 0, 0, 0, 6, 0, 0, address, 512, 0, subsystem, 0)
    optional += struct.pack("<QQQQII" if wide else "<IIIIII", 1 << 20, 4096, 1 << 20, 4096, 0, 16)
    optional += b"".join(struct.pack("<II", *entry) for entry in table)
    coff = struct.pack("<HHIIIHH", machine or (0x8664 if wide else 0x14c), len(sections), stamp, symbol_at, count, len(optional), flags)
    head = padded(dos + b"PE\0\0" + coff + optional + headers)
    assert len(head) == 512 or len(head) == 1024
    data = bytearray(head + body + tail + behind)
    if checksum is None:
        return bytes(data)
    where = 128 + 24 + 64
    words = sum(struct.unpack(f"<{len(data) // 2}H", bytes(data[:len(data) // 2 * 2]))) + (data[-1] if len(data) % 2 else 0)
    while words >> 16:
        words = (words & 0xffff) + (words >> 16)
    struct.pack_into("<I", data, where, words + len(data) + checksum)
    return bytes(data)


MANIFEST = b'<?xml version="1.0"?><assembly manifestVersion="1.0"></assembly>\r\n'


def make():
    text, reloc = (b".text", code(700), None), (b".reloc", relocations(), 5)
    when = dict(time=1000000000)
    save("pe", "program.exe", pe([text, reloc]), extension="exe", **when)
    save("pe", "library.dll", pe([text, reloc], wide=True, flags=0x2022), extension="dll", **when)
    save("pe", "driver.sys", pe([text, reloc], subsystem=1), extension="sys", **when)
    save("pe", "boot.efi", pe([text, reloc], wide=True, subsystem=10, machine=0xaa64), extension="efi", **when)
    # Memtest86+ has its PE header at 122.
    boot = pe([text, reloc], subsystem=10)
    save("pe", "early.efi", boot[:60] + struct.pack("<I", 122) + boot[64:122] + boot[128:512] + bytes(6) + boot[512:], extension="efi", **when)
    save("pe", "checksum.exe", pe([text, (b".data", code(300), None)], checksum=0), extension="exe", **when)
    save("pe", "odd.exe", pe([text], symbols=["a"], checksum=0))
    save("pe", "odd-plain.exe", pe([text], symbols=["a"]))
    save("pe", "symbols.exe", pe([text, (b".data", code(300), None)], symbols=["main", "start_of_it"]))
    save("pe", "names.dll", pe([text, (b"/4", code(300), None)], flags=0x2102, section_names=b".eh_frame\0.debug_info\0", checksum=0), extension="dll", **when)
    titled = version(FileDescription="Ein Prüfstück", OriginalFilename="golden.ocx")
    save("pe", "control.ocx", pe([text, (b".rsrc", lambda a: resources(a, (16, titled)), 2)], flags=0x2102), extension="ocx",
         title="Ein Prüfstück", **when)
    save("pe", "manifest.exe", pe([text, (b".rsrc", lambda a: resources(a, (3, code(200)), (24, MANIFEST)), 2)]), embedded=1896)
    named = version(FileDescription="Signed", OriginalFilename="signed.exe")
    parts = [text, (b".rsrc", lambda a: resources(a, (16, named), (3, code(100))), 2), reloc]
    save("pe", "signed.exe", pe(parts, certificate=code(300), checksum=0), title="Signed")
    save("pe", "signed-installer.exe", pe(parts, certificate=code(300), behind=b"PK\3\4" + code(200), checksum=0), title="Signed")
    debug = struct.pack("<IIHHIIII", 0, 0, 0, 0, 16, 0, 0, 0)
    save("pe", "reproducible.exe", pe([text, (b".rdata", debug, 6), reloc]), time=0)

    plain = pe([text, (b".data", code(300), None)])
    save("pe", "unvouched.exe", plain, verdict="unverified", length=len(plain),
         why=f"the last section, which ends at {len(plain)}, cannot be verified")
    plain = pe(parts, certificate=code(300))
    save("pe", "signed-no-checksum.exe", plain, verdict="unverified", length=len(plain))
    plain = pe([text, reloc])
    save("pe", "installer.exe", plain + b"Rar!\x1a\7\0" + code(300), verdict="unverified", length=len(plain),
         why=f"the end of the overlay at {len(plain)} is unknown")
    appended = {"7z": sevenzip.archive(code(90), b"\x01\x04\x06\x00\x01\x09" + code(40)), "rar": rar.rar4(rar.file4(b"a.txt", code(90))),
                "lzh": lzh.old(b"a.txt", code(90)) + b"\0"}
    for kind, base in (("zip", 0), ("zip-moved", len(plain))):
        out = io.BytesIO(bytes(base))
        with zipfile.ZipFile(out, "a") as file:
            file.writestr(zipfile.ZipInfo("a.txt"), code(90))
        appended[kind] = out.getvalue()[base:]
    for kind, archive in appended.items():
        save("pe", f"sfx-{kind}.exe", plain + archive, sequence="yes", unchecked=len(plain), embedded=len(plain), extension="exe", why=f"the overlay at {len(plain)} is an archive")
    save("pe", "sfx-cut.exe", plain + appended["7z"][:-20] + code(400), verdict="unverified", length=len(plain))
    data = struct.pack("<II", 0, 0xdeadbeef) + b"NullsoftInst" + struct.pack("<II", 60, 328) + code(300)
    save("pe", "nsis.exe", plain + data + code(100), verdict="unverified", length=len(plain) + 328)
    more = plain + code(1024) + data
    save("pe", "nsis-later.exe", more + code(100), verdict="unverified", length=len(more) - len(data) + 328, why=f"the overlay at {len(plain)} is an archive")
    wrong = pe([text, reloc], checksum=1)
    save("pe", "checksum-wrong.exe", wrong, verdict="unverified", length=len(wrong))
    broken = bytearray(plain)
    at = len(plain) - 512
    struct.pack_into("<I", broken, at + 4, 7)
    problem = "invalid relocations, resources, symbols or certificates"
    save("pe", "relocations.exe", bytes(broken), verdict="truncated", length_min=1000, length_max=len(plain), why=f"{problem} at {at}")
    certified = bytearray(pe(parts, certificate=code(300)))
    at = struct.unpack_from("<I", certified, 128 + 24 + 96 + 32)[0]
    certified[at + 8] = 0x31
    save("pe", "certificate.exe", bytes(certified), verdict="truncated", length_min=1500, length_max=len(certified), why=f"{problem} at {at}")
    big = pe([(b".text", code(6000, 4), None), reloc])
    rng = random.Random(9)
    for name, junk in (("random", rng.randbytes(6000)), ("zeros", bytes(6000)), ("text", b"nothing but words, " * 316)):
        save("pe", f"cut-{name}.exe", big[:3500] + junk, verdict="truncated", length_min=2400, length_max=4600)
    save("pe", "cut.exe", plain[:-100], verdict="truncated", length_min=1000, length_max=len(plain) - 100,
         why=f"the image ends at {len(plain) - 100}, before the file does")
    for where, value, what, place in ((60, 0x81, "no offset of a PE header", 0), (128, 0x51, "no PE header", 0),
                                      (132, 0x99, "an unknown machine, or not a program", 132),
                                      (152, 9, "no optional header", 132), (152 + 36, 3, "impossible alignments", 132),
                                      (152 + 68, 77, "an impossible subsystem or size", 132),
                                      (376 + 40 + 15, 0x7f, "a section header with an impossible address", 132)):
        bad = bytearray(plain)
        bad[where] = value
        save("pe", f"head-{where}.exe", bytes(bad), verdict="reject", why=f"{what} at {place}")
