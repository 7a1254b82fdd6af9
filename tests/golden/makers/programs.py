"""Pictures by Debian's programs: GraphicsMagick's, Netpbm's and FFmpeg's encoders."""
import os, subprocess, tempfile

from makers.common import picture


def converted(command, mode="RGB", source=".ppm", target=None, size=(48, 40)):
    """What the command makes of a picture: of the file named {source} to standard output, or to the one named {target}."""
    with tempfile.TemporaryDirectory() as folder:
        names = {"source": "golden" + source, "target": "golden" + (target or "")}
        picture(mode, size).save(os.path.join(folder, names["source"]))
        out = subprocess.run([word.format(**names) for word in command], check=True, capture_output=True, cwd=folder).stdout
        return open(os.path.join(folder, names["target"]), "rb").read() if target else out
