"""WebAssembly modules, section by section."""
import random, struct

from makers.common import save


def leb(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def text(value):
    value = value.encode()
    return leb(len(value)) + value


def section(kind, data):
    return bytes([kind]) + leb(len(data)) + data


def vector(*items):
    return leb(len(items)) + b"".join(items)


TYPES = section(1, vector(b"\x60\1\x7f\1\x7f"))
IMPORTS = section(2, vector(text("env") + text("f") + b"\0\0", text("env") + text("t") + b"\1\x70\1\1\2", text("env") + text("m") + b"\2\0\1",
                            text("env") + text("g") + b"\3\x7f\0"))
FUNCTIONS = section(3, vector(b"\0", b"\0"))
MEMORY = section(5, vector(b"\1\1\2"))
GLOBALS = section(6, vector(b"\x7f\1\x41\5\x0b"))
EXPORTS = section(7, vector(text("größe") + b"\0\1", text("memory") + b"\2\0"))
BODY = b"\0" + b"\x20\0\x20\0\x6a\x1a" * 20 + b"\x20\0\x0b"
CODE = section(10, vector(leb(len(BODY)) + BODY, b"\4\0\x20\0\x0b"))
DATA = section(11, vector(b"\0\x41\x80\x08\x0b" + text("hello"), b"\1" + text("passive"), b"\2\0\x41\1\x0b" + text("x")))
NAME = section(0, text("name") + b"\1" + leb(9) + vector(b"\0" + text("first!")))
PRODUCERS = section(0, text("producers") + vector(text("language") + vector(text("C11") + text("")), text("processed-by") + vector(text("golden") + text("1.0"))))
FEATURES = section(0, text("target_features") + vector(b"+" + text("mutable-globals")))
HEAD = b"\0asm\1\0\0\0"


def make():
    # The beginning of a module, up to the end of a section, may be one, too.
    def sound(name, data):
        save("wasm", name, data, sequence="yes")
    base = HEAD + TYPES + IMPORTS + FUNCTIONS + MEMORY + GLOBALS + EXPORTS + CODE
    save("wasm", "functions.wasm", HEAD + TYPES + FUNCTIONS + CODE)
    sound("counted.wasm", HEAD + TYPES + FUNCTIONS + section(12, b"\3") + CODE + DATA + PRODUCERS)
    sound("custom.wasm", base + section(0, text("mine") + b"anything") + DATA + NAME + PRODUCERS + FEATURES)
    for name, data in (("data", base + DATA), ("unknown", base + section(0, text("mine") + b"anything")), ("debug", base + section(0, text(".debug_info") + bytes(40)))):
        save("wasm", name + ".wasm", data, verdict="unverified", length=len(data), why=f"the last section, which ends at {len(data)}, cannot be verified")
    # The address has the byte that ends an expression, and is a sum.
    places = section(11, vector(b"\0\x41\x8b\x0b\x0b" + text("hello"), b"\0\x23\0\x41\x0b\x6a\x0b" + text("sum")))
    save("wasm", "address.wasm", base + places, verdict="unverified", length=len(base + places))
    save("wasm", "custom-alone.wasm", HEAD + PRODUCERS, verdict="unverified", length=len(HEAD + PRODUCERS),
         why=f"neither code nor data up to {len(HEAD + PRODUCERS)}")
    front = HEAD + TYPES + FUNCTIONS
    save("wasm", "no-code.wasm", front, verdict="truncated", length=len(front), why=f"no code or data at {len(front)}")
    counted = front + section(12, b"\3") + CODE
    save("wasm", "no-data.wasm", counted, verdict="truncated", length=len(counted), why=f"no code or data at {len(counted)}")
    rng = random.Random(3)
    for name, junk in (("random", rng.randbytes(300)), ("zeros", bytes(300)), ("text", b"nothing but words, " * 20), ("cut", b"")):
        save("wasm", f"code-{name}.wasm", front + CODE[:60] + junk, verdict="truncated", length=len(front))
    save("wasm", "data-cut.wasm", base + DATA[:14] + b"\xff" * 50, verdict="truncated", length=len(base), why=f"the section at {len(base)} is invalid")
    save("wasm", "producers-cut.wasm", base + PRODUCERS[:30] + bytes(80), verdict="truncated", length=len(base),
         why=f"the section at {len(base)} is invalid")
    for name, part, kept in (("name", NAME, 12), ("features", FEATURES, 20)):
        save("wasm", name + "-wiped.wasm", base + part[:kept] + bytes(80), verdict="truncated", length=len(base), why=f"the section at {len(base)} is invalid")
    save("wasm", "order.wasm", HEAD + TYPES + CODE + FUNCTIONS, verdict="truncated", length=len(HEAD + TYPES + CODE))
    save("wasm", "component.wasm", b"\0asm\x0d\0\1\0" + TYPES, verdict="reject", why="no magic and version at 0")
    save("wasm", "none.wasm", HEAD + b"\x99" * 30, verdict="reject", why="no section at 8")
