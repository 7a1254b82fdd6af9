# --json: a stream of JSON lines that ends with 'done' and the exit code, whatever happens.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 1000
events()
{
	"$BURIN" "$@" --json --quiet >events
	echo "exit $?"
	python3 - <<'PY'
import json
lines = open("events", "rb").read().decode("utf-8").split("\n")
assert lines.pop() == "", "the last line is torn"
events = [json.loads(line) for line in lines]
files = [event for event in events if event["event"] == "file"]
progress = [event for event in events if event["event"] == "progress"]
assert {event["event"] for event in events} <= {"start", "file", "progress", "error", "warning", "done"}
for event in events:
    if event["event"] in ("start", "error", "warning"):
        event.pop("output", 0)
        print(event)
assert [event["done"] for event in progress] == sorted(event["done"] for event in progress)
print(len(files), "files;", [event for event in events if event["event"] == "done"],
      "last:", events[-1]["event"], "done of total:", progress[-1]["done"], progress[-1]["total"])
try:
    report = [json.loads(line) for line in open("out/report.jsonl", "rb")][1:-1]
except FileNotFoundError:
    report = []
for record in report + files:
    record.pop("record", 0), record.pop("event", 0)
assert report == files, "events and report differ"
PY
	rm -rf out
}
events carve -c rec.conf -o out image
events carve -c rec.conf -o out --dry-run image
events carve -c rec.conf -o out --max-files 3 image
events carve -c rec.conf -o out missing
"$BURIN" carve --quiet -p -c rec.conf -o plan image
events extract -o out plan/report.jsonl image
echo --- from another folder, and after the image has moved
mkdir elsewhere
(cd elsewhere && try extract --quiet -o out ../plan/report.jsonl  && ls out/rec | wc -l)
mv image moved
try extract --quiet -o lost plan/report.jsonl
mv moved image
# nobody reads: the run completes, and says so
python3 - <<'PY'
import os, subprocess
reader, writer = os.pipe()
os.close(reader)
print("exit", subprocess.run([os.environ["BURIN"], "carve", "-c", "rec.conf", "-o", "out", "--json", "--quiet", "image"],
                             stdout=writer).returncode)
PY
check_reports out image
"$BURIN" carve -c rec.conf -o out2 --json --quiet image >/dev/full
echo "exit $?"
check_reports out2 image
[ -e out2/.burin-checkpoint ] || echo nothing is left to resume
