"""Finds files in disk images by their content, with libburin:

    for file in burin.carve("disk.E01", types=["jpeg"]):
        print(file.kind, file.offset, file.length, file.status)

An option of `burin carve` is an argument: --dry-run is dry_run=True, --types is types=["jpeg", "png"]. Without an
output folder nothing is written but reports in a temporary folder; file.read() gives the files' content all the same.
"""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
import threading
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Union

from .libburin import FILE_FUNCTION, MESSAGE_FUNCTION, PROGRESS_FUNCTION, Error, lib

__all__ = ["BurinError", "File", "Image", "Report", "carve", "release"]

StrPath = Union[str, "os.PathLike[str]"]
Option = Union[bool, int, str, Iterable[str], None]

_FINISHED = (0, 1)  # BURIN_CLEAN, BURIN_PROBLEMS


class BurinError(Exception):
    """What libburin could not do. code: enum burin_code of burin.h."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.text.decode())
        self.code: int = error.code


def _check(code: int, error: Error) -> int:
    if code not in _FINISHED:
        raise BurinError(error)
    return code


def release() -> str:
    """The release and the commit of the library."""
    return str(lib.burin_release().decode())


class Image:
    """A disk image of any kind that burin reads. Several threads may read from it."""

    def __init__(self, path: StrPath) -> None:
        self._image = c_void_p()
        error = Error()
        _check(lib.burin_image_open(byref(self._image), os.fsencode(path), byref(error)), error)
        self.size: int = lib.burin_image_size(self._image)
        self.format: str = lib.burin_image_format(self._image).decode()

    def read(self, offset: int, length: int) -> bytes:
        """Exactly these bytes."""
        buffer, error = ctypes.create_string_buffer(length), Error()
        _check(lib.burin_image_read(self._image, offset, buffer, length, byref(error)), error)
        return buffer.raw

    def close(self) -> None:
        lib.burin_image_close(self._image)
        self._image = c_void_p()

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True)
class File:
    """A file that was found."""

    path: str  # below the output folder
    type: str  # the rule that found it
    kind: str  # what it is: docx where the type is zip
    status: str  # complete, truncated or unverified
    offset: int  # in the image
    length: int
    extents: list[tuple[int, int]]  # (offset in the image, length), in the order of the file
    record: dict[str, Any]  # its line in report.jsonl, which has more
    report: Report | None = None  # None during the run, when files can't be read

    @staticmethod
    def _make(line: bytes, report: Report | None = None) -> File:
        record = json.loads(line)
        return File(
            **{name: record[name] for name in ("path", "type", "kind", "status", "offset", "length")},
            extents=[(offset, length) for offset, length in record["runs"]],
            record=record,
            report=report,
        )

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """Its content, from the image."""
        if self.report is None:
            raise ValueError("during the run, files can't be read")
        image, parts = self.report.image, []
        end = self.length if length is None else min(self.length, offset + length)
        for start, size in self.extents:
            if offset < size and end > 0 and offset < end:
                parts.append(image.read(start + offset, min(size, end) - offset))
            offset, end = max(offset - size, 0), end - size
        return b"".join(parts)


class Report:
    """The report of a run: iterate over its files, as often as you like."""

    def __init__(self, path: StrPath, image: StrPath | None = None) -> None:
        """path: of report.jsonl, or of the output folder. image: where the image is now."""
        self._path = path
        self._image: Image | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        report = self._open()
        #: The first line of report.jsonl: image, rules, options.
        self.run: dict[str, Any] = json.loads(lib.burin_report_run_json(report))
        self._image_path = image or os.fsdecode(lib.burin_report_image(report))
        lib.burin_report_close(report)

    def _open(self) -> c_void_p:
        report, error = c_void_p(), Error()
        _check(lib.burin_report_open(byref(report), os.fsencode(self._path), byref(error)), error)
        return report

    @property
    def image(self) -> Image:
        if self._image is None:
            self._image = Image(self._image_path)
        return self._image

    def __iter__(self) -> Iterator[File]:
        report, file, error = self._open(), c_void_p(), Error()
        try:
            while not _check(lib.burin_report_next(report, byref(file), byref(error)), error) and file:
                yield File._make(lib.burin_file_json(file), self)  # pylint: disable=protected-access
        finally:
            lib.burin_report_close(report)


def _word(value: int | str | Iterable[str]) -> bytes | None:
    if value is True:
        return None
    return os.fsencode(str(value) if isinstance(value, (str, int)) else ",".join(value))


class _Run:
    """A run of the library. It goes on in a thread of its own, so that Ctrl-C reaches Python meanwhile."""

    def __init__(self, options: dict[str, Option]) -> None:
        self._run = lib.burin_run_new()
        self._callbacks: list[Any] = []
        self._raised: list[BaseException] = []
        try:
            for name, value in options.items():
                if value is not None and value is not False:
                    self._set(name.replace("_", "-").encode(), _word(value))
        except BaseException:
            lib.burin_run_free(self._run)
            raise

    def _set(self, name: bytes, word: bytes | None) -> None:
        error = Error()
        _check(lib.burin_run_set(self._run, name, word, byref(error)), error)

    def _listen(self, setter: Any, kind: Any, function: Callable[..., None] | None) -> None:
        """What a callback raises ends the run, and is raised in the caller."""
        if function is None:
            return

        def call(*arguments: Any) -> None:
            try:
                function(*arguments[1:])
            except BaseException as raised:  # pylint: disable=broad-exception-caught
                self._raised.append(raised)
                lib.burin_run_cancel(self._run)

        self._callbacks.append(kind(call))
        setter(self._run, self._callbacks[-1], None)

    def carve(self, image: StrPath, output: StrPath, on_file: Any, on_progress: Any, on_message: Any) -> None:
        error = Error()
        result: list[int] = []
        self._listen(lib.burin_run_on_file, FILE_FUNCTION,
                     on_file and (lambda file: on_file(File._make(lib.burin_file_json(file)))))
        self._listen(lib.burin_run_on_progress, PROGRESS_FUNCTION, on_progress)
        self._listen(lib.burin_run_on_message, MESSAGE_FUNCTION,
                     on_message and (lambda level, text: on_message(("error", "warning", "info")[level], text.decode())))
        thread = threading.Thread(target=lambda: result.append(
            lib.burin_run_carve(self._run, os.fsencode(image), os.fsencode(output), byref(error))))
        thread.start()
        try:
            thread.join()
        except BaseException:
            lib.burin_run_cancel(self._run)
            thread.join()
            raise
        finally:
            lib.burin_run_free(self._run)
        if self._raised:
            raise self._raised[0]
        _check(result[0], error)


def carve(
    image: StrPath,
    output: StrPath | None = None,
    *,
    on_file: Callable[[File], None] | None = None,
    on_progress: Callable[[int, int, int], None] | None = None,
    on_message: Callable[[str, str], None] | None = None,
    **options: Option,
) -> Report:
    """Carves an image into a new folder, or without one only finds files, and returns the report.

    on_file gets each file as soon as it is found, on_progress the bytes done, the bytes in all and the files so far,
    on_message a level ("error", "warning", "info") and a text. Raises BurinError when the run failed."""
    folder = None
    if output is None:
        folder = tempfile.TemporaryDirectory(prefix="burin-")
        output = os.path.join(folder.name, "out")
        options.setdefault("dry_run", True)
    _Run(options).carve(image, output, on_file, on_progress, on_message)
    report = Report(output, image)
    report._folder = folder  # removed with the report  # pylint: disable=protected-access
    return report
