"""PostScript and Type 1 fonts, written by hand."""
import random

from makers.common import save

HEAD = b"%!PS-Adobe-3.0\n%%Title: (A golden page)\n%%BoundingBox: 0 0 100 100\n%%EndComments\n"
BODY = b"%%Page: 1 1\n/Helvetica findfont 12 scalefont setfont\n" + b"10 10 moveto (some text) show\n" * 8 + b"showpage\n"
TAIL = b"%%Trailer\n%%EOF"
BINARY = random.Random(1).randbytes(400)


def make():
    whole = HEAD + BODY + TAIL
    save("ps", "page.ps", whole, extension="ps", title="A golden page")
    save("ps", "line-end.ps", whole.replace(b"\n", b"\r\n") + b"\r\n", extension="ps", sequence="yes")
    save("ps", "printer.ps", whole + b"\n\4\n", sequence="yes")
    eps = whole.replace(b"3.0\n", b"3.0 EPSF-3.0\n", 1)
    save("ps", "picture.eps", eps, extension="eps")
    private = b"%AI9_PrintingDataEnd\nuserdict begin\n(%AI9_PrivateDataEnd) eq\n%AI9_PrivateDataBegin\n%!PS-Adobe-3.0 EPSF-3.0\n%AI9_DataStream\n%Gb!;abc\n"
    drawn = eps + b"\n" + private + b"%AI9_PrivateDataEnd\n"
    save("ps", "private.eps", drawn, extension="eps", sequence="yes")
    save("ps", "drawing.ai", HEAD + b"%%Creator: Adobe Illustrator(TM) 3.2\n" + BODY + TAIL, extension="ai")
    save("ps", "embedded.ps", HEAD + b"%%BeginDocument: a.eps\n" + eps + b"\n%%EndDocument\n" + BODY + TAIL, extension="ps", title="A golden page")
    save("ps", "data.ps", HEAD + b"%%%%BeginData: %d Binary Bytes\n" % len(BINARY) + BINARY + b"\n%%EndData\n" + BODY + TAIL)
    before = HEAD + b"%%%%BeginBinary: %d\n" % len(BINARY)
    save("ps", "binary.ps", before + BINARY + b"\n%%EndBinary\n" + BODY + TAIL, unverified=f"{len(before)}-{len(before) + len(BINARY)}")
    save("ps", "comments-behind.ps", whole + b"\n%%BoundingBox: 0 0 1 1\n", sequence="yes")
    font = (b"%!PS-AdobeFont-1.0: Golden 1.0\n%%Title: Golden\n/FontName /Golden def\ncurrentfile eexec\n" + BINARY.hex().encode()
            + b"\n" + (b"0" * 64 + b"\n") * 8 + b"cleartomark\n")
    save("ps", "font.pfa", font + b"{restore}if\n", extension="pfa", title="Golden", sequence="yes")

    fonts = HEAD + b"%%BeginFont: Golden\n" + font + b"%%EndFont\n%%BeginResource: font Gold\n" + font + b"%%EndResource\n" + BODY + TAIL
    save("ps", "fonts.ps", fonts, extension="ps", title="A golden page", unverified="none")

    # As Matplotlib writes it: a font that nothing announces, and no end.
    plot = HEAD + b"%%BeginProlog\n%!PS-Adobe-3.0 Resource-Font\n%%Creator: nobody\n10 dict begin\n%%EndProlog\n" + BODY
    save("ps", "plot.ps", plot + b"\1" + BINARY, verdict="unverified", length=len(plot))

    cut = whole[:-60]
    save("ps", "cut.ps", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    start = cut.rindex(b"\n") + 1
    save("ps", "overwritten.ps", cut + b"\1" + BINARY, verdict="truncated", length=start, why=f"not text at {len(cut)}")
    stale = HEAD + BODY + b"10EOF\n"
    save("ps", "line-before.ps", stale + b"%%\1", verdict="truncated", length=len(stale), why=f"not text at {len(stale) + 2}")
    ended = cut[:start]
    save("ps", "ended.ps", ended + b"\x80\1" + BINARY, verdict="unverified", length=start, why=f"the text ends at {start} without an %%EOF")
    save("ps", "wiped.ps", cut + bytes(500), verdict="truncated", length=start)
    save("ps", "erased.ps", cut + b"\xff" * 500, verdict="truncated", length=start)
    save("ps", "joined.ps", HEAD + BODY + whole, verdict="truncated", length=len(HEAD + BODY))
    save("ps", "no-end.ps", HEAD + BODY + b"%%Trailer\n" + bytes(100), verdict="unverified", length=len(HEAD + BODY) + 10,
         why=f"a trailer, but no %%EOF before {len(HEAD + BODY) + 10}")
    image = HEAD + b"%%Page: 1 1\ncurrentfile image\n\1"
    save("ps", "image.ps", image + BINARY + b"\nshowpage\n" + TAIL, verdict="unverified", length=len(image + BINARY) + 10 + len(TAIL),
         why=f"unannounced data at {len(image) - 1}")
    pages = HEAD + b"%%Pages: 3\n" + b"".join(BODY.replace(b"1 1\n", b"%d %d\n" % (i, i), 1) for i in (1, 2, 3))
    save("ps", "pages.ps", pages + TAIL + b"\n\n", extension="ps", sequence="yes")
    # The last page is another program's.
    save("ps", "pages-other.ps", pages.replace(b"%%Page: 2 2\n", b"") + TAIL, verdict="unverified", length=len(pages) - 12 + len(TAIL),
         why="2 pages begin, and 3 are stated")
    pages = HEAD + b"".join(BODY.replace(b"1 1\n", b"%d %d\n" % (i, i), 1) for i in (1, 2, 7, 8))
    save("ps", "pages-jump.ps", pages + TAIL, verdict="unverified", length=len(pages + TAIL), why=f"the numbers of pages do not rise, before {len(pages + TAIL)}")
    sector = (HEAD + BODY + BODY)[:508] + b"some"
    save("ps", "in-line.ps", sector + whole, verdict="truncated", length=512, why="not text at 512")
    save("ps", "image-cut.ps", image + BINARY + whole, verdict="truncated", length=len(image) - 1)
    save("ps", "text.ps", b"%!PS-Adobe-3.0 is what such a file starts with.\nAnd so on.\1", verdict="reject")
    quoted = b'%!PS-Adobe-3.0 EPSF-3.0\\n", file=out)\n' + b'print("%%%%Page: 1 1", file=out)\n%%Pages: 1\nshowpage\n' * 12
    save("ps", "quoted.ps", quoted, verdict="reject", why="no PostScript first line at 0")
    save("ps", "other.ps", b"%PS-Adobe-3.0\n" + whole, verdict="reject", why="no PostScript first line at 0")
    hand = b"%!\n% by hand\n/Helvetica findfont 12 scalefont setfont\n72 500 moveto\n(Hello) show\n0 0 lineto\nstroke\nshowpage\n"
    save("ps", "hand.ps", hand + bytes(300), verdict="unverified", length=len(hand), why=f"the text ends at {len(hand)} without an %%EOF")
    size = hand.replace(b"% by hand", b"<< /PageSize [792 612] >> setpagedevice")
    save("ps", "size.ps", size + bytes(300), verdict="unverified", length=len(size), why=f"the text ends at {len(size)} without an %%EOF")
    closed = font + b"%%EndFont\n%%EOF\n"
    save("ps", "closed.pfa", closed, extension="pfa", sequence="yes", unchecked=0)
    truetype = (b"%!PS-TrueTypeFont\n%%Title: Golden\n%%Creator: golden\n12 dict begin\n/FontName /Golden def\n/FontType 42 def\n/sfnts [\n"
                + (b"<" + BINARY.hex().encode()[:60] + b">\n") * 30 + b"] def\n/CharStrings 1 dict dup begin\n/.notdef 0 def\nend readonly def\n"
                + b"FontName currentdict end definefont pop\n")
    save("ps", "truetype.t42", truetype, extension="t42", unchecked=0)
    prose = b"%!PS-AdobeFont-1.0: Golden 1.0\n" + (b"a line of words\n" * 100 + b"and now the end\n") * 6
    save("ps", "prose.pfa", prose + b"\1" + BINARY, verdict="reject")
    save("ps", "hand-few.ps", b"%!\nnothing but words\n" * 5 + bytes(200), verdict="reject")
    # Bytes after the last page that are text by chance.
    bare = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%Pages: 1\n%%EndComments\n" + BODY
    save("ps", "chance.eps", bare + b"K\x96N\x91\n\xaaa\xa1\x09\xb5\1" + bytes(range(200)), verdict="unverified", length=len(bare))
    # A form without an end, with fonts in it, which are its own.
    font = b"%!FontType1-1.0: Golden 1.00\n/FontName /Golden def\n"
    form = b"%!PS-Adobe-3.0 Resource-Form\n%%LanguageLevel: 3\n%%EndComments\n%%BeginFont: Golden\n" + font + b"%%EndFont\n" + BODY + b"%%Trailer\n/Foo exch /Form defineresource pop\n"
    save("ps", "form.ps", form + b"\1" * 60, verdict="unverified", length=len(form))
