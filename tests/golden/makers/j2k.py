"""JPEG 2000 codestreams: by Pillow's encoder (OpenJPEG) and opj_compress (Debian's libopenjp2-tools) where named, and changed by hand."""
import os, random, struct, subprocess, tempfile

from makers.common import encoded, picture, save


def compressed(*options, mode="L", size=(64, 48)):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.png"), os.path.join(folder, "a.j2k")
        picture(mode, size).save(source)
        subprocess.run(["opj_compress", "-i", source, "-o", target, *options], check=True, capture_output=True)
        return open(target, "rb").read()


def parts(data):
    """Where the tile-parts start, and where the last of them ends."""
    at = data.index(b"\xff\x90\0\x0a")
    out = [at]
    while data[at:at + 2] == b"\xff\x90":
        at += struct.unpack(">I", data[at + 6:at + 10])[0]
        out.append(at)
    return out


def make():
    plain = encoded(picture("L", (64, 48)), format="JPEG2000", no_jp2=True)
    tiled = encoded(picture("RGB", (64, 48)), format="JPEG2000", no_jp2=True, tile_size=(32, 32))
    save("j2k", "grey.j2k", plain, unverified=f"{plain.index(bytes([255, 0x93])) + 2}-{len(plain) - 2}")
    save("j2k", "tiles.j2k", tiled)
    save("j2k", "lossy.j2c", encoded(picture("RGB", (40, 40)), format="JPEG2000", no_jp2=True, irreversible=True, quality_layers=[40, 10]))
    save("j2k", "markers.j2k", compressed("-SOP", "-EPH", "-p", "RPCL"))
    save("j2k", "parts.j2k", compressed("-TP", "R", "-n", "3", "-t", "32,32"))
    # The last tile-part's length may be left out.
    at = parts(tiled)
    open_end = bytearray(tiled)
    open_end[at[-2] + 6:at[-2] + 10] = bytes(4)
    save("j2k", "no-length.j2k", bytes(open_end))
    head = parts(plain)[0]
    save("j2k", "reserved.j2k", plain[:head] + b"\xff\x30" + plain[head:])

    rng = random.Random(5)
    cut = tiled[:at[2] + 100]
    save("j2k", "cut.j2k", cut, verdict="truncated", length=len(cut), why=f"the image ends at {len(cut)}, before the file does")
    save("j2k", "random.j2k", cut + rng.randbytes(4000), verdict="truncated", length_min=len(cut) - 1, length_max=at[3])
    save("j2k", "wiped.j2k", cut + bytes(4000), verdict="truncated", length_min=len(cut) - 8, length_max=len(cut))
    save("j2k", "erased.j2k", cut + b"\xff" * 4000, verdict="truncated", length_min=len(cut) - 1, length_max=len(cut))
    save("j2k", "open-cut.j2k", bytes(open_end[:at[-2] + 60]) + rng.randbytes(4000), verdict="truncated",
         length_min=at[-2] + 59, length_max=at[-2] + 4000)
    save("j2k", "followed.j2k", cut + plain, verdict="truncated", length_min=len(cut), length_max=len(cut))
    save("j2k", "no-eoc.j2k", tiled[:-2] + b"\0\0" + rng.randbytes(500), verdict="truncated", length=at[-1],
         why=f"neither a tile-part nor EOC at {at[-1]}")
    for name, offset, value, why in (
            ("components", 40, b"\0\0", "SIZ has an impossible number of components at 2"),
            ("width", 8, bytes(4), "SIZ has an impossible size at 2"),
            ("tile", 24, bytes(4), "SIZ has an impossible size at 2"),
            ("depth", 42, b"\x60", "SIZ has an impossible component at 2"),
            ("soc", 0, b"\xff\x4e", "no SOC and SIZ at 0")):
        save("j2k", name + ".j2k", plain[:offset] + value + plain[offset + len(value):], verdict="reject", why=why)
    other = plain[:40] + b"\0\7" + plain[42:]
    odd = "SIZ has another length than its number of components requires at 2"
    save("j2k", "components-differ.j2k", other, verdict="unverified", length=len(other), why=odd)
    save("j2k", "components-cut.j2k", other[:at[0] + 60] + rng.randbytes(900), verdict="reject", why=odd)
    many = plain[:8] + struct.pack(">I", 70000) + plain[12:24] + struct.pack(">II", 1, 1) + plain[32:]
    save("j2k", "tiles-many.j2k", many, verdict="reject", why="SIZ has too many tiles at 2")
    cod = plain.index(b"\xff\x52")
    save("j2k", "no-cod.j2k", plain[:cod] + b"\xff\x64" + plain[cod + 2:], verdict="reject",
         why=f"no COD and QCD before the first tile at {head}")
    save("j2k", "segment.j2k", plain[:cod] + b"\xff\x20" + plain[cod + 2:], verdict="reject",
         why=f"a marker segment is missing at {cod}")
    save("j2k", "sot.j2k", plain[:head + 4] + b"\0\x50" + plain[head + 6:], verdict="reject", why=f"SOT is invalid at {head}")
