"""STEP models, statement by statement."""
import random

from makers.common import save

HEADER = "HEADER;\nFILE_DESCRIPTION(('a golden cube; nothing else'),'2;1');\nFILE_NAME('it''s','2023-11-20',(''),(''),'','','');\nFILE_SCHEMA(('AP214'));\nENDSEC;\n"


def step(end="\n", comment="", statements=60):
    data = "".join(f"#{i}=CARTESIAN_POINT('',({i}.,0.,{i * 7 % 13}.5));\n" for i in range(1, statements))
    return ("ISO-10303-21;\n" + comment + HEADER + "DATA;\n" + data + "ENDSEC;\nEND-ISO-10303-21;").encode() + end.encode()


def make():
    whole = step()
    save("step", "cube.stp", whole, sequence="yes", unchecked=14)
    save("step", "windows.stp", step("\n").replace(b"\n", b"\r\n"), sequence="yes", unchecked=14)
    save("step", "bare.stp", step(""), unchecked=14)
    save("step", "comment.stp", step(comment="/* END-ISO-10303-21; 'not yet */\n"), sequence="yes", unchecked=14)
    at = whole.rindex(b";", 0, 1500) + 1
    save("step", "cut.stp", whole[:1500], verdict="truncated", length=at, why="the image ends at 1500, before the file does")
    for name, junk in (("random", random.Random(3).randbytes(2000)), ("zeros", bytes(2000))):
        save("step", f"{name}.stp", whole[:1500] + junk, verdict="truncated", length=at, why=f"no statement at {at}")
    save("step", "text.stp", whole[:at] + b" and so we went on, and it rained", verdict="truncated", length=at, why=f"no statement at {at}")
    save("step", "name.stp", b"ISO-10303-21;\0 is how models begin" + bytes(200), verdict="reject", why="no statements at 13")
    save("step", "first.stp", whole[1:], verdict="reject", why="no first statement at 0")
    # Another model's statements from the middle of one on, or after one.
    save("step", "joined.stp", whole[:1500] + whole[1790:], verdict="truncated", length=at, why=f"no statement at {at}")
    save("step", "repeated.stp", whole[:at] + b"\n" + whole[whole.index(b"#9="):], verdict="truncated", length=at, why=f"no statement at {at}")
    other = step().replace(b"#", b"#0").replace(b"DATA;", b"DATA;\n#70=A((#1,#2),.T.);\n#12=(B(1)C($));")
    save("step", "complex.stp", other, sequence="yes", unchecked=14)
