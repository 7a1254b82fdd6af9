"""Apache Avro's container files, block by block."""
import bz2, zlib

from makers.common import PNG, save
from makers.packing import junk, text

SCHEMA = b'{"type": "record", "name": "row", "fields": [{"name": "a", "type": "string"}, {"name": "b", "type": "bytes"}]}'
SYNC = junk(16, 1)


def number(value):
    value = value << 1 if value >= 0 else -value * 2 - 1
    out = b""
    while value > 0x7f:
        out += bytes((value & 0x7f | 0x80,))
        value >>= 7
    return out + bytes((value,))


def string(data):
    return number(len(data)) + data


def header(*pairs, sync=SYNC):
    group = b"".join(string(part) for pair in pairs for part in pair)
    return b"Obj\1" + number(len(pairs)) + group + number(0) + sync


def block(objects, data, sync=SYNC):
    return number(objects) + string(data) + sync


def deflated(data):
    encoder = zlib.compressobj(9, zlib.DEFLATED, -15)
    return encoder.compress(data) + encoder.flush()


def make():
    schema = (b"avro.schema", SCHEMA)
    head = header((b"avro.codec", b"null"), schema)
    blocks = [block(40, text(1500, 2)), block(41, PNG + text(1400, 3)), block(7, text(200, 4))]
    whole = head + b"".join(blocks)

    def uncounted(data):
        return {"verdict": "unverified", "length": len(data), "why": f"no block at {len(data)}, and the number of blocks is not stored"}
    save("avro", "plain.avro", whole, **uncounted(whole))
    save("avro", "followed.avro", whole + bytes(600), **uncounted(whole))
    # 11,000 objects: no block before had as many.
    save("avro", "unlike.avro", whole + number(11000) + number(64) + junk(600, 5), **uncounted(whole))
    alone = header(schema)
    save("avro", "no-blocks.avro", alone + bytes(100), **uncounted(alone))
    for codec, encode in ((b"deflate", deflated), (b"bzip2", bz2.compress), (b"snappy", lambda data: data)):
        data = header((b"avro.codec", codec), schema, (b"made.by", b"hand")) + block(9, encode(text(900, 6))) + block(9, encode(text(900, 7)))
        save("avro", codec.decode() + ".avro", data, **uncounted(data))
        if codec == b"bzip2":
            save("avro", "no-magic.avro", data + number(9) + number(200) + junk(600, 8), **uncounted(data))
    group = string(schema[0]) + string(schema[1])
    sized = b"Obj\1" + number(-1) + number(len(group)) + group + number(0) + SYNC + blocks[0]
    save("avro", "sized.avro", sized, **uncounted(sized))
    array = header((b"avro.schema", b'"string"')) + block(1, b"\6abc")
    save("avro", "string.avro", array, **uncounted(array))
    at = len(head) + len(blocks[0])
    broken = {"verdict": "truncated", "length": at, "why": f"no sync marker after the block at {at}"}
    save("avro", "cut.avro", whole[:at + 300], verdict="truncated", length=at, why=f"the image ends at {at + 300}, before the file does")
    save("avro", "random.avro", whole[:at + 300] + junk(3000, 9), **broken)
    save("avro", "marker.avro", whole[:at + len(blocks[1]) - 3] + b"abc" + blocks[2], **broken)
    save("avro", "first.avro", head + blocks[0][:500] + bytes(3000), verdict="truncated", length=len(head), why=f"no sync marker after the block at {len(head)}")
    save("avro", "schema-cut.avro", head[:60], verdict="truncated", length_max=60, why="the image ends at 60, before the file does")
    save("avro", "codec.avro", header((b"avro.codec", b"lzma"), schema) + blocks[0], verdict="reject")
    save("avro", "no-schema.avro", header((b"avro.codec", b"null")) + blocks[0], verdict="reject")
    save("avro", "schema.avro", header((b"avro.schema", b"record of a row")) + blocks[0], verdict="reject")
    save("avro", "key.avro", header((b"avro\1schema", SCHEMA)) + blocks[0], verdict="reject")
    save("avro", "after-schema.avro", header(schema, (b"avro.codec", b"none")) + blocks[0], verdict="reject")
    save("avro", "value.avro", b"Obj\1" + number(2) + string(schema[0]) + string(SCHEMA) + string(b"a") + number(-5) + whole[300:], verdict="reject")
