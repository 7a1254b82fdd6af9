"""XPM pictures, text by text."""
from makers.common import save
from makers.sound import noise


def xpm(width=24, height=20, colours=(" ", ".", "+", "\\"), values="", comment=True, end="};\n", eol="\n", name="golden_xpm", extensions=()):
    size = len(colours[0])
    texts = [f"{width} {height} {len(colours)} {size}{values}"]
    texts += [f"{c}\tc {'None' if n == 0 else '#%02X%02X80' % (n * 40, 255 - n * 30)}" for n, c in enumerate(colours)]
    rows = ["".join(colours[(x * y + x) % 7 % len(colours)] for x in range(width)) for y in range(height)] + list(extensions)
    out = ["/* XPM */", f"static const char * const {name}[] = {{"] + ["/* columns rows colors chars-per-pixel */"] * comment
    out += [f'"{text}",' for text in texts] + ["/* pixels */"] * comment + [f'"{row}",' for row in rows[:-1]] + [f'"{rows[-1]}"{end}']
    return eol.join(out).encode()


def make():
    whole = xpm()
    # The line end may be missing. Colours may be any others, blanks and comments may become others.
    save("xpm", "picture.xpm", whole, unchecked=9, sequence="yes", unverified="none", title="golden_xpm")
    save("xpm", "lines.xpm", xpm(eol="\r\n", end="};\r\n", comment=False), unchecked=9, sequence="yes")
    save("xpm", "hot-spot.xpm", xpm(values=" 3 4", end="};", name="pointer"), unchecked=9, sequence="yes", title="pointer")
    save("xpm", "path.xpm", xpm(name="C:\\Users\\Me\\my-golden_xpm"), unchecked=9, sequence="yes")
    save("xpm", "pairs.xpm", xpm(colours=("aa", "ab", "ba", "cc", "! ")), unchecked=9, sequence="yes")
    save("xpm", "no-characters.xpm", xpm(colours=("",), comment=False), unchecked=9, sequence="yes")
    save("xpm", "extensions.xpm", xpm(values=" XPMEXT", extensions=("XPMEXT author golden", "XPMENDEXT")), unchecked=9, sequence="yes")
    row = 24 + 4
    rows = whole.index(b"/* pixels */\n") + 13
    save("xpm", "cut.xpm", whole[:rows + 5 * row + 9], verdict="truncated", length=rows + 5 * row - 2)
    for filler, data in (("random", noise(2000)), ("zeros", bytes(2000)), ("text", b"nothing but words, \"and quotes\" \n" * 60)):
        save("xpm", filler + ".xpm", whole[:rows + 5 * row + 9] + data, verdict="truncated", length=rows + 5 * row - 2,
             why=f"neither a colour, a row nor the end at {rows + 5 * row - 2}")
    save("xpm", "row.xpm", whole[:rows + 3 * row + 4] + b"Q" + whole[rows + 3 * row + 5:], verdict="truncated", length=rows + 3 * row - 2)
    save("xpm", "magic.xpm", b"/* XPM */\0/* XPM2 */\0" + bytes(200), verdict="reject")
    save("xpm", "quoted.xpm", b"/* XPM */ begins each picture, as in a[] = { 3, 4 };\n" * 3, verdict="reject")
    save("xpm", "values.xpm", whole.replace(b"24 20 4 1", b"24 0 4 1"), verdict="reject")
    save("xpm", "colour.xpm", whole.replace(b" \tc None", b" \tx None"), verdict="reject")
