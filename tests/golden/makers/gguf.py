"""Weights of models in GGUF."""
import struct

from makers.common import save
from makers.sound import noise


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def fact(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def tensor(name, sizes, kind, at):
    return text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes) + struct.pack("<IQ", kind, at)


def model(facts, tensors, data, alignment=32, version=3):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(facts)) + b"".join(facts) + b"".join(tensors)
    return head + bytes(-len(head) % alignment) + data


def make():
    facts = [fact("general.name", 8, text("Golden model")), fact("x.count", 4, struct.pack("<I", 9)),
             fact("x.words", 9, struct.pack("<IQ", 8, 3) + text("a") + text("bc") + text("")), fact("x.scale", 12, struct.pack("<d", 0.5))]
    tensors = [tensor("a", (8, 5), 0, 0), tensor("b", (64,), 8, 160)]
    data = struct.pack("<57f", *(n / 7 for n in range(57)))
    whole = model(facts, tensors, data)
    assert len(data) == 160 + 68
    known = dict(verdict="unverified", title="Golden model")
    save("gguf", "model.gguf", whole, length=len(whole), **known)
    save("gguf", "followed.gguf", whole + noise(600), length=len(whole), **known)
    wide = model(facts + [fact("general.alignment", 4, struct.pack("<I", 64))], tensors, data, 64, 2)
    save("gguf", "alignment.gguf", wide, length=len(wide), **known)
    alone = model(facts, [], b"", 1)
    save("gguf", "facts.gguf", alone, length=len(alone), why="no tensors, after 4 facts", **known)
    save("gguf", "cut.gguf", whole[:-100], verdict="truncated", length=len(whole) - 100)
    save("gguf", "kind.gguf", model(facts, [tensor("a", (8, 5), 4, 0)], data), verdict="reject")
    save("gguf", "block.gguf", model(facts, [tensor("a", (33,), 8, 0)], data), verdict="reject")
    save("gguf", "type.gguf", model([fact("x", 13, b"")], tensors, data), verdict="reject")
    save("gguf", "version.gguf", b"GGUF\1" + whole[5:], verdict="reject", why="no header at 0")
