"""MPEG transport streams, packet by packet; what they carry is noise."""
import random, struct

from makers.common import save


class Stream:
    def __init__(self, lead=0, behind=0):
        self.rng, self.counters, self.lead, self.behind, self.data = random.Random(5), {}, lead, behind, b""

    def packet(self, number, payload, start=False, fill=b"\xff"):
        counter = self.counters.get(number, 0)
        self.counters[number] = counter + 1 & 15
        head = struct.pack(">BHB", 0x47, number | (0x4000 if start else 0), 0x10 | counter)
        self.data += self.rng.randbytes(self.lead) + head + payload.ljust(184, fill) + self.rng.randbytes(self.behind)

    def table(self, number, kind, body):
        self.packet(number, struct.pack(">BBH", 0, kind, (0xb000 if kind == 0 else 0xf000) | len(body)) + body, True)

    def padded_table(self, number, kind, body):
        """The table after an adaptation field that fills the packet, as GStreamer writes it."""
        self.counters[number] = self.counters.get(number, 0) + 1 & 15
        table = struct.pack(">BBH", 0, kind, (0xb000 if kind == 0 else 0xf000) | len(body)) + body
        pad = b"\0" + b"\xff" * (182 - len(table))
        self.data += self.rng.randbytes(self.lead) + struct.pack(">BHBB", 0x47, number | 0x4000, 0x30 | self.counters[number] - 1 & 15, len(pad)) + pad + table

    def film(self, count, services=False, padded=False):
        if padded:
            self.padded_table(0, 0, b"\0\1\xc1\0\0\0\1\xf0\0" + self.rng.randbytes(4))
            services = False
        elif services:
            self.table(0x11, 0x42, bytes(20))
        if not padded:
            self.table(0, 0, b"\0\1\xc1\0\0\0\1\xf0\0" + self.rng.randbytes(4))
        for i in range(count):
            if i % 20 == 19:
                self.table(0, 0, b"\0\1\xc1\0\0\0\1\xf0\0" + self.rng.randbytes(4))
            self.packet(0x100 + i % 3 // 2, self.rng.randbytes(184), i % 7 == 0)
        return self.data


def make():
    why = "no packet at {}, and the format has no end mark"
    for name, stream, services in (("plain.ts", Stream(), False), ("services.ts", Stream(), True), ("timed.m2ts", Stream(4), False),
                                   ("parity.ts", Stream(0, 16), True)):
        data = stream.film(24, services)
        save("mpegts", name, data, verdict="unverified", length=len(data), extension=name.split(".")[1], why=why.format(len(data)))
        step = 188 + stream.lead + stream.behind
        save("mpegts", "cut-" + name, data[:-100], verdict="truncated", length=len(data) - 100,
             why=f"the image ends at {len(data) - 100}, before the file does")
        half = data[:step * 12 + 60]
        for kind, junk in (("random", random.Random(6).randbytes(900)), ("zeros", bytes(900))):
            save("mpegts", f"{kind}-{name}", half + junk, verdict="unverified", length=step * 13, why=why.format(step * 13))
    for name, lead in (("padded.ts", 0), ("padded.m2ts", 4)):
        data = Stream(lead).film(24, padded=True)
        save("mpegts", name, data, verdict="unverified", length=len(data), extension=name.split(".")[1], why=why.format(len(data)))
    urgent = bytearray(Stream().film(24))
    urgent[1] |= 0x20  # of high priority
    save("mpegts", "priority.ts", bytes(urgent), verdict="unverified", length=len(urgent), why=why.format(len(urgent)))
    broken = Stream().film(24, padded=True)
    save("mpegts", "padding.ts", broken[:9] + b"\0" + broken[10:], verdict="reject", why="no table starts at 0 or 4")
    # Sound whose packets of PES state lengths: the fifth and sixth break off; then one that lied before.
    for name, lens, lost, cut in (("sound.ts", [900] * 6, 0, False), ("sound-cut.ts", [900] * 6, 2, True), ("sound-lies.ts", [900, 900, 1400, 900, 900, 900, 900], 2, False)):
        stream = Stream()
        stream.film(8)
        for i, length in enumerate(lens):
            payload = b"\0\0\1\xc0" + struct.pack(">H", length) + stream.rng.randbytes(914 if length == 900 else 800)
            for at in range(0, len(payload) - (184 * lost if i + 1 == len(lens) else 0), 184):
                stream.packet(0x200, payload[at:at + 184], at == 0)
        data = stream.data
        end = dict(verdict="truncated", why=f"no packet at {len(data)}, though one of sound or video goes on") if cut else dict(verdict="unverified", why=why.format(len(data)))
        save("mpegts", name, data + random.Random(7).randbytes(600), length=len(data), **end)
    data = Stream(0, 16).film(24)
    save("mpegts", "no-parity.ts", data[:-16], verdict="unverified", length=len(data) - 16, why=why.format(len(data)))
    # Video that begins in a packet.
    for name, lead in (("video.ts", 0), ("video.m2ts", 4)):
        stream, starts = Stream(lead), []
        stream.table(0, 0, b"\0\1\xc1\0\0\0\1\xf0\0" + stream.rng.randbytes(4))
        for i in range(24):
            pes = b"\0\0\1\xe0\0\0\x80\0\0" if i % 8 == 3 else b""
            if pes:
                starts.append(len(stream.data) + lead + 4 + len(pes))
            stream.packet(0x100, (pes and pes + b"\0\0\1\xb3") + stream.rng.randbytes(170), bool(pes), b"\x55")
        save("mpegts", name, stream.data, verdict="unverified", length=len(stream.data), embedded=" ".join(map(str, starts)))
    save("mpegts", "short.ts", Stream().film(3), verdict="reject", why="fewer than 6 packets from 0")
    strange = bytearray(Stream().film(24))
    for i in range(2, 24):
        strange[188 * i + 1:188 * i + 3] = struct.pack(">H", i * 77)
    save("mpegts", "strange.ts", bytes(strange), verdict="reject", why=f"packet counters do not match before {len(strange)}")
    table = bytearray(Stream().film(24))
    table[5] = 3
    save("mpegts", "table.ts", bytes(table), verdict="reject", why="no table starts at 0 or 4")
