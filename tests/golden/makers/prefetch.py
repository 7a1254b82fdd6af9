"""Prefetch files of each version, section by section, and packed ones by an encoder made for it (no matches but runs)."""
import heapq, random, struct

from makers.common import save

TIME = 133536000000000000  # 2024-02-29
SECONDS = TIME // 10000000 - 11644473600


def bare(version, names=6):
    texts = [("\\DEVICE\\HARDDISKVOLUME1\\WINDOWS\\SYSTEM32\\FILE%d.DLL" % n) for n in range(names)]
    wide, metric_len, trace_len = version >= 30, 20 if version == 17 else 32, 8 if version >= 30 else 12
    info_end = {17: 152, 23: 240, 26: 304, 30: 304, 31: 296}[version]
    metrics, blob = b"", b""
    for text in texts:
        fields = (0, 5, len(blob), len(text), 2) if version == 17 else (0, 5, 5, len(blob), len(text), 2)
        metrics += struct.pack(f"<{len(fields)}I", *fields).ljust(metric_len, b"\0")
        blob += text.encode("utf-16-le") + b"\0\0"
    traces = b"".join(struct.pack("<II", 5, 0) if wide else struct.pack("<III", n + 1 if n < 9 else 0xffffffff, 5, 0) for n in range(10))
    traces = traces.ljust(10 * trace_len, b"\0")
    at_traces = info_end + len(metrics)
    at_names = at_traces + len(traces)
    at_volumes = (at_names + len(blob) + 7) // 8 * 8
    path = "\\DEVICE\\HARDDISKVOLUME1"
    entry_len = 40 if version == 17 else 104 if version < 30 else 96
    folders = b"".join(struct.pack("<H", len(f)) + f.encode("utf-16-le") + b"\0\0" for f in (path + "\\WINDOWS", path + "\\WINDOWS\\SYSTEM32"))
    path_at = entry_len
    refs_at = (path_at + 2 * len(path) + 2 + 7) // 8 * 8
    folders_at = refs_at + 32
    entry = struct.pack("<IIQIIIII", path_at, len(path), TIME, 0x1234, refs_at, 32, folders_at, 2).ljust(entry_len, b"\0")
    volumes = (entry + path.encode("utf-16-le")).ljust(refs_at, b"\0") + bytes(range(32)) + folders
    size = at_volumes + len(volumes)
    head = struct.pack("<I4sII", version, b"SCCA", 17, size) + "NOTES.EXE".encode("utf-16-le").ljust(60, b"\0") + struct.pack("<II", 0xabcdef, 0)
    info = struct.pack("<9I", info_end, names, at_traces, 10, at_names, len(blob), at_volumes, 1, len(volumes))
    info = info.ljust(36 if version == 17 else 44, b"\0") + struct.pack("<Q", TIME)
    data = (head + info).ljust(info_end, b"\0") + metrics + traces + blob
    return data.ljust(at_volumes, b"\0") + volumes, (info_end, at_traces, at_names, at_volumes)


def code_lengths(counts):
    """Lengths of a Huffman code of at most 15 bits (the texts here don't need more)."""
    heap = [(count, n, (symbol,)) for n, (symbol, count) in enumerate(sorted(counts.items()))]
    lengths = dict.fromkeys(counts, 0)
    heapq.heapify(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in a[2] + b[2]:
            lengths[symbol] += 1
        heapq.heappush(heap, (a[0] + b[0], a[1], a[2] + b[2]))
    assert max(lengths.values()) <= 15
    return lengths


def tokens(data):
    """Bytes, and (distance of 1, length) for runs."""
    at = 0
    while at < len(data):
        run = 1
        while at and at + run <= len(data) and data[at:at + run] == data[at - 1:at] * run and run < 600:
            run += 1
        run -= 1
        if run >= 3:
            yield run
            at += run
        else:
            yield -1 - data[at]
            at += 1


def packed_piece(data, last):
    pieces = list(tokens(data))
    symbols = [-1 - t if t < 0 else 256 + min(t - 3, 15) for t in pieces] + ([256] if last else [])
    counts = {s: symbols.count(s) for s in set(symbols)}
    lengths = code_lengths(counts)
    table = bytes(lengths.get(2 * n, 0) | lengths.get(2 * n + 1, 0) << 4 for n in range(256))
    codes, code, previous = {}, 0, 0
    for symbol in sorted(lengths, key=lambda s: (lengths[s], s)):
        code <<= lengths[symbol] - previous
        previous = lengths[symbol]
        codes[symbol] = code
        code += 1
    # Words are reserved two ahead of the bits that are written; bytes of lengths stand behind those.
    out, slots, value, free = bytearray(4), [0, 2], 0, 16
    for n, symbol in enumerate(symbols):
        for bit in range(lengths[symbol] - 1, -1, -1):
            if free == 0:
                struct.pack_into("<H", out, slots.pop(0), value)
                slots.append(len(out))
                out += b"\0\0"
                value, free = 0, 16
            value = value << 1 | (codes[symbol] >> bit & 1)
            free -= 1
        if symbol == 256 + 15:
            rest = pieces[n] - 3 - 15
            out += bytes([rest]) if rest < 255 else b"\xff" + struct.pack("<H", rest + 15)
    struct.pack_into("<H", out, slots[0], value << free)
    return table + bytes(out)


def packed(data, method=4):
    pieces = [data[at:at + 65536] for at in range(0, len(data), 65536)]
    body = b"".join(packed_piece(p, p is pieces[-1]) for p in pieces)
    return b"MAM" + bytes([method]) + struct.pack("<I", len(data)) + (b"\1\2\3\4" if method & 0x80 else b"") + body


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    for version in (17, 23, 26, 30, 31):
        data, _ = bare(version)
        save("prefetch", f"version{version}.pf", data, title="NOTES.EXE", time=SECONDS)
    data, (metrics, traces, names, volumes) = bare(23)
    for at, name in ((metrics + 40, "metrics"), (names + 101, "names"), (volumes + 120, "volumes")):
        save("prefetch", f"cut-{name}.pf", data[:at], verdict="truncated", length=at, why=f"the image ends at {at}, before the file does")
        save("prefetch", f"erased-{name}.pf", data[:at] + b"\xff" * 3000, verdict="truncated",
             length_min={"metrics": metrics, "names": names, "volumes": volumes}[name], length_max=at)
    save("prefetch", "wiped.pf", data[:names + 100] + bytes(3000), verdict="truncated", length_min=names, length_max=names + 120)
    save("prefetch", "traces.pf", patched(data, traces + 24, b"\x63"), verdict="truncated", length=traces + 24,
         why=f"a section is damaged after {traces + 24}")
    save("prefetch", "behind.pf", patched(data, 12, struct.pack("<I", len(data) + 8)) + bytes(8), verdict="unverified", length=len(data) + 8,
         why="8 unknown bytes after the volumes")
    save("prefetch", "sections.pf", patched(data, 100, bytes(4)), verdict="reject", why="sections out of order")
    save("prefetch", "count.pf", patched(data, 90, b"\1"), verdict="reject", why="more entries than there is room for")
    small = packed(bare(30)[0])
    save("prefetch", "packed.pf", small, title="NOTES.EXE", time=SECONDS)
    save("prefetch", "packed-sum.pf", packed(bare(31)[0], 0x84))
    rng = random.Random(5)
    # Two pieces; the second one's table is what shows damage.
    long, _ = bare(30, 500)
    long = packed(long)
    save("prefetch", "packed-long.pf", long)
    save("prefetch", "packed-cut.pf", small[:500], verdict="truncated", length=500, why="the image ends at 500, before the file does")
    save("prefetch", "packed-random.pf", long[:3000] + rng.randbytes(6000), verdict="truncated", length_min=264, length_max=9000)
    save("prefetch", "packed-table.pf", patched(small, 20, b"\x11\x11"), verdict="reject")
    # Metrics of 32 bytes have less room than the number of them would need, up to the file's end.
    head = (struct.pack("<I4sII", 30, b"SCCA", 17, 196).ljust(84, b"\0") + struct.pack("<9I", 152, 2, 192, 0, 192, 4, 196, 0, 0)).ljust(164, b"\0")
    save("prefetch", "packed-metrics.pf", packed((head + struct.pack("<II", 0, 1)).ljust(192, b"\0") + b"\\\0\0\0"))
    save("prefetch", "packed-other.mam", packed(b"".join(b"no prefetch file %d, " % n for n in range(50))), extension="mam")
