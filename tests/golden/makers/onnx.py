"""ONNX models, field by field."""
import struct

from makers.common import save
from makers.leveldb_table import number
from makers.sound import noise


def text(field, data):
    return number(field << 3 | 2) + number(len(data)) + data


def value(field, data):
    return number(field << 3) + number(data)


def model(graph, after=None):
    after = text(8, text(1, b"") + value(2, 13)) if after is None else after
    return value(1, 7) + text(2, b"pytorch") + text(3, b"1.10") + text(7, graph) + after


def make():
    node = text(1, text(1, b"x") + text(1, b"w") + text(2, b"y") + text(3, b"MatMul_0") + text(4, b"MatMul"))
    weights = text(5, value(1, 40) + value(2, 1) + text(8, b"w") + text(9, struct.pack("<400f", *(n / 7 for n in range(400)))))
    graph = node + text(2, b"torch-jit-export") + weights + text(11, text(1, b"x")) + text(12, text(1, b"y"))
    whole = model(graph)
    known = dict(verdict="unverified", title="pytorch")
    save("onnx", "model.onnx", whole, length=len(whole), why=f"no field at {len(whole)}, and the number of fields is not stored", **known)
    save("onnx", "followed.onnx", whole + noise(3000, 4), length=len(whole), **known)
    facts = model(graph, text(8, value(2, 13)) + text(14, text(1, b"author") + text(2, b"nobody")))
    save("onnx", "facts.onnx", facts + bytes(500), length=len(facts), **known)
    save("onnx", "cut.onnx", whole[:900], verdict="truncated", length_min=60, length_max=900)
    save("onnx", "graph.onnx", model(node + noise(300, 9)), verdict="truncated", length_min=30, length_max=120)
    save("onnx", "first.onnx", text(2, b"pytorch") + whole[2:], verdict="reject", why="no graph before 0")
