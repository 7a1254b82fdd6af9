"""Captured packets, in both formats, record by record and block by block."""
import random, struct

from makers.common import save

SECONDS = 1709164800


def udp(text, right=True, six=False, left=False):
    """left: to the card, as what a computer sends itself: the sum over addresses and length alone."""
    payload = struct.pack(">HHHH", 5353, 5353, 8 + len(text), 0) + text
    ends = bytes(range(32)) if six else bytes([10, 0, 0, 1, 10, 0, 0, 2])
    data = ends + struct.pack(">HH", 17, len(payload)) + (b"" if left else payload)
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    check = total if left else (total ^ 0xffff) + (0 if right else 1)
    payload = payload[:6] + struct.pack(">H", check) + payload[8:]
    if six:
        packet = struct.pack(">IHBB", 6 << 28, len(payload), 17, 64) + ends
    else:
        packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, 17, 0) + ends
    return bytes(12) + (b"\x86\xdd" if six else b"\x08\0") + packet + payload


TEXTS = [b"a name is asked for %d times" % n for n in range(5)]
PACKETS = [udp(t) for t in TEXTS[:4]] + [udp(TEXTS[4], six=True)]


def capture(packets=PACKETS, order="<", magic=0xa1b2c3d4, link=1, extra=b"", fraction=1000):
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for n, packet in enumerate(packets):
        out += struct.pack(order + "IIII", SECONDS + n, fraction, len(packet), len(packet) + 4) + extra + packet
    return out


def block(kind, body, order="<"):
    body = body.ljust((len(body) + 3) // 4 * 4, b"\0")
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def section(order="<", told=False, packets=PACKETS, resolution=6):
    options = struct.pack(order + "HHB3x", 9, 1, resolution) + struct.pack(order + "HH", 0, 0)
    body = block(1, struct.pack(order + "HHI", 1, 0, 65535) + options, order)
    for n, packet in enumerate(packets):
        time = (SECONDS + n) * 10 ** resolution
        body += block(6, struct.pack(order + "IIIII", 0, time >> 32, time & 0xffffffff, len(packet), len(packet)) + packet, order)
    body += block(5, struct.pack(order + "III", 0, 0, 0), order)
    return block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, len(body) if told else -1), order) + body


def patched(data, at, value):
    return data[:at] + value + data[at + len(value):]


def make():
    for name, options in (("little", {}), ("big", {"order": ">"}), ("nano", {"magic": 0xa1b23c4d, "fraction": 999999999}),
                          ("modified", {"magic": 0xa1b2cd34, "extra": bytes(8)}), ("offloaded", {"packets": [udp(t, False) for t in TEXTS]})):
        data = capture(**options)
        save("pcap", name + ".pcap", data, verdict="unverified", length=len(data), time=SECONDS,
             why="the number of packets is not stored; 5 are plausible")
    data = capture()
    last = len(data) - len(PACKETS[4]) - 16
    noise = random.Random(1).randbytes(3000)
    save("pcap", "cut.pcap", data[:230], verdict="truncated", length=230, why="the image ends at 230, before the file does")
    for name, fill in (("random", noise), ("wiped", bytes(3000)), ("erased", b"\xff" * 3000)):
        save("pcap", name + ".pcap", data[:last + 90] + fill, verdict="truncated", length=last,
             why=f"of all checksums, only the last packet's, at {last}, is wrong")
        left = capture([udp(t, left=True) for t in TEXTS])
        start = len(left) - len(udp(TEXTS[4])) - 16
        if name != "wiped": # UDP's checksum, too: 0 is none
            save("pcap", name + "-left.pcap", left[:len(left) - 40] + fill, verdict="truncated", length=start,
                 why=f"of all checksums, only the last packet's, at {start}, is wrong")
        save("pcap", name + "-behind.pcap", data + fill, verdict="unverified", length=len(data))
    save("pcap", "time.pcap", patched(data, last, bytes(4)), verdict="unverified", length=last)
    save("pcap", "fraction.pcap", patched(data, last + 6, b"\xff"), verdict="unverified", length=last)
    save("pcap", "carry.pcap", patched(data, last + 4, struct.pack("<I", 1000046)), verdict="unverified", length=len(data))
    save("pcap", "lengths.pcap", patched(data, last + 12, b"\1\0"), verdict="unverified", length=last)
    save("pcap", "version.pcap", patched(data, 4, b"\3"), verdict="reject", why="a version other than 2.4")
    save("pcap", "nothing.pcap", data[:24] + noise, verdict="reject", why="no record after the header")

    why = "the section's length is not stored; 8 blocks are valid"
    for name, options in (("little", {}), ("big", {"order": ">"}), ("nano", {"resolution": 9})):
        data = section(**options)
        save("pcapng", name + ".pcapng", data, verdict="unverified", length=len(data), time=SECONDS, why=why)
    told = section(told=True)
    save("pcapng", "told.pcapng", told)
    two = section() + section(">")
    save("pcapng", "two.pcapng", two, verdict="unverified", length=len(two), why=why.replace("8", "16"))
    data = section()
    ends = [0]
    while ends[-1] < len(data):
        ends.append(ends[-1] + struct.unpack_from("<I", data, ends[-1] + 4)[0])
    at = ends[4]
    save("pcapng", "cut.pcapng", data[:at + 60], verdict="truncated", length=at + 60, why=f"the image ends at {at + 60}, before the file does")
    for name, fill in (("random", noise), ("wiped", bytes(3000)), ("erased", b"\xff" * 3000)):
        save("pcapng", name + ".pcapng", data[:at + 60] + fill, verdict="truncated", length=at, why=f"no whole block at {at}")
    save("pcapng", "told-cut.pcapng", told[:at], verdict="truncated", length=at)
    save("pcapng", "interface.pcapng", patched(data, at + 8, b"\1"), verdict="truncated", length=at)
    save("pcapng", "captured.pcapng", patched(data, at + 21, b"\1"), verdict="truncated", length=at)
    save("pcapng", "order.pcapng", patched(data, 8, b"\0"), verdict="reject", why="no section header")
    save("pcapng", "alone.pcapng", data[:ends[1]], verdict="reject", why="no block after the header")
