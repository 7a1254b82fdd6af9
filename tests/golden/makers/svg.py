"""SVG, by hand. Complete ones end without a line end: one that is cut there is complete, too."""
import random

from makers.common import save

ROOT = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
BODY = '<title>A golden drawing</title><g id="a"><rect width="5" height="6" style="fill:#123"/><text>x &lt; y</text></g>'
REST = '<style><![CDATA[ a > b { c: d } ]]></style><!-- </svg> --></svg>'


def make():
    whole = ROOT + BODY + REST
    facts = dict(extension="svg", title="A golden drawing")
    save("svg", "plain.svg", whole.encode(), **facts)
    declared = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Created by hand -->\n'
    save("svg", "declared.svg", (declared + whole).encode(), **facts)
    save("svg", "bom.svg", b"\xef\xbb\xbf" + (declared + whole).encode(), **facts)
    wide = ('<?xml version="1.0" encoding="UTF-16"?>' + whole)
    save("svg", "utf16le.svg", b"\xff\xfe" + wide.encode("utf-16-le"), **facts)
    save("svg", "utf16be.svg", b"\xfe\xff" + wide.encode("utf-16-be"), **facts)
    doctype = ('<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [\n'
               '<!ENTITY ns_svg "http://www.w3.org/2000/svg">\n<!-- > -->\n]>\n')
    save("svg", "doctype.svg", (declared + doctype + whole).encode(), **facts)
    save("svg", "prefix.svg", b'<svg:svg xmlns:svg="http://www.w3.org/2000/svg"><svg:title>A</svg:title></svg:svg>', extension="svg", title="A")
    save("svg", "empty.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', extension="svg")
    latin = '<?xml version="1.0" encoding="iso-8859-1"?>' + ROOT + "<text>\u00e4\u00f6\u00fc</text></svg>"
    save("svg", "latin1.svg", latin.encode("latin-1"), extension="svg", why="")
    lying = (ROOT + "<text>\u00e4</text></svg>").encode("latin-1")
    save("svg", "no-utf8.svg", lying, extension="svg", why=f"well-formed, but a character is not UTF-8 at {lying.index(0xe4) + 1}")

    script = (ROOT.replace(">", " onclick='if (1 <2) a(\"<(-)>\")'>") + "</svg>").encode()
    save("svg", "script.svg", script, extension="svg", why=f"well-formed, but a value contains '<' at {script.index(b'<2')}")
    quote = (ROOT.replace('20">', '20 ><g id="a"') + "</svg>").encode()
    save("svg", "no-quote.svg", quote, verdict="reject", why=f"'<' in an attribute's value at {quote.index(b'<g')}")

    half = (ROOT + BODY).encode()
    save("svg", "cut.svg", half, verdict="truncated", length=len(half), why=f"the image ends at {len(half)}, before the file does")
    save("svg", "random.svg", half + random.Random(2).randbytes(3000), verdict="truncated", length_min=len(half), length_max=len(half) + 4)
    save("svg", "wiped.svg", half + bytes(3000), verdict="truncated", length=len(half), why=f"a character that XML does not have at {len(half)}")
    save("svg", "another.svg", half + declared.encode() + whole.encode(), verdict="truncated", length_min=len(half), length_max=len(half) + 5)
    crossed = (ROOT + "<g><a></g></a></svg>").encode()
    at = crossed.index(b"</g>") + 3
    save("svg", "crossed.svg", crossed, verdict="truncated", length=at, why=f"the end of an element that is not open at {at}")
    save("svg", "page.svg", b'<svg width="20"><rect/></svg>', verdict="reject")
    save("svg", "html.svg", (declared + "<html><body>" + whole + "</body></html>").encode(), verdict="reject")
    save("svg", "nothing.svg", b"<svg " + random.Random(4).randbytes(300), verdict="reject")
    lines = (ROOT + "\nint x;\n").encode()
    save("svg", "mentioned.svg", lines + b"if (a < b)\n", verdict="reject", why=f"text that mentions the root's tag up to {len(lines) + 7}")
    save("svg", "text-later.svg", (ROOT + "<g/>").encode() + b"words < 1", verdict="truncated", length_min=len(ROOT) + 4, length_max=len(ROOT) + 13)
