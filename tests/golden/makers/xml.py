"""XML documents, written by hand."""
import random

from makers.common import save

HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
LIST = b"".join(b'  <item id="%d">An item &amp; its text</item>\n' % i for i in range(12))
PLAIN = HEAD + b"<!-- a list -->\n<list>\n" + LIST + b"</list>"


def make():
    save("xml", "plain.xml", PLAIN, extension="xml")
    save("xml", "line-end.xml", PLAIN + b"\n", sequence="yes", extension="xml")
    save("xml", "mark.xml", b"\xef\xbb\xbf" + PLAIN, extension="xml")
    save("xml", "wide.xml", b"\xff\xfe" + PLAIN.replace(b"UTF-8", b"UTF-16").decode().encode("utf-16le"), extension="xml")
    save("xml", "wide-big.xml", b"\xfe\xff" + PLAIN.replace(b"UTF-8", b"UTF-16").decode().encode("utf-16be"), extension="xml")
    save("xml", "empty-root.xml", b"<?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a EMPTY><!ATTLIST a b CDATA #IMPLIED>]>\n<a b='>'/>", extension="xml")
    save("xml", "latin.xml", b"<?xml version='1.0' encoding='ISO-8859-1'?><a><b>\xe4\xf6\xfc</b></a>", extension="xml")
    odd = HEAD + b"<a><b>\xfc\xe4\xf6</b></a>"
    save("xml", "odd.xml", odd, why=f"well-formed, but a character is not UTF-8 at {odd.index(0xfc)}")
    for name, root in (("places.kml", b'kml xmlns="http://www.opengis.net/kml/2.2"'), ("track.gpx", b'gpx version="1.1"'), ("settings.plist", b"plist"),
                       ("book.fb2", b"FictionBook"), ("scene.dae", b"COLLADA"), ("news.atom", b'feed xmlns="http://www.w3.org/2005/Atom"'),
                       ("types.xsd", b'xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"'), ("style.xsl", b'xsl:stylesheet xmlns:xsl="x"')):
        save("xml", name, HEAD + b"<" + root + b"><x>1</x></" + root.split()[0] + b">", extension=name.split(".")[1])
    save("xml", "news.rss", HEAD + b"<rss><channel><title>News of the day</title></channel></rss>", extension="rss", title="News of the day")
    save("xml", "page.xhtml", HEAD + b"<html><head><title>A page</title></head><body><p>x</p></body></html>", extension="xhtml", title="A page")

    packet = (b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/"><r><d>x</d></r></x:xmpmeta>'
              + b"\n" + b" " * 30 + b'<?xpacket end="w"?>')
    save("xml", "packet.xmp", packet, extension="xmp")
    cut = PLAIN[:-100]
    save("xml", "cut.xml", cut, verdict="truncated", length_min=len(cut) - 60, length_max=len(cut), extension="xml",
         why=f"the image ends at {len(cut)}, before the file does")
    save("xml", "overwritten.xml", cut + b"\1" + random.Random(1).randbytes(500), verdict="truncated", length_min=len(cut) - 60, length_max=len(cut))
    save("xml", "wiped.xml", cut + bytes(500), verdict="truncated", length_min=len(cut) - 60, length_max=len(cut))
    save("xml", "joined.xml", cut + PLAIN, verdict="truncated", length_min=len(cut) - 60, length_max=len(cut) + 6)
    page = HEAD + b"<!DOCTYPE html PUBLIC 'x' 'y'>\n<html><head><title>A page</title></head><body>" + b"<p>text</p>" * 20
    save("xml", "page-cut.xhtml", page + b"\1\2\3" + random.Random(2).randbytes(300), verdict="truncated", length_min=len(page) - 20, length_max=len(page),
         embedded=f"{len(HEAD)} {page.index(b'<html>')}")
    save("xml", "crossed.xml", HEAD + b"<a><b><c></b></c></a>", verdict="truncated")
    save("xml", "no-root.xml", HEAD + b"\n\n", verdict="reject")
    for name, root in (("schema.xml", b"schemalist"), ("machine.xml", b"domain type='kvm'"), ("event.xml", b'Event xmlns="x"')):
        whole = b"<" + root + b">\n<x>1</x>\n</" + root.split()[0] + b">"
        save("xml", name, whole + b"\n", extension="xml", sequence="yes")
        save("xml", "string-" + name, whole[:-4] + b"\0%s: no such file\0", verdict="reject", why="no XML declaration at 0")
    save("xml", "string.xml", b'<?xml version="1.0"?>\0%s: no such file\0', verdict="reject")
    save("xml", "bare.abw", b"<!-- ==== -->\n<abiword>\n<section><p>x</p></section>\n</abiword>\n", sequence="yes", extension="abw")
    save("xml", "bare.gpx", b"<gpx version='1.0'><wpt lat='1' lon='2'/></gpx>", extension="gpx")
    save("xml", "announced.xml", b"<!DOCTYPE list [<!ELEMENT list ANY>]>\n<list><item/></list>", extension="xml")
    save("xml", "announced-other.xml", b"<!DOCTYPE list>\n<items><item/></items>", verdict="reject", why="no XML declaration at 0")
    save("xml", "announced.html", b"<!DOCTYPE html>\n<html><p>x</p></html>", verdict="reject", why="no XML declaration at 0")
    licence = b"<!-- Licensed -->\n<!--\n Golden -->\n\n"
    save("xml", "licensed.xml", licence + b"<layout xmlns:a='http://a.example'\n  a:b='1'>\n" + LIST + b"</layout>\n", sequence="yes", extension="xml")
    save("xml", "licensed.xmp", licence + packet, extension="xmp")
    save("xml", "licensed-bare.xml", licence + b"<layout b='1'>\n<item/></layout>\n", verdict="reject", why="no XML declaration at 0")
    save("xml", "no-declaration.xml", b"<list><item/></list>", verdict="reject", why="no XML declaration at 0")
    mention = b"<gpx version='1.0'> is the root of tracks, <wpt> an element of it, and < the beginning of tags"
    save("xml", "mentioned.gpx", mention, verdict="reject", why=f"text that mentions the root's tag up to {mention.index(b'< ') + 1}")
