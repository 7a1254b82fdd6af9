"""Plain text in its encodings and kinds."""
from makers.common import save
from makers.keys import certificate, pem
from makers.sound import noise

NOTE = "".join(f"Line {n} of a note that somebody wrote down on the {n}th day.\n" for n in range(1, 30))
UMLAUTS = "Über die Straße gehen höfliche Leute mit größter Vorsicht.\n" * 12


def found(name, data, kind="txt", **expected):
    expected.setdefault("why", f"nothing but the end of text shows its end at {len(data)}")
    save("text", name, data + bytes(700), verdict="unverified", length=len(data), extension=kind, **expected)


def make():
    note = NOTE.encode()
    found("note.txt", note)
    found("open-line.txt", note + b"The last line has no end")
    found("crlf.txt", note.replace(b"\n", b"\r\n"))
    found("utf8.txt", UMLAUTS.encode())
    found("mark.txt", b"\xef\xbb\xbf" + UMLAUTS.encode())
    found("latin1.txt", UMLAUTS.encode("latin-1"))
    found("cyrillic.txt", ("Это обычный текст из нескольких слов.\n" * 9).encode())
    found("utf16.txt", b"\xff\xfe" + (UMLAUTS + "中文字符\n😀\n").encode("utf-16-le"))
    found("utf16be.txt", b"\xfe\xff" + UMLAUTS.encode("utf-16-be"))
    found("script.sh", b"#!/bin/sh\n# A script that does nothing at all, in many words\nset -e\nfor name in one two three; do\n\techo $name\ndone\n", "sh")
    found("script.py", b"#!/usr/bin/env python3\nimport sys\nprint('one of the few things that this does')\nfor x in sys.argv: print(x)\n", "py")
    found("settings.ini", b"; settings of a program\n[window]\nwidth=100\nheight=200\n[paths]\nhome=/home/golden\nlast=/tmp/of/all/the/files\n", "ini")
    found("table.csv", b"name,number,remark\n" + b"".join(b"somebody,%d,called twice\n" % n for n in range(20)), "csv")
    found("table.tsv", b"name\tnumber\n" + b"".join(b"some one\t%d\n" % n for n in range(20)), "tsv")
    found("days.log", b"".join(b"2023-11-%02d 10:00:00 kernel: a line of a log\n" % n for n in range(1, 20)), "log")
    found("syslog.log", b"".join(b"Nov %2d 10:00:00 host daemon[%d]: started the service\n" % (n, n) for n in range(1, 20)), "log")
    found("keys.txt", note + pem("CERTIFICATE", certificate()) + note, embedded=len(note))
    dump = b"-- MySQL dump 10.13\n--\n-- Host: localhost\nCREATE TABLE calls (number text, at integer);\n" + b"".join(
        b"INSERT INTO calls VALUES ('%d', %d);\n" % (n * 7919, n) for n in range(20))
    save("text", "dump.sql", dump + b"-- Dump completed on 2023-11-23\n", extension="sql", sequence="yes")
    found("dump-open.sql", dump, "sql")
    found("dump-early.sql", b"-- MySQL dump\n-- Dump completed\n" + b"and words that somebody wrote after it " * 9, "sql")
    lite = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE notes (words text);\n" + b"INSERT INTO notes VALUES('some words in it');\n" * 9
    save("text", "sqlite.sql", lite + b"COMMIT;\n", extension="sql", sequence="yes")
    cut = (note * 2)[:1024]
    for name, junk in (("zeros", bytes(900)), ("random", b"\1" + noise(900, 3))):
        save("text", f"cut-{name}.txt", cut + junk, verdict="truncated", length=1024, extension="txt", why="a line breaks off at 1024")
    save("text", "image-end.txt", note, verdict="unverified", length=len(note), why="text up to the end of what was read")
    save("text", "short.txt", b"Only a few words are in this.\n" + bytes(100), verdict="reject")
    save("text", "base64.txt", (b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n" * 9) + bytes(9), verdict="reject")
    save("text", "signs.txt", b"=-=-=-=-= * [] {} ?!\n" * 30 + bytes(9), verdict="reject")
    save("text", "random.txt", noise(900, 5), verdict="reject")
