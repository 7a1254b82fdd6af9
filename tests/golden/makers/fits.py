"""FITS, card by card."""
import random

from makers.common import save


def unit(cards, data=b"", fill=b"\0"):
    head = "".join(f"{key:8}= {value}".ljust(80) for key, value in cards) + "END".ljust(80)
    return head.ljust(-(-len(head) // 2880) * 2880).encode() + data + fill * (-len(data) % 2880)


def image(bits, sizes, more=(), first="SIMPLE"):
    return [(first, f"{'T':>20}" if first == "SIMPLE" else "'IMAGE   '"), ("BITPIX", f"{bits:>20}"), ("NAXIS", f"{len(sizes):>20}")] + \
           [(f"NAXIS{i + 1}", f"{n:>20}") for i, n in enumerate(sizes)] + list(more)


def make():
    rng = random.Random(3)
    facts = [("OBJECT", "'M 31    '           / what it shows"), ("DATE-OBS", "'2003-04-05T06:07:08.5'")]
    plain = unit(image(16, (20, 30), facts), rng.randbytes(1200))
    sure = dict(title="M 31", time=1049522828)
    unsure = lambda data: dict(verdict="unverified", length=len(data), why=f"more units may follow {len(data)}")
    save("fits", "plain.fits", plain, **unsure(plain), **sure)
    table = unit([("XTENSION", "'BINTABLE'")] + image(8, (12, 10), [("PCOUNT", f"{30:>20}"), ("GCOUNT", f"{1:>20}")])[1:], rng.randbytes(150))
    full = unit(image(-32, (24, 30)), rng.randbytes(2880))
    save("fits", "full.fits", full, **unsure(full))
    groups = unit(image(-32, (0, 3, 4), [("GROUPS", f"{'T':>20}"), ("PCOUNT", f"{5:>20}"), ("GCOUNT", f"{42:>20}")]), rng.randbytes(4 * 17 * 42)[:2856] + b"\1" * 24)
    save("fits", "groups.fits", groups, **unsure(groups))
    header_only = unit(image(8, ()))
    save("fits", "header.fits", header_only, **unsure(header_only))
    sky = unit(image(16, (60, 40)), b"".join(bytes((40 + y // 9, x * 3 & 0xff)) for y in range(40) for x in range(60)))
    save("fits", "wiped.fits", sky[:4096] + bytes(len(sky) - 4096), verdict="truncated", length=4096, why="zeros instead of data at 4096")
    two = plain + table
    save("fits", "two.fits", two, **unsure(two), **sure)
    save("fits", "cut.fits", plain[:3500], verdict="truncated", length=3500, why="the image ends at 3500, before the file does")
    save("fits", "padding.fits", plain[:3500] + random.Random(9).randbytes(2260), verdict="truncated", length_min=2880, length_max=5760, why="no padding after the data at 4080")
    save("fits", "blanks.fits", plain + unit([("XTENSION", "'TABLE   '")] + image(8, (12, 10))[1:], b"1234567890AB" * 10, b" "),
         **unsure(plain * 2), **sure)
    save("fits", "second.fits", plain + table[:400] + rng.randbytes(3000), verdict="truncated", length=len(plain))
    free = unit([("SIMPLE", "T"), ("BITPIX", " 16"), ("NAXIS", " 2"), ("NAXIS1", "20"), ("NAXIS2", " 30")], random.Random(4).randbytes(1200))
    save("fits", "free.fits", free, **unsure(free))
    save("fits", "bits.fits", unit(image(15, (20, 30))), verdict="reject", why="an invalid header at 2880")
    save("fits", "axes.fits", unit(image(8, (20, 30)) + [("NAXIS3", f"{4:>20}")]), verdict="reject", why="an invalid header at 2880")
    save("fits", "random.fits", plain[:200] + rng.randbytes(4000), verdict="reject")
    save("fits", "first.fits", b"SIMPLY" + plain[6:], verdict="reject", why="no SIMPLE at 0")
