"""IGES, line by line."""
from makers.common import save
from makers.sound import noise


def line(text, letter, number, filler=b" "):
    return text.ljust(72).encode() + letter + (b"%d" % number).rjust(7, filler)


def iges(end=b"\n", entities=6, filler=b" ", counts=None):
    lines = [line("A golden drawing.", b"S", 1, filler), line("1H,,1H;,6Hgolden,10Hgolden.igs,", b"G", 1, filler), line("1.,1,4HINCH,8,0.016;", b"G", 2, filler)]
    lines += [line("     110       1       0       1       0       0       0       000000000", b"D", n + 1, filler) for n in range(2 * entities)]
    lines += [line("110,0.,0.,0.,%d.,1.,0.;" % n + " " * 36 + "%7d" % (2 * n + 1), b"P", n + 1, filler) for n in range(entities)]
    counts = counts or (1, 2, 2 * entities, entities)
    lines.append(line("".join("%s%7d" % pair for pair in zip("SGDP", counts)), b"T", 1, filler))
    return end.join(lines) + end


def make():
    # The drawing's text may be any.
    whole = iges()
    save("iges", "lines.igs", whole, unchecked=0, sequence="yes")
    save("iges", "dos.igs", iges(b"\r\n"), unchecked=0, sequence="yes")
    save("iges", "zeros.igs", iges(filler=b"0"), unchecked=0, sequence="yes")
    save("iges", "no-end.igs", whole[:-1], unchecked=0, sequence="yes")
    save("iges", "cut.igs", whole[:1000], verdict="truncated", length=81 * 12)
    save("iges", "random.igs", whole[:1000] + noise(900), verdict="truncated", length=81 * 12, why=f"no line of the next section at {81 * 12}")
    save("iges", "counts.igs", iges(counts=(1, 2, 11, 6)), verdict="truncated", length=81 * 21)
    save("iges", "order.igs", whole[:81] + whole[81 * 3:], verdict="reject", why="no section G before 81")
