#!/usr/bin/env python3
"""Makes the golden files of tests/golden and what is expected of them (see README.md there). Needs Pillow (python3-pil).

    tests/golden/make.py                all again; the result should equal what is committed, but for a newer Pillow's encoders
    tests/golden/make.py png zip        only those

makers/CARVER.py makes the files of one carver, with a function make(). A file NAME has a file NAME.expected with lines `key value`; what a
carver finds has to agree with each of them. What is expected is computed from how the file was made, never taken from a carver.
"""
import importlib, os, sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True

if __name__ == "__main__":
    modules = sorted(name[:-3] for name in os.listdir(os.path.join(ROOT, "makers")) if name.endswith(".py"))
    for name in sys.argv[1:] or modules:
        maker = importlib.import_module("makers." + name)
        if hasattr(maker, "make"):  # others are shared by makers
            maker.make()
