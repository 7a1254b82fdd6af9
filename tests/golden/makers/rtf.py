"""Rich Text Format, written by hand."""
import random

from makers.common import save

HEAD = b"{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Helvetica;}}\n"
INFO = (b"{\\info{\\title A \\'e4 \\u8364? \\{title\\}}{\\author nobody}{\\creatim\\yr2020\\mo1\\dy2\\hr3\\min4}"
        b"{\\revtim\\yr2024\\mo2\\dy29\\hr23\\min59\\sec58}}\n")
TEXT = b"\\pard\\f0\\fs24 A paragraph with an escaped \\} brace, and\\'20others \\\\ too.\\par\n" * 5


def make():
    whole = HEAD + INFO + TEXT + b"}"
    save("rtf", "plain.rtf", whole, title="A ä € {title}", time=1709251198)
    save("rtf", "small.rtf", b"{\\rtf1\\ansi x}")
    save("rtf", "no-version.rtf", b"{\\rtf{\\fonttbl}\\pard x\\par}")
    save("rtf", "line-end.rtf", whole + b"\n", sequence="yes", title="A ä € {title}")
    save("rtf", "created.rtf", HEAD + b"{\\info{\\creatim\\yr2024\\mo2\\dy29\\hr23\\min59\\sec58}}}", time=1709251198)
    binary = random.Random(1).randbytes(300) + b"}}}{{{\\"
    before = HEAD + b"{\\pict\\wmetafile8{\\*\\x }\\bin%d " % len(binary)
    save("rtf", "binary.rtf", before + binary + b"}" + TEXT + b"}", unverified=f"{len(before)}-{len(before + binary)}")
    save("rtf", "eight-bit.rtf", HEAD + "Ein Text mit Umlauten: äöüß".encode("cp1252") * 3 + b"}")
    unnamed = b"{\\rtf1\\ansi\\deff0 Ein Text mit Umlauten: "
    save("rtf", "no-char-set.rtf", unnamed + "äöüß}".encode("cp1252"), verdict="unverified", length=len(unnamed) + 5,
         why=f"a byte of 8 bits at {len(unnamed)}, and no character set named before it")
    joined = HEAD.replace(b"\n", b"\r\n") + TEXT.replace(b"\n", b"\r\n")
    save("rtf", "line-ends.rtf", joined + TEXT + b"}", verdict="unverified", length=len(joined + TEXT) + 1,
         why=f"line ends of another kind from {len(joined) + TEXT.index(chr(10).encode())} on")
    cut = whole[:-40]
    save("rtf", "wordpad.rtf", HEAD.replace(b"\\deff0", b"\\deff0\\viewkind4") + TEXT + b"}\r\n\0", sequence="yes")
    save("rtf", "cut.rtf", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("rtf", "overwritten.rtf", cut + b"\x01" + random.Random(2).randbytes(600), verdict="truncated", length=len(cut),
         why=f"a control character at {len(cut)}")
    save("rtf", "wiped.rtf", cut + bytes(600), verdict="truncated", length=len(cut))
    save("rtf", "erased.rtf", cut + b"\xff" * 600, verdict="truncated", length=len(cut), why=f"a long run of one byte at {len(cut)}")
    save("rtf", "joined.rtf", cut + whole, verdict="truncated", length=len(cut), why=f"another file starts at {len(cut)}")
    save("rtf", "hex.rtf", cut + b"\\'zz}", verdict="truncated", length=len(cut), why=f"no hexadecimal digits after \\' at {len(cut)}")
    save("rtf", "symbol.rtf", cut + b"\\\x02}", verdict="truncated", length=len(cut))
    save("rtf", "word.rtf", cut + b"\\" + b"abcdefgh" * 5 + b"}", verdict="truncated", length=len(cut))
    save("rtf", "bin-cut.rtf", cut + b"\\bin99999 abc", verdict="truncated", length=len(cut))
    save("rtf", "in-text.rtf", b"{\\rtf1} is the shortest file of all.", verdict="reject")
    save("rtf", "other.rtf", b"{\\rtfm} says how.", verdict="reject", why="no {\\rtf with a version at 0")
    save("rtf", "zeros.rtf", b"{\\rtf1 " + bytes(99), verdict="reject")
    # Cut before prose whose braces close the groups; and what has no usual words at its end itself.
    begun = (HEAD + TEXT * 3)[:1024]
    prose = b"if (found) {\n\treturn golden; }\nNothing more is said of it here, and the light was good all day, as they say; }" + b"\n" * 9
    save("rtf", "prose.rtf", begun + prose, verdict="unverified", why=f"text without control words from {begun.rindex(b'fs24 ') + 5} to the end")
    save("rtf", "digits.rtf", HEAD + TEXT + b"{\\*\\datastore " + b"0105000002000000" * 90 + b"}}")
