"""Mailboxes of the University of Washington's mail programs, message by message."""
from makers.common import save
from makers.packing import junk, text


def mail(subject, body):
    return (b"From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nDate: Thu, 29 Feb 2024 23:59:58 +0000\r\nSubject: " + subject +
            b"\r\nMessage-ID: <%d@example.org>\r\n\r\n" % len(body) + body)


def message(number, data, flags=b"000000000001", day=b"29"):
    return day + b"-Feb-2024 23:59:58 +0000,%d;" % len(data) + flags + b"-%08x\r\n" % number + data


def head(last):
    return (b"*mbx*\r\n65e0f2aa%08x\r\n" % last + b"Seen\r\n" + b"\r\n" * 29).ljust(2048, b"\0")


def make():
    body = text(900).replace(b"\n", b"\r\n") + b"\r\n"
    first = message(1, mail(b"the first", body))
    rest = [message(2, mail(b"the second", body[:300] + bytes(range(160, 250)) + b"\r\n"), b"00000000800f", b" 9"), message(0x1f, mail(b"the third", body))]
    whole = head(0x1f) + first + b"".join(rest)
    end = len(whole)
    save("mbx", "three.mbx", whole, verdict="unverified", length=end, title="the first", time=1709251198, extension="",
         why=f"no message at {end}, and the number of messages is not stored")
    for name, other in (("random", junk(3000, 8)), ("zeros", bytes(3000)), ("text", text(3000)), ("another", whole)):
        save("mbx", f"{name}.mbx", whole + other, verdict="unverified", length=end)
    save("mbx", "cut.mbx", whole[:-90], verdict="truncated", length=end - 90, why=f"the image ends at {end - 90}, before the file does")
    at = 2048 + len(first)
    save("mbx", "order.mbx", head(2) + first + first, verdict="unverified", length=at, why=f"no message at {at}, and the number of messages is not stored")
    new = whole + message(0, mail(b"new", body)) * 2
    save("mbx", "new.mbx", new + message(3, mail(b"old", body)), verdict="unverified", length=len(new))
    save("mbx", "line.mbx", whole[:at + 30] + b"x" + whole[at + 31:], verdict="unverified", length=at)
    save("mbx", "empty.mbx", head(0) + bytes(100), verdict="reject", why="no message at 2048")
    save("mbx", "no-mail.mbx", head(1) + message(1, junk(900, 2)), verdict="reject", why="no message at 2048")
    save("mbx", "header.mbx", whole[:9] + b"x" + whole[10:], verdict="reject", why="no header at 0")
