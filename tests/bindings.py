"""The Python package, and through it what libburin does when things go wrong. Run by tests/libburin."""
import ctypes
import hashlib
import os
import tempfile
import threading
import unittest

import burin
from burin import libburin

IMAGE = "images/sample.E01"


class Carve(unittest.TestCase):
    def test_files(self):
        seen, steps, messages = [], [], []
        report = burin.carve(IMAGE, types=["jpeg", "png"], on_file=seen.append, on_progress=lambda *step: steps.append(step),
                             on_message=lambda *message: messages.append(message))
        files = list(report)
        self.assertEqual([file.record for file in files], [file.record for file in seen])
        self.assertEqual([file.record for file in files], [file.record for file in report], "a second time")
        self.assertEqual((files[0].kind, files[0].offset, files[0].length, files[0].status), ("jpeg", 53248, 218364, "complete"))
        self.assertEqual(steps[-1], (2162688, 2162688, 7))
        self.assertIn("info", {level for level, _ in messages})
        self.assertEqual(report.run["command"][:2], ["libburin", "carve"])

    def test_content(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out")
            for file in burin.carve(IMAGE, output, fragments="known"):
                with open(os.path.join(output, file.path), "rb") as written:
                    content = written.read()
                self.assertEqual(file.read(), content)
                self.assertEqual(file.read(10, 7), content[10:17])
                self.assertEqual(file.read(file.length - 2, 9), content[-2:])
                self.assertEqual(hashlib.sha256(content).hexdigest(), file.record["hashes"]["sha256"])

    def test_nothing_is_left(self):
        report = burin.carve(IMAGE, types="gif")
        folder = report._folder.name
        self.assertTrue(os.path.isdir(folder))
        del report
        self.assertFalse(os.path.exists(folder))


class Refused(unittest.TestCase):
    def check(self, code, text, *arguments, **options):
        with self.assertRaises(burin.BurinError) as caught:
            burin.carve(*arguments, **options)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(text, str(caught.exception))

    def test_options(self):
        self.check(2, "libburin has no option 'tyes'; did you mean 'types'?", IMAGE, tyes="jpeg")
        self.check(2, "libburin has no option 'json'", IMAGE, json=True)
        self.check(2, "takes a whole number, not 'x'", IMAGE, threads="x")
        self.check(2, "takes no value", IMAGE, strict="yes")
        self.check(2, "needs a value", IMAGE, types=True)
        self.check(2, "there is no type 'nope'", IMAGE, types="nope")

    def test_places(self):
        self.check(3, "can't open missing", "missing")
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "file"), "w").close()
            self.check(3, "not empty", IMAGE, folder)
            with self.assertRaises(burin.BurinError):
                burin.Report(folder)
            with self.assertRaises(burin.BurinError):
                burin.Image(os.path.join(folder, "file"))

    def test_past_the_end(self):
        with burin.Image(IMAGE) as image:
            self.assertEqual((image.size, image.format), (2162688, "ewf"))
            with self.assertRaises(burin.BurinError):
                image.read(image.size - 1, 2)

    def test_two_runs(self):
        refused = []

        def second(_):
            if not refused:
                other = threading.Thread(target=lambda: refused.append(self.second()))
                other.start()
                other.join()

        burin.carve(IMAGE, types="jpeg", on_file=second)
        self.assertIn("another run is under way", refused[0])

    def second(self):
        try:
            burin.carve(IMAGE, types="png")
        except burin.BurinError as error:
            return str(error)


class OneRun(unittest.TestCase):
    def test_several_images(self):
        lib, run = libburin.lib, libburin.lib.burin_run_new()

        def files(name):
            output, error = os.path.join(folder, name), libburin.Error()
            self.assertEqual(lib.burin_run_carve(run, IMAGE.encode(), output.encode(), ctypes.byref(error)), 0, error.text)
            return [file.record for file in burin.Report(output)]

        with tempfile.TemporaryDirectory() as folder:
            error = libburin.Error()
            lib.burin_run_set(run, b"types", b"jpeg", ctypes.byref(error))
            jpegs = files("first")
            self.assertTrue(jpegs)
            self.assertEqual(files("again"), jpegs)
            lib.burin_run_set(run, b"types", b"gif", ctypes.byref(error))
            self.assertEqual({file["type"] for file in files("more")}, {"jpeg", "gif"}, "options count between images, too")
            lib.burin_run_free(run)


class Cancelled(unittest.TestCase):
    def test_callback(self):
        def stop(_):
            raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out")
            with self.assertRaises(KeyboardInterrupt):
                burin.carve(IMAGE, output, on_file=stop, threads=1)
            self.assertTrue(list(burin.Report(output)), "its reports are complete")
        self.assertEqual(len(list(burin.carve(IMAGE, types="gif"))), 1, "the next run is not cancelled")


unittest.main()
