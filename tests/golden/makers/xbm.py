"""X11's bitmaps: by Netpbm's pbmtoxbm and pbmtox10bm, GraphicsMagick and Pillow, and changed by hand."""
from makers.common import encoded, picture, save
from makers.programs import converted
from makers.sound import noise


def make():
    plain = converted(["pbmtoxbm", "{source}"], mode="1", source=".pbm")
    save("xbm", "netpbm.xbm", plain, title="golden", sequence="yes")
    save("xbm", "x10.xbm", converted(["pbmtox10bm", "{source}"], mode="1", source=".pbm"), title="golden", sequence="yes")
    magick = converted(["gm", "convert", "{source}", "{target}"], mode="1", source=".pbm", target=".xbm")
    save("xbm", "magick.xbm", magick, title="golden", sequence="yes")
    save("xbm", "pillow.xbm", encoded(picture("1"), format="XBM", hotspot=(3, 4)), sequence="yes")
    save("xbm", "crlf.xbm", magick.replace(b"\n", b"\r\n"), sequence="yes")
    save("xbm", "decimal.xbm", b"#define dot_width 8\n#define dot_height 3\nstatic const unsigned char dot_bits[] = { 1, 0x02,\n 3 };\n", title="dot", sequence="yes")
    text = plain.decode()
    half = len(text) // 2
    half = text.index(",", half)
    save("xbm", "empty-lines.xbm", plain + b"\n\r\n\n", sequence="yes")
    save("xbm", "cut.xbm", plain[:half], verdict="truncated", length=half)
    save("xbm", "random.xbm", plain[:1024] + noise(5000), verdict="truncated", length_min=1000, length_max=1030)
    save("xbm", "zeros.xbm", plain[:1024] + bytes(5000), verdict="truncated", length_min=1000, length_max=1024)
    save("xbm", "few.xbm", plain[:half] + b"};\n", verdict="truncated", length=half)
    save("xbm", "value.xbm", text[:half].encode() + b",0x100" + plain[half:], verdict="truncated", length=half)
    save("xbm", "no-semicolon.xbm", plain.rstrip(b";\n"), verdict="unverified", length=len(plain.rstrip(b";\n")))
    save("xbm", "header.xbm", b"#define FOO_width 16\n#define FOO_height 16\n#define FOO_depth 3\n\nint main(void) { return 0; }\n", verdict="reject", why="no bitmap's lines at 0")
    save("xbm", "other.xbm", b"#define SIDE 16\n" * 8, verdict="reject", why="no bitmap's lines at 0")
    save("xbm", "no-value.xbm", text[:text.index("{") + 1].encode() + b" x };\n", verdict="reject")
