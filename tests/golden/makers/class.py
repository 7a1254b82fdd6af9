"""Java class files, constant by constant; the code is made up."""
import random, struct

from makers.common import save
from makers.elf import code


class Pool:
    def __init__(self):
        self.data, self.count, self.known = b"", 1, {}

    def add(self, data, slots=1):
        if data not in self.known:
            self.known[data] = self.count
            self.data += data
            self.count += slots
        return self.known[data]

    def text(self, text):
        data = text.encode()
        return self.add(struct.pack(">BH", 1, len(data)) + data)

    def named(self, name):
        return self.add(struct.pack(">BH", 7, self.text(name)))


def attribute(pool, name, data):
    return struct.pack(">HI", pool.text(name), len(data)) + data


def made(name="demo/Golden", code_len=60, attributes=("SourceFile",), version=(0, 52), all_constants=False):
    pool = Pool()
    this, above, interface = pool.named(name), pool.named("java/lang/Object"), pool.named("java/lang/Runnable")
    if all_constants:
        pool.add(struct.pack(">Bi", 3, 77777))
        pool.add(struct.pack(">Bq", 5, 1 << 40), 2)
        pool.add(struct.pack(">Bd", 6, 1.5), 2)
        pool.add(struct.pack(">BH", 8, pool.text("größe")))
        pool.add(struct.pack(">BHH", 12, 1, 2))
        pool.add(struct.pack(">BBH", 15, 6, 2))
        pool.add(struct.pack(">BHH", 18, 0, 2))
        pool.add(struct.pack(">BH", 19, 1))
    body = struct.pack(">HHI", 2, 2, code_len) + code(code_len - 1) + b"\xb1" + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHH", 1, pool.text("run"), pool.text("()V"), 1) + attribute(pool, "Code", body)
    field = struct.pack(">HHHH", 2, pool.text("size"), pool.text("I"), 0)
    tail = struct.pack(">H", len(attributes))
    for kind in attributes:
        data = {"SourceFile": struct.pack(">H", pool.text("Golden.java")), "InnerClasses": struct.pack(">HHHHH", 1, this, 0, 0, 9),
                "NestMembers": struct.pack(">HH", 1, this), "NestHost": struct.pack(">H", this), "Deprecated": b"",
                "Signature": struct.pack(">H", pool.text("()V"))}[kind]
        tail += attribute(pool, kind, data)
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", *version, pool.count) + pool.data
    return head, struct.pack(">HHHHH", 0x21, this, above, 1, interface), struct.pack(">H", 1) + field, struct.pack(">H", 1) + method, tail


def make():
    name = "demo/Golden"
    plain = made()
    save("class", "plain.class", b"".join(plain), title=name)
    save("class", "constants.class", b"".join(made(all_constants=True)), title=name)
    save("class", "attributes.class", b"".join(made(attributes=("InnerClasses", "NestMembers", "NestHost", "Deprecated", "Signature", "SourceFile"))))
    save("class", "java-1.1.class", b"".join(made(version=(3, 45))))
    save("class", "no-attributes.class", b"".join(made(attributes=())))
    head, this, fields, methods, tail = plain
    whole = b"".join(plain)
    front = len(head + this + fields)
    save("class", "cut.class", whole[:front + 40], verdict="truncated", length_min=len(head + this), length_max=front + 40)
    rng = random.Random(2)
    for kind, junk in (("random", rng.randbytes(600)), ("zeros", bytes(600)), ("text", b"nothing but words, " * 30)):
        save("class", f"cut-{kind}.class", whole[:front + 40] + junk, verdict="truncated", length_min=len(head + this), length_max=front + 100)
    save("class", "pool.class", head[:-20] + b"\x02" * 200, verdict="truncated", length_min=60, length_max=len(head))
    bad = bytearray(whole)
    at = len(head) + 2
    struct.pack_into(">H", bad, at, 1)
    save("class", "this.class", bytes(bad), verdict="truncated", length=len(head), why=f"the class or its super class is not a class constant at {len(head) + 8}")
    bad = bytearray(whole)
    struct.pack_into(">H", bad, len(whole) - 2, 0)
    save("class", "source.class", bytes(bad), verdict="truncated", length=len(whole) - 8,
         why=f"an attribute whose content does not fit its name at {len(whole) - 8}")
    bad = bytearray(whole)
    struct.pack_into(">H", bad, len(whole) - 8, 999)
    save("class", "attribute.class", bytes(bad), verdict="truncated", length_min=front, length_max=len(whole) - 8,
         why=f"an attribute without a name at {len(whole) - 8}")
    save("class", "universal.class", b"\xca\xfe\xba\xbe" + struct.pack(">II", 2, 7) + bytes(200), verdict="reject", why="no magic and version at 0")
    save("class", "few.class", whole[:8] + b"\0\1" + whole[10:], verdict="reject", why="too few constants at 8")
