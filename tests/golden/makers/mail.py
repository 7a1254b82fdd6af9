"""Mails and mailboxes, written for the purpose."""
from makers.common import save
from makers.sound import noise

HEAD = ("Return-Path: <a@example.org>\r\nReceived: from mx.example.org\r\n\tby mail.example.net; Thu, 29 Feb 2024 23:59:59 +0000\r\n"
        "From: Anna <a@example.org>\r\nTo: b@example.net\r\nSubject: Golden hour\r\nDate: Fri, 1 Mar 2024 00:59:58 +0100\r\n"
        "Message-ID: <1@example.org>\r\n")
GOLD = dict(title="Golden hour", time=1709251198)
MULTI = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary="=_golden"\r\n'
PARTS = ("\r\nNo MIME here.\r\n--=_golden\r\nContent-Type: text/plain\r\n\r\nThe picture is attached.\r\n--=_golden\r\n"
         "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ\r\n" * 9)
PLAIN = "\r\nThe light was good at six.\r\n\r\nAnna\r\n"


def make():
    eml = lambda name, text, **expected: save("mail", name, text if isinstance(text, bytes) else text.encode(), **{**GOLD, **expected})
    whole = HEAD + MULTI + PARTS + "--=_golden--\r\n"
    eml("parts.eml", whole)
    eml("parts-lf.eml", whole.replace("\r\n", "\n"))
    eml("blank.eml", whole + "\r\n\r\n", sequence="yes")
    save("mail", "kmail.mbox", ("From golden@example.org Thu, 26 May 2011 01:16:54 +0100\n" + HEAD.replace("\r\n", "\n") + PLAIN).encode(), verdict="unverified", extension="mbox", length_min=100)
    # Bytes after the end that look like lines of text.
    box = "From golden@example.org Thu May 26 01:16:54 2011\n" + HEAD.replace("\r\n", "\n") + PLAIN.replace("\r\n", "\n")
    save("mail", "chance.mbox", box.encode() + b"\n" + b"G\xe2b\xbb\xe6W_n\n\x94A\xd7\x02" + noise(900, 4), verdict="unverified", extension="mbox",
         length=len(box) + 1)
    eml("token.eml", whole.replace('"=_golden"', "=_golden; type=x"))
    guess = lambda name, text, junk=b"", **expected: eml(name, text.encode() + junk, verdict="unverified", length=len(text.encode()), **expected)
    guess("epilogue.eml", whole + "\r\nNothing follows.\r\n")
    guess("open-line.eml", whole[:-2])
    guess("joined.eml", whole[:-2], b"S H\r\n\xf2", why=f"the closing boundary's line has no end at {len(whole) - 2}")
    # Encodings: another text, or base64 at another place of its lines, from a sector's start on; lines of another width elsewhere.
    coded = lambda encoding, body: HEAD + MULTI + f"\r\n--=_golden\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n{body}\r\n--=_golden--\r\n"
    line = "R29sZGVuIGhvdXIgaXMgdGhlIHRpbWUgYmVmb3JlIHN1bnNldCB3aGVuIGxpZ2h0IGlzIHNvZnQu\r\n"
    encoded = coded("base64", line * 30 + "U2l4Lg==")
    eml("base64.eml", encoded)
    eml("base64-twice-cr.eml", encoded.replace("Qu\r\n", "Qu\r\r\n"))
    foreign = lambda name, text, at: guess(name + ".eml", text, why=f"a part that is not in the encoding of its header at {at}")
    for name, other, end in (("base64-text", "The light was good at six. " * 19, 3), ("base64-phase", "aG91" + line * 7, 0)):
        text = encoded[:1536] + other[:512] + encoded[2048:]
        start = encoded.rindex("\r\n", 0, 1536) + 2
        at = 1536 + end if end else start + len(line) - 2
        foreign(name, text, at)
    middle = encoded.index(line) + 5 * len(line)
    eml("base64-widths.eml", encoded[:middle] + line[:40] + "\r\n" + encoded[middle:])
    foreign("base64-colon", encoded.replace("U2l4Lg==", "Six: U2l4"), encoded.index("U2l4Lg==") + 3)
    quoted = coded("Quoted-Printable", "Sch=F6nes Licht, =\r\num sechs =3D 6." + "\r\nUnd um sieben." * 4)
    eml("quoted.eml", quoted)
    foreign("quoted-code", quoted.replace("=3D 6", '="6'), quoted.index("=3D 6"))
    eml("two-encodings.eml", coded("base64\r\nContent-Transfer-Encoding: 8bit", "The light was good."))
    eml("padded.eml", whole[:-2] + " \t\r\n")
    guess("misspelt.eml", "Recieved: from mx\r\n" + HEAD + PLAIN)
    guess("plain.eml", HEAD + PLAIN)
    guess("header.eml", HEAD)
    long = HEAD + "\r\n" + "The light was good at six, and better at seven. " * 20
    for name, junk in (("sector", b"\xf2\xee"), ("sector-chance", b"k\nQ\xf2\xee"), ("sector-line", b"\xf2\xee")):
        text = long[:1022] + "\r\n" if name == "sector-line" else long[:1024]
        if name == "sector-line":
            guess(name + ".eml", text, junk + noise(900, 3))
        else:
            eml(name + ".eml", text.encode() + junk + noise(900, 3), verdict="truncated", length=1024,
                why="text breaks off within a line at 1024, where a sector begins")
    guess("sector-zeros.eml", long[:1024], bytes(900))
    guess("umlaut.eml", HEAD + "\r\nSch\u00f6nes Licht.\r\n")
    guess("no-zone.eml", HEAD.replace(" +0100", "").replace("Fri, ", "") + PLAIN, time=1709254798)
    for name, junk in (("zeros", bytes(900)), ("random", b"\x01" + noise(900, 3)), ("ones", b"\xff\x00" + b"\xff" * 900)):
        guess(f"followed-{name}.eml", HEAD + PLAIN, junk)
    page = "<!DOCTYPE html>\r\n<html><body>Six.</body></html>\r\n"
    second = HEAD + MULTI + PARTS + "--=_golden\r\nContent-Type: text/html\r\n\r\n\r\n" + page
    eml("page.eml", second + "--=_golden--\r\n", embedded=f"{second.index('No MIME')} {second.index('The pic')} {second.index(page)}")
    guess("bare-page.eml", HEAD + "\r\n  " + page, embedded=len(HEAD) + 4)
    guess("quoted-page.eml", HEAD + PLAIN + page, embedded=len(HEAD + PLAIN))
    cut = (HEAD + MULTI + PARTS)[:-30]
    why = f"text ends at {len(cut)} without the closing boundary"
    eml("cut.eml", cut, verdict="truncated", length=len(cut), why=why)
    eml("cut-zeros.eml", cut.encode() + bytes(900), verdict="truncated", length=len(cut), why=why)
    po = ("To: FULL NAME <EMAIL@ADDRESS>\nPO-Revision-Date: 2024-02-29 18:00+0000\nLast-Translator: Golden <a@b.c>\nLanguage-Team: Golden\n"
          "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\nPlural-Forms: nplurals=2;\n")
    save("mail", "translation.eml", po.encode() + b"\0Abort", verdict="reject", why="the head of a program's translation at 0")
    for name, text in (("two-fields", "From: a\r\nTo: b\r\n\r\nNo mail.\r\n"), ("text", "Received with thanks.\r\n")):
        save("mail", name + ".eml", text.encode(), verdict="reject")

    line = "From a@example.org Fri Mar  1 00:59:58 2024\n"
    mails = [line + (HEAD + PLAIN).replace("\r\n", "\n") + "\n", line + whole.replace("\r\n", "\n") + "\n"]

    def mbox(name, text, count, junk=b"", **expected):
        save("mail", name, text.encode() + junk, **{**GOLD, "extension": "mbox", "verdict": "unverified", "length": len(text.encode()),
             "why": f"text ends at {len(text.encode())} after {count} mails, and their number is not stored", **expected})

    mbox("one.mbox", mails[0], 1)
    mbox("three.mbox", mails[0] + mails[1] + mails[0], 3)
    mbox("thunderbird.mbox", mails[0].replace("a@example.org Fri", "- Fri"), 1)
    mbox("zone.mbox", mails[0].replace(" 2024\n", " +0000 2024\n", 1), 1)
    mbox("zeros.mbox", mails[0] + mails[1], 2, bytes(900))
    mbox("random.mbox", mails[0] + mails[1], 2, b"\x02" + noise(900, 3))
    for name, text in (("no-date", "From me to you\n" + HEAD), ("no-header", line + "nothing\n"), ("case", line.upper() + "nothing\n")):
        save("mail", name + ".mbox", text.encode(), verdict="reject")
