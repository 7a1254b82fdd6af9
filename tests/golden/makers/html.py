"""HTML documents, written by hand."""
import random

from makers.common import save

HEAD = b"<html lang='en'>\n<head>\n<meta charset=utf-8>\n<title>\n A page: \xc3\xa4\n</title>\n</head>\n"
BODY = b"<body onload=\"if (a > b) { x('</html>') }\">\n" + b"<p>A paragraph, <b>bold</b> at times, 1 < 2 &amp; 3 > 2.\n<br>\n" * 5
SCRIPT = b"<script>\nif (1 < 2) document.write('</html>' + \"<!doctype html>\");\n</script>\n"
PAGE = b"<!DOCTYPE html>\n" + HEAD + BODY + SCRIPT + b"</body>\n</html>"


def make():
    save("html", "page.html", PAGE, title="A page: ä")
    save("html", "line-end.html", PAGE + b"\r\n", sequence="yes")
    save("html", "upper.html", PAGE.replace(b"html>", b"HTML>").replace(b"<p>", b"<P>"))
    save("html", "root.html", HEAD + BODY + b"</body></html>", title="A page: ä")
    save("html", "latin.html", HEAD.replace(b"\xc3\xa4", b"\xe4") + BODY + b"</body></html>", title="A page: ä")
    save("html", "mark.html", b"\xef\xbb\xbf" + PAGE)
    save("html", "comment-before.html", b"<!-- A licence -->\n<!-- <html> -->\n" + HEAD + BODY + b"</body></html>")
    save("html", "frames.html", b"<html><head></head><frameset cols='1,2'><frame src=a><noframes><body></body></noframes></frameset></html>")
    save("html", "xml.html", b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" \"x\">\n" + HEAD + BODY + b"</body></html>")

    cut = PAGE[:-100]
    save("html", "cut.html", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("html", "overwritten.html", cut + b"\2" + random.Random(1).randbytes(500), verdict="truncated", length=len(cut),
         why=f"a control character at {len(cut)}")
    body = PAGE[:-len(b"\n</html>")]
    save("html", "body.html", body + b"\xd6c\xac\x91\xed\2" + random.Random(3).randbytes(500), verdict="unverified", length=len(body))
    lines = cut + b"</p>\n"
    save("html", "chance.html", lines + b"q7\2" + random.Random(2).randbytes(500), verdict="truncated", length=len(lines),
         why=f"a control character at {len(lines) + 2}")
    save("html", "chance-longer.html", lines + b"q7 \xe9\x80 no text by a person\2" + random.Random(2).randbytes(500), verdict="truncated", length=len(lines),
         why=f"a control character at {len(lines) + 25}")
    save("html", "wiped.html", cut + bytes(500), verdict="truncated", length=len(cut))
    save("html", "erased.html", cut + b"\xff" * 500, verdict="truncated", length=len(cut), why=f"a long run of one byte at {len(cut)}")
    open_ = b"<!DOCTYPE html>\n" + HEAD + BODY
    save("html", "joined.html", open_ + PAGE, verdict="truncated", length=len(open_), why=f"another document starts at {len(open_)}")
    save("html", "joined-root.html", open_ + HEAD + BODY + b"</html>", verdict="truncated", length=len(open_))
    bodies = open_ + b"<p>Of another page</p>\n" + BODY + b"</body>\n</html>"
    save("html", "bodies.html", bodies, verdict="unverified", length=len(bodies), why=f"2 bodies begin before {len(bodies)}")
    save("html", "no-root-end.html", open_ + b"</body>\n" + bytes(99), verdict="unverified", length=len(open_) + 8)
    save("html", "blank-end.html", PAGE + b" \n\n\n\n\n\n", sequence="yes")
    lines = b"#define GOLDEN 1\n\nreturn;\n# A comment.\n<p>x</p><p>y</p><p>z</p>\n</html>\n"
    save("html", "quoted-type.html", b"<!DOCTYPE html>\n" + lines, verdict="reject")
    save("html", "quoted-root.html", b"<html>\n" + lines, verdict="reject")
    save("html", "open-type.html", b'<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"\n' + lines.replace(b"<p>", b"(p)\n").replace(b"</", b"{") + PAGE, verdict="reject")
    save("html", "template.html", b"<!DOCTYPE html>\n{% load golden %}\n{# a note #}\n{% block page %}\n{% now %}\n" + PAGE[16:], title="A page: ä")
    save("html", "short.html", b"<html>\nHello,\nthis is<br><b>all</b>.<br></html>\n", sequence="yes")
    note = b"\n<!-- " + b"x" * (-(len(PAGE) + 9) % 512) + b" -->"
    assert (len(PAGE) + len(note)) % 512 in (0, 1, 2, 511)
    note = note[:-4] + b"x" * (-(len(PAGE) + len(note)) % 512) + note[-4:]
    save("html", "comment-sector.html", PAGE + note, sequence="yes")
    save("html", "string.html", b"<html><head><tit\0le", verdict="reject", why="too few HTML tags up to 16")
    save("html", "source.html", b"<html><head>\\n\" . \"<title>a</title>\\n</head><body>\\n</body></html>\";", verdict="reject",
         why="strings of a program up to 66")
    save("html", "in-comment.html", PAGE.replace(b"\n", b"\n * ") + b"\n */", verdict="reject", why="a document in a program's comment")
    save("html", "licence.html", b"<!--\n * A licence\n * of two lines\n * and more\n-->\n" + HEAD + BODY + b"</body></html>")
    save("html", "comment.html", b"<!-- A comment --> in a text about <html>", verdict="reject", why="no HTML document at 0")
    save("html", "text.html", b"html is short for something", verdict="reject")
    save("html", "mention.html", b"<html> tag). Text with <b>bold</b>, <i>italic</i>, <p>, <br>, <hr> and <em>other</em> tags.\n" * 3, verdict="reject")
    save("html", "text-after.html", open_ + b"Words of other files. " * 12000, verdict="truncated", length_min=len(open_) - 9, length_max=len(open_))
    # How elements enclose each other: deep ones, a few mistakes, and lines of tables, lists and text in random order.
    save("html", "deep.html", PAGE.replace(b"<p>", b"<div>" * 150 + b"<span/>" + b"</div>" * 150, 1))
    save("html", "mistakes.html", PAGE.replace(b"</b>", b"", 2), title="A page: \xe4")
    lines = (BODY + b"<div>\n<table>\n<tr><td>1\n</table>\n</div>\n<ul>\n<li>Words.\n</ul>\n<pre>\nint x;\n</pre>\n" * 9).split(b"\n")
    random.Random(4).shuffle(lines)
    shuffled = b"<!DOCTYPE html>\n" + HEAD + b"\n".join(lines) + b"</body>\n</html>"
    save("html", "shuffled.html", shuffled, verdict="unverified", length=len(shuffled), why=f"many tags without a counterpart up to {len(shuffled)}")
