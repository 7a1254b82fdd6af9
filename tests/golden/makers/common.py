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


def landscape(size=(200, 160)):
    """A picture with broad shapes, as photographs have, of few colours, with noise."""
    rng = random.Random(9)
    small = Image.frombytes("RGB", (25, 20), rng.randbytes(25 * 20 * 3)).resize(size, Image.BICUBIC)
    return Image.frombytes("RGB", size, bytes(max(0, min(255, (value + rng.randint(-8, 8)) // 8 * 8)) for value in small.tobytes()))


def speckled(size=(320, 200)):
    """Dots of 3,000 colours, many of which come again and again."""
    rng = random.Random(8)
    image = Image.new("RGB", size, (255, 255, 255))
    colours = [tuple(rng.randbytes(3)) for _ in range(3000)]
    for _ in range(9000):
        image.putpixel((rng.randrange(size[0]), rng.randrange(size[1])), colours[min(rng.randrange(3000), rng.randrange(3000))])
    return image


def encoded(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()
