#!/usr/bin/env python3
"""Checks lines of report.jsonl against tests/report.schema.json; prints a line for each report with one that is not valid.

    check_schema.py REPORT..."""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    # The distribution's package is not seen by another python in front of it in PATH.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    raise


class Schema:
    def __init__(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report.schema.json")
        with open(path, encoding="utf-8") as file:
            self.validator = jsonschema.Draft7Validator(json.load(file))
        self.valid = set()

    def fault(self, line):
        """What is wrong with a line (bytes), or None. Equal lines are looked at once."""
        if line in self.valid:
            return None
        record = json.loads(line)
        for error in self.validator.iter_errors(record):
            # Of a oneOf the branch that the line claims to be says more.
            kinds = ["run", "file", "summary"]
            inner = [e for e in error.context if record["record"] in kinds
                     and e.schema_path[0] == kinds.index(record["record"])]
            return "; ".join(e.message for e in inner or [error])
        self.valid.add(line)
        return None

    def report_fault(self, path):
        """The first line of a report that is not valid, with what is wrong; or None."""
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                fault = self.fault(line)
                if fault:
                    return f"line {number} is not valid: {fault}"
        return None


if __name__ == "__main__":
    schema = Schema()
    faults = [(path, schema.report_fault(path)) for path in sys.argv[1:]]
    for path, fault in faults:
        if fault:
            print(f"{os.path.basename(path)}: {fault}")
    sys.exit(any(fault for _, fault in faults))
