"""What the makers of compressed files and archives share."""
import io, random, tarfile

WORDS = "archive byte carve disk evidence file found header image kept length member name offset packed record sector table walk".split()


def text(length, seed=1):
    """So many bytes of words, always the same."""
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) + rng.choice(("", "s", "\n", ", and", " 7")) for _ in range(length // 3)).encode()[:length]


def junk(length, seed=1):
    return random.Random(seed).randbytes(length)


def small_tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        info = tarfile.TarInfo("a.txt")
        info.size = 700
        tar.addfile(info, io.BytesIO(text(700)))
    return out.getvalue()[:2048 + 512]


SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M1 1h7v7z"/></svg>\n'
