"""Makes thumbnails of the large, complete pictures in an image: thumbnails.py IMAGE FOLDER"""
import io
import sys
from pathlib import Path

import burin
from PIL import Image

image, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir()
for file in burin.carve(image, types=["jpeg", "png", "gif"]):
    if file.status != "complete" or file.length < 10_000:
        continue
    picture = Image.open(io.BytesIO(file.read())).convert("RGB")
    picture.thumbnail((96, 96))
    picture.save(folder / f"{file.offset:012}.png")
    print(file.kind, file.offset, "x".join(map(str, picture.size)))
