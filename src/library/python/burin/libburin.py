"""The functions of libburin (burin.h), by ctypes."""
from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path


class Error(ctypes.Structure):
    """struct burin_error"""

    _fields_ = [("code", c_int), ("text", ctypes.c_char * 1024)]


FILE_FUNCTION = CFUNCTYPE(None, c_void_p, c_void_p)
PROGRESS_FUNCTION = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64, c_uint64)
MESSAGE_FUNCTION = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

FUNCTIONS = {
    "burin_release": (c_char_p, []),
    "burin_image_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(Error)]),
    "burin_image_size": (c_uint64, [c_void_p]),
    "burin_image_format": (c_char_p, [c_void_p]),
    "burin_image_read": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, POINTER(Error)]),
    "burin_image_close": (None, [c_void_p]),
    "burin_file_json": (c_char_p, [c_void_p]),
    "burin_report_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(Error)]),
    "burin_report_run_json": (c_char_p, [c_void_p]),
    "burin_report_image": (c_char_p, [c_void_p]),
    "burin_report_next": (c_int, [c_void_p, POINTER(c_void_p), POINTER(Error)]),
    "burin_report_close": (None, [c_void_p]),
    "burin_run_new": (c_void_p, []),
    "burin_run_set": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(Error)]),
    "burin_run_on_file": (None, [c_void_p, FILE_FUNCTION, c_void_p]),
    "burin_run_on_progress": (None, [c_void_p, PROGRESS_FUNCTION, c_void_p]),
    "burin_run_on_message": (None, [c_void_p, MESSAGE_FUNCTION, c_void_p]),
    "burin_run_carve": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(Error)]),
    "burin_run_cancel": (None, [c_void_p]),
    "burin_run_free": (None, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    """$BURIN_LIBRARY, the library of the source tree that this file is in, or the one that is installed."""
    built = Path(__file__).resolve().parents[4] / "build/libburin.so.1"
    library = ctypes.CDLL(os.environ.get("BURIN_LIBRARY") or (str(built) if built.exists() else "libburin.so.1"))
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()
