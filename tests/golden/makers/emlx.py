"""Apple Mail's messages."""
from makers.common import save
from makers.sound import noise

MESSAGE = b"Return-Path: <a@example.org>\nFrom: A <a@example.org>\nSubject: Golden hour\n\nSee you there.\n" * 3
LIST = (b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        b'<plist version="1.0">\n<dict>\n\t<key>flags</key>\n\t<integer>8590195713</integer>\n</dict>\n</plist>\n')


def emlx(message=MESSAGE, after=LIST, length=None):
    return b"%-10d\n" % (len(message) if length is None else length) + message + after


def make():
    whole = emlx()
    save("emlx", "message.emlx", whole, unchecked=11, unverified=f"11-{11 + len(MESSAGE)}", embedded="11", sequence="yes")
    save("emlx", "longer.emlx", emlx(length=len(MESSAGE) + 9), verdict="truncated", length=11, why=f"no property list after the message, at {len(MESSAGE) + 20}")
    save("emlx", "cut.emlx", whole[:100], verdict="truncated", length=100)
    save("emlx", "list-cut.emlx", whole[:-60], verdict="truncated", length=len(whole) - 60)
    save("emlx", "random.emlx", whole[:200] + noise(2000), verdict="truncated", length=11)
    save("emlx", "length.emlx", b"many      \n" + MESSAGE + LIST, verdict="reject", why="no length at 0")
    save("emlx", "zero.emlx", emlx(length=0), verdict="reject")
