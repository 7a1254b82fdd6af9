"""JSON: documents and lines."""
import json, random

from makers.common import save

SCENE = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0, 1, -2.5e3]}], "empty": {}, "none": [], "flags": [True, False, None], "text": "a \\ \" \u00fc \n b"}


def make():
    for name, options in (("indented", {"indent": 2}), ("dense", {"separators": (",", ":")}), ("utf-8", {"ensure_ascii": False})):
        save("json", f"{name}.json", json.dumps(SCENE, **options).encode(), extension="gltf", unchecked=1)
    whole = json.dumps(SCENE, indent=4).replace("\n", "\r\n").encode()
    save("json", "windows.json", whole + b"\r\n", extension="gltf", sequence="yes", unchecked=1)
    late = dict(list(SCENE.items())[1:] + [("asset", SCENE["asset"])])
    save("json", "late.json", json.dumps(late, indent="\t").encode(), extension="gltf", unchecked=1)
    save("json", "graph.json", b'{"nodes": [{"id": 1}, {"id": 2}], "links": [{"from": 1, "to": 2}]}', verdict="reject", why="no asset before 66")
    lines = b"".join(json.dumps({"time": i, "host": "golden", "user": None}).encode() + b"\n" for i in range(40))
    save("json", "lines.json", lines, sequence="yes", unchecked=1)
    save("json", "array.json", json.dumps([{"a": i, "b": [i]} for i in range(30)]).encode(), unchecked=1)
    save("json", "places.json", b'{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{}}]}', extension="geojson", unchecked=1)
    keystore = {"address": "00" * 20, "crypto": {"cipher": "aes-128-ctr", "cipherparams": {"iv": "11" * 16}, "ciphertext": "22" * 32, "kdf": "scrypt",
                "kdfparams": {"dklen": 32, "n": 262144, "p": 1, "r": 8, "salt": "33" * 32}, "mac": "44" * 32}, "id": "golden", "version": 3}
    save("json", "keystore.json", json.dumps(keystore).encode(), unchecked=1)
    long = json.dumps({"a": [{"b": i, "c": "text " * 8} for i in range(60)]}, indent=1).encode()
    save("json", "cut.json", long[:2000], verdict="truncated", length_min=1900, length_max=2000, why="the image ends at 2000, before the file does")
    for name, junk in (("random", random.Random(2).randbytes(900)), ("zeros", bytes(900))):
        save("json", f"{name}.json", long[:2000] + junk, verdict="truncated", length_min=1900, length_max=2010)
    save("json", "line-cut.json", lines[:700] + bytes(300), verdict="truncated", length_min=640, length_max=700)
    save("json", "small.json", b'{"a": 1, "b": {"c": 2}}', verdict="reject", why="only 3 names")
    save("json", "code.json", b'{"a": 1, b: function() { return 2; }}' + bytes(90), verdict="reject", why="only 1 names")
    save("json", "bracket.json", b'"a": 1}', verdict="reject", why="no bracket at 0")
