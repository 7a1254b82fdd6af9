"""QCOW2: clusters of 512 bytes, both versions, compressed clusters; the data are made up."""
import struct

from makers.common import save
from makers.elf import code

CLUSTER = 512


def made(version=3, packed=False, clusters=3):
    """header, counts' table, counts, L1, L2, data"""
    used = 5 + clusters
    head = b"QFI\xfb" + struct.pack(">IQIIQIIQQIIQ", version, 0, 0, 9, 64 * CLUSTER, 0, 1, 3 * CLUSTER, CLUSTER, 1, 0, 0)
    head += struct.pack(">QQQII", 0, 0, 0, 4, 104) if version == 3 else b""
    table = struct.pack(">Q", 2 * CLUSTER)
    counts = struct.pack(f">{used}H", *[1] * used)
    l1 = struct.pack(">Q", 1 << 63 | 4 * CLUSTER)
    if packed:
        l2 = struct.pack(">Q", 1 << 62 | 0 << 61 | 5 * CLUSTER) + struct.pack(">Q", 1 << 62 | 5 * CLUSTER + 300)
        data = code(CLUSTER)
    else:
        l2 = b"".join(struct.pack(">Q", 1 << 63 | (5 + i) * CLUSTER) for i in range(clusters))
        data = code(clusters * CLUSTER)
    return b"".join(part.ljust(CLUSTER, b"\0") for part in (head, table, counts, l1, l2)) + data


def make():
    def unverified(name, data):
        save("qcow2", name, data, verdict="unverified", length=len(data), why=f"the tables agree, but the data up to {len(data)} cannot be verified")
    plain = made()
    unverified("plain.qcow2", plain)
    unverified("version-2.qcow2", made(2))
    unverified("packed.qcow2", made(packed=True, clusters=1))
    save("qcow2", "cut.qcow2", plain[:-100], verdict="truncated", length=len(plain) - 100, why=f"the image ends at {len(plain) - 100}, before the file does")
    wrong = bytearray(plain)
    struct.pack_into(">Q", wrong, 4 * CLUSTER, 1 << 63 | 777)
    save("qcow2", "cluster.qcow2", bytes(wrong), verdict="truncated", length_min=104, length_max=4 * CLUSTER,
         why=f"an impossible offset of a cluster at {4 * CLUSTER}")
    wrong = bytearray(plain)
    struct.pack_into(">Q", wrong, 3 * CLUSTER, 1 << 63 | 1 << 40)
    save("qcow2", "table.qcow2", bytes(wrong), verdict="truncated", length_min=104, length_max=3 * CLUSTER,
         why=f"an impossible offset of a table of clusters at {3 * CLUSTER}")
    for where, value, why in ((7, 9, "no magic and version"), (23, 5, "impossible sizes"), (47, 3, "impossible offsets of tables")):
        wrong = bytearray(plain)
        wrong[where] = value
        save("qcow2", f"head-{where}.qcow2", bytes(wrong), verdict="reject", why=why + " at 0")
    # Extended L2: each entry has a bit map of the cluster's 32 parts; the last cluster ends after its third part.
    extended = bytearray(made(3, clusters=2))
    extended[72:80] = struct.pack(">Q", 16)
    extended[4 * CLUSTER:5 * CLUSTER] = b"".join(struct.pack(">QQ", 1 << 63 | (5 + i) * CLUSTER, bits) for i, bits in ((0, 0xffffffff), (1, 7))).ljust(CLUSTER, b"\0")
    extended = bytes(extended[:6 * CLUSTER + 48])
    unverified("extended.qcow2", extended)
    # A table of two snapshots in the last cluster: 40 bytes, more fields, number and name, up to a multiple of 8 between them.
    entry = lambda more, number, name: struct.pack(">QIHHIIQII", 3 * CLUSTER, 1, len(number), len(name), 0, 0, 0, 0, len(more)) + more + number + name
    table = entry(bytes(16), b"1", b"first").ljust(64, b"\0") + entry(bytes(24), b"2", b"second")
    old = bytearray(made(2, clusters=4)[:8 * CLUSTER] + table)
    old[60:72] = struct.pack(">IQ", 2, 8 * CLUSTER)
    old[4 * CLUSTER + 24:4 * CLUSTER + 32] = bytes(8)
    unverified("snapshots.qcow2", bytes(old))
