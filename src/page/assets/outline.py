#!/usr/bin/env python3
"""Writes outline.js, the coarse outline of the world under the map of places, from Natural Earth's countries at
1:110 million, which are in the public domain (naturalearthdata.com; the Python package geopandas before 1.0 has
them as naturalearth_lowres.shp): outline.py NAME.shp >outline.js. Needs shapely. The countries become land, corners
closer than TOLERANCE to a straight line go, and islands below LEAST square degrees."""
import struct
import sys

import shapely

TOLERANCE, LEAST = 0.7, 3
HEAD = """/* The land of the world, coarsely: an SVG path of longitudes and latitudes (downwards) in degrees. Made by outline.py
 * from Natural Earth's countries, 1:110 million, which are in the public domain. */
"""


def polygons(path):
    data = open(path, "rb").read()
    at = 100
    while at < len(data):
        words = struct.unpack_from(">i", data, at + 4)[0]
        record = data[at + 8:at + 8 + 2 * words]
        at += 8 + 2 * words
        if struct.unpack_from("<i", record)[0] != 5:
            continue
        parts, points = struct.unpack_from("<2i", record, 36)
        starts = [*struct.unpack_from(f"<{parts}i", record, 44), points]
        flat = struct.unpack_from(f"<{2 * points}d", record, 44 + 4 * parts)
        for first, end in zip(starts, starts[1:]):
            yield shapely.make_valid(shapely.Polygon(list(zip(flat[2 * first:2 * end:2], flat[2 * first + 1:2 * end:2]))))


def ring(points):
    points = [(round(x), -round(y)) for x, y in points]
    steps = "".join(f"{x - a:+d}{y - b:+d}" for (a, b), (x, y) in zip(points, points[1:]) if (a, b) != (x, y))
    return f"M{points[0][0]} {points[0][1]}l{steps}z".replace("l+", "l")


land = shapely.union_all([one.buffer(0.05) for one in polygons(sys.argv[1])]).simplify(TOLERANCE)
rings = [each for part in land.geoms for each in (part.exterior, *part.interiors) if shapely.Polygon(each).area >= LEAST]
path = "".join(ring(each.coords) for each in rings)
print(HEAD + "burin.land = " + " +\n\t".join(f'"{path[at:at + 110]}"' for at in range(0, len(path), 110)) + ";")
