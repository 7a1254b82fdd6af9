"""Weights of models in safetensors."""
import json, struct

from makers.common import save
from makers.sound import noise


def model(tensors, data, blanks=0):
    header = json.dumps(tensors, separators=(",", ":")).encode() + b" " * blanks
    return struct.pack("<Q", len(header)) + header + data


def make():
    tensors = {"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [40], "data_offsets": [0, 160]},
               "b": {"dtype": "F16", "shape": [10, 10], "data_offsets": [160, 360]}}
    data = struct.pack("<90f", *(n / 7 for n in range(90)))
    whole = model(tensors, data, 3)
    start = len(whole) - len(data)
    save("safetensors", "two.safetensors", whole, verdict="unverified", length=len(whole), why=f"nothing verifies the tensors from {start} on")
    save("safetensors", "followed.safetensors", whole + noise(700, 1), verdict="unverified", length=len(whole))
    save("safetensors", "cut.safetensors", whole[:-100], verdict="truncated", length=len(whole) - 100)
    save("safetensors", "gap.safetensors", model({**tensors, "c": {"dtype": "U8", "shape": [9], "data_offsets": [399, 408]}}, data), verdict="reject",
         why="no tensors that fill the data")
    save("safetensors", "empty.safetensors", model({"a": 1}, data), verdict="reject", why="no tensors that fill the data")
    save("safetensors", "length.safetensors", b"\xff" * 3 + whole[3:], verdict="reject")
