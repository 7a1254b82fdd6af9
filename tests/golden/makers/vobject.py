"""vCards and calendars, written for the purpose."""
from makers.common import save
from makers.sound import noise

CARD = ("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Golden Hour\r\nN:Hour;Golden;;;\r\nTEL;TYPE=CELL:+49 30 1234\r\n"
        "NOTE:A long note that \r\n goes on.\r\nEND:VCARD\r\n")
OLD = ("BEGIN:VCARD\r\nVERSION:2.1\r\nFN;ENCODING=QUOTED-PRINTABLE:Golden=20=\r\nHour of light=\r\n, evening\r\n"
       "PHOTO;ENCODING=BASE64;TYPE=PNG:\r\niVBORw0KGgoAAAANSUhEUgAAAAEAAAAB\r\nCAYAAAAfFcSJ\r\n\r\nEND:VCARD\r\n")
CALENDAR = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//burin//golden//EN\r\nX-WR-CALNAME:Golden hour\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n"
            "BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1\r\n"
            "DTSTART:20240229T180000Z\r\nSUMMARY:Photographs\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")


def make():
    def sound(name, text, **expected):
        save("vobject", name, text.encode(), extension=name[-3:], **expected)

    sound("card.vcf", CARD, title="Golden Hour")
    sound("blank.vcf", CARD.replace("BEGIN:VCARD", "begin:vcard "), title="Golden Hour")
    sound("card-lf.vcf", CARD.replace("\r\n", "\n"), title="Golden Hour")
    sound("old.vcf", OLD, title="Golden=20=")
    sound("cards.vcf", CARD + OLD + "\r\n" + CARD, title="Golden Hour", sequence="yes")
    # A card that ends at a sector boundary (tests/unit/test_carver_chain.c).
    even = CARD.replace("goes on.", "goes on" + "." * (513 - len(CARD)))
    assert len(even) == 512
    sound("sector-chain.vcf", even + CARD, title="Golden Hour", sequence="yes")
    sound("lower.vcf", CARD.lower(), title="golden hour")
    sound("calendar.ics", CALENDAR, title="Golden hour")
    sound("summary.ics", CALENDAR.replace("X-WR-CALNAME:Golden hour\r\n", ""), title="Photographs")
    sound("note.vcf", CARD.replace("goes on.", "goes on.\r\nand on, which it must not\r\nso it is"), title="Golden Hour")
    sound("open-line.vcf", CARD[:-2], verdict="unverified", length=len(CARD) - 2)
    sound("calendars.ics", CALENDAR * 2, title="Golden hour", sequence="yes")
    save("vobject", "open-random.vcf", CARD[:-2].encode() + b"x\x9d\x02" + noise(900, 5), verdict="unverified", length=len(CARD) - 2)
    sound("gap.vcf", CARD + "\r\n" * 3 + CARD, title="Golden Hour", sequence="yes")
    cut = CALENDAR[:-60]
    for name, junk in (("", b""), ("-zeros", bytes(900)), ("-random", b"\x01" + noise(900, 3)), ("-ones", b"\xff\x00" + b"\xff" * 900)):
        save("vobject", f"cut{name}.ics", cut.encode() + junk, verdict="truncated", length=len(cut))
    lines = CALENDAR[:CALENDAR.index("TZID")]
    save("vobject", "cut-text.ics", (lines + "The quick brown fox jumps over it\n" * 40).encode(), verdict="truncated", length=len(lines))
    crossed = CALENDAR.replace("END:STANDARD\r\n", "END:DAYLIGHT\r\n")
    save("vobject", "crossed.ics", crossed.encode(), verdict="truncated", length=crossed.index("END:DAYLIGHT"),
         why=f"an END that does not match at {crossed.index('END:DAYLIGHT')}")
    unclosed = CARD[:-len("END:VCARD\r\n")]
    save("vobject", "unclosed.vcf", (unclosed + CARD).encode(), verdict="truncated", length=len(unclosed))
    for name, text, again in (("again.vcf", CARD, "N:Hour"), ("again.ics", CALENDAR, "UID:1")):
        at = text.index("END:VCARD" if name.endswith("vcf") else "SUMMARY:")
        twice = text[:at] + again + "\r\n" + text[at:]
        save("vobject", name, twice.encode(), verdict="unverified", length=len(twice.encode()), why=f"an object has a property again at {len(text[:at].encode())}")
    save("vobject", "short.vcf", b"BEGIN:VCARD\r\nVERSION:3.0\r\n" + bytes(50), verdict="reject")
    save("vobject", "todo.ics", CALENDAR.replace("VCALENDAR", "VOTHER").encode(), verdict="reject", why="neither a card nor a calendar at 0")
    save("vobject", "prose.ics", b"BEGIN:VCALENDAR\r\n is the first line of one\r\nOr:\r\nof more\r\n\r\n" + b"and so on it goes\r\n" * 40, verdict="reject")
