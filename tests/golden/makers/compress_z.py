"""Files of compress(1), by the program itself (Debian's ncompress)."""
import io, random, subprocess, tarfile

from makers.common import save
from makers.sound import noise


def compressed(data, *options):
    return subprocess.run(["compress", "-c", "-f", *options], input=data, check=True, capture_output=True).stdout


def tar(sizes):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for i, size in enumerate(sizes):
            info = tarfile.TarInfo(f"golden/{i}")
            info.size = size
            archive.addfile(info, io.BytesIO(bytes(j * j % 251 for j in range(size))))
    return out.getvalue()


def guess(name, data, after=b"", **more):
    save("compress_z", name, data + after, verdict="unverified", length=len(data), why=f"nothing verifies that the end is at {len(data)}", **more)


def make():
    words = [bytes(random.Random(i).choices(b"abcdefghij", k=5)) for i in range(300)]
    text = b" ".join(random.Random(3).choices(words, k=3000)) + b"\n"
    whole = compressed(text)
    guess("text.Z", whole)
    guess("text-zeros.Z", whole, bytes(700))
    guess("narrow.Z", compressed(text, "-b", "12"), bytes(700))
    guess("thirteen.Z", compressed(text, "-b", "13"))
    guess("pages.Z", compressed(text[:9000] + b"\n\f" + text[9000:]), bytes(700))
    # A table that fills up, and is cleared.
    changing = b"".join(bytes(random.Random(i).choices(bytes(range(i, i + 40)), k=9000)) for i in range(0, 120, 20))
    guess("cleared.Z", compressed(changing, "-b", "12"))
    archive = compressed(tar((700, 3000, 0)))
    save("compress_z", "archive.tar.Z", archive, extension="tar.Z", unchecked=0)
    save("compress_z", "archive-cut.tar.Z", archive[:1000], verdict="truncated", length=1000, why="the image ends at 1000, before the file does", extension="tar.Z")
    save("compress_z", "archive-random.tar.Z", archive[:1024] + noise(900), verdict="truncated", length_min=1024, length_max=1124, extension="tar.Z")
    save("compress_z", "random.Z", whole[:2048] + noise(900), verdict="unverified", length_min=2048, length_max=2148)
    save("compress_z", "few.Z", compressed(b"ten bytes!"), verdict="reject")
    save("compress_z", "zeros.Z", b"\x1f\x9d\x90" + bytes(900), verdict="reject")
    save("compress_z", "bits.Z", b"\x1f\x9d\x91" + whole[3:], verdict="reject", why="no header and codes at 0")
    save("compress_z", "code.Z", whole[:3] + b"\xff\xff" + whole[5:], verdict="reject", why="no header and codes at 0")
