"""Keystores of Ethereum's programs; what is encrypted is noise."""
import json

from makers.common import save
from makers.packing import junk, text

ADDRESS = junk(20, 1).hex()


def crypto():
    return {"cipher": "aes-128-ctr", "ciphertext": junk(32, 2).hex(), "cipherparams": {"iv": junk(16, 3).hex()}, "kdf": "scrypt",
            "kdfparams": {"dklen": 32, "n": 262144, "p": 1, "r": 8, "salt": junk(32, 4).hex()}, "mac": junk(32, 5).hex()}


def make():
    dense = {"separators": (",", ":")}
    number = "3198bc9c-6672-5ab3-d995-4942343ae5b6"
    first = {"address": ADDRESS, "crypto": crypto(), "id": number, "version": 3}
    whole = json.dumps(first, **dense).encode()
    save("ethereum", "geth.json", whole, extension="", title=ADDRESS, why="", unverified="none")
    save("ethereum", "wallet.json", json.dumps({"version": 3, "id": number, "address": ADDRESS, "Crypto": crypto()}, **dense).encode(), title=ADDRESS)
    save("ethereum", "parity.json", json.dumps({"id": number, "version": 3, "crypto": crypto(), "name": "", "meta": "{}"}, indent=2).encode() + b"\n",
         title="", sequence="yes")
    secret = {"kdf": {"function": "pbkdf2", "params": {"dklen": 32, "c": 262144, "prf": "hmac-sha256", "salt": junk(32, 6).hex()}, "message": ""},
              "checksum": {"function": "sha256", "params": {}, "message": junk(32, 7).hex()},
              "cipher": {"function": "aes-128-ctr", "params": {"iv": junk(16, 8).hex()}, "message": junk(32, 9).hex()}}
    save("ethereum", "validator.json", json.dumps({"crypto": secret, "path": "m/12381/60/0/0", "uuid": number, "version": 4}, indent=4).encode(), title="")
    end = whole.index(b',"mac"')
    save("ethereum", "cut.json", whole[:-30], verdict="truncated", length=whole.index(b'"id":') + 5, title=ADDRESS)
    for name, other in (("random", b"\0" + junk(3000, 11)), ("zeros", bytes(3000)), ("text", b" " + text(3000))):
        save("ethereum", f"cut-{name}.json", whole[:end] + other, verdict="truncated", length=end, title=ADDRESS)
    save("ethereum", "damaged.json", whole.replace(b'"mac":', b'"mac";'), verdict="truncated", length=end)
    # Other objects that begin like one.
    save("ethereum", "before.json", whole[:whole.index(b'"kdf"')] + bytes(2000), verdict="reject")
    save("ethereum", "map.json", b'{"version":3,"sources":["a.ts"],"names":["cipher","kdf"],"mappings":"AAAA"}', verdict="reject")
    save("ethereum", "outside.json", json.dumps({"id": number, **crypto()}, **dense).encode(), verdict="reject")
    save("ethereum", "other.json", json.dumps({"address": ADDRESS, "keys": crypto(), "id": number}, **dense).encode(), verdict="reject")
