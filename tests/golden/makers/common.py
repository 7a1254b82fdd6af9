"""What the makers of golden files share."""
import io, os, random

from PIL import Image

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def save(carver, name, data, **expected):
    folder = os.path.join(ROOT, carver)
    os.makedirs(folder, exist_ok=True)
    expected.setdefault("verdict", "complete")
    if expected["verdict"] == "complete":
        expected.setdefault("length", len(data))
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)
    with open(os.path.join(folder, name + ".expected"), "w") as out:
        for key, value in expected.items():
            out.write(f"{key} {value}\n")


# A PNG's beginning and some bytes more: what a carver sees of a picture in another file.
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(60))


def picture(mode, size=(48, 40)):
    """A smooth picture with some noise, always the same."""
    rng = random.Random(mode)
    image = Image.new("RGB", size)
    for y in range(size[1]):
        for x in range(size[0]):
            image.putpixel((x, y), (x * 5 % 256, y * 6 % 256, (x + y + rng.randint(0, 30)) % 256))
    return image.convert(mode)


def encoded(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()
