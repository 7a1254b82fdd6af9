"""A surface for formats of 3D models."""
import math


def sphere(rows=9, columns=12):
    """A closed surface: triangles of corners, each edge in both directions."""
    at = lambda row, column: (0.0, 0.0, 1.0 - 2.0 * (row > 0)) if row in (0, rows) else (
        math.sin(math.pi * row / rows) * math.cos(2 * math.pi * (column % columns) / columns),
        math.sin(math.pi * row / rows) * math.sin(2 * math.pi * (column % columns) / columns), math.cos(math.pi * row / rows))
    out = []
    for row in range(rows):
        for column in range(columns):
            a, b, c, d = at(row, column), at(row + 1, column), at(row + 1, column + 1), at(row, column + 1)
            out += [(a, b, c)] * (row + 1 < rows) + [(a, c, d)] * (row > 0)
    return out
