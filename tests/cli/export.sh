# burin export, read by programs that burin's authors did not write.
. "$SRCDIR/tests/cli/helpers"
image=$SRCDIR/images/sample.E01
try carve --quiet -p -t jpeg,zip --case '=2026/17' --examiner 'J. "Doe"' --note 'a -- b --> c' -o plan "$image"
try carve --quiet -p -t png --fragments=off -o second "$image"
echo --- the case in every report
grep -o '"case":{[^}]*}' plan/report.jsonl
grep -e '^Case' -e '^Exam' -e '^Note' plan/audit.txt
xmllint --noout plan/report.xml && grep -e '<!-- case' -e '<!-- note' plan/report.xml
"$SRCDIR/tests/cli/check_reports" plan "$image"
echo --- CSV
# what a report and its evidence hold may be hostile
sed 's/"title":""/"title":"=1+1 \\"x\\",\\n|y"/; s/"problems":\[/&"\\u001b[2J\\u202e"/' plan/report.jsonl >edited && mkdir edit && mv edited edit/report.jsonl
try export plan second -o files.csv
"$BURIN" export --quiet edit >edit.csv
python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open("files.csv", newline="", encoding="utf-8"), strict=True))
print(len(rows), "rows of", {len(row) for row in rows}, "columns")
records = [json.loads(line) for name in ("plan", "second") for line in open(name + "/report.jsonl")]
files = [record for record in records if record["record"] == "file"]
for row, file in zip(rows, files, strict=True):
    for name in "path type kind extension status end reason title".split():
        assert row[name] == file[name], (name, row, file)
    assert (int(row["offset"]), int(row["length"]), row["time"] or None) == (file["offset"], file["length"], file["time"])
    assert [[int(n) for n in run.split("+")] for run in row["runs"].split()] == file["runs"]
edit = list(csv.DictReader(open("edit.csv", newline="", encoding="utf-8"), strict=True))
print(sorted({row["title"] for row in edit}))
PY
try export plan -o files.csv
echo --- SQLite
try export --quiet --to sqlite -o case.db plan second
try export --quiet --to sqlite -o once.db plan
try export --quiet --to sqlite -o once.db second
dump()
{
	python3 -c 'import sqlite3, sys
print("\n".join(sqlite3.connect(sys.argv[1]).iterdump()))' "$1"
}
try export --quiet --to sqlite -o edit.db edit
python3 -c 'import sqlite3
print(sqlite3.connect("edit.db").execute("SELECT text FROM problem").fetchall())'
dump case.db >1; dump once.db >2; cmp 1 2 && echo the same in one step and in two
try export --quiet --to sqlite -o again.db plan second; cmp case.db again.db && echo the same again
python3 - <<'PY'
import sqlite3
base = sqlite3.connect("case.db")
for query in ("PRAGMA integrity_check", "PRAGMA foreign_key_check",
              'SELECT "case", examiner, note, files, image_format, "exit" FROM run',
              "SELECT kind, count(*), sum(length) FROM file GROUP BY kind",
              'SELECT count(*) FROM extent JOIN file ON file.id = file AND extent."offset" = file."offset" '
              "AND extent.length = file.length", "EXPLAIN QUERY PLAN SELECT * FROM file WHERE sha256 = 1"):
    print(base.execute(query).fetchall())
PY
echo --- nothing half done
try carve --quiet -p -t gif -o batch "$image" "$SRCDIR/images/sample-split.E01"
try export --to sqlite -o case.db batch plan
try export --to sqlite -o case.db batch missing
try export --to sqlite -o new.db plan missing
try export --to sqlite -o files.csv plan
try export --to sqlite plan
dump case.db | cmp - 1; ls new.db 2>&1 | sed 's/.*: //'
echo --- a bodyfile
"$BURIN" export --to bodyfile plan >body
sed "s#$SRCDIR/##" body
rows()
{
	mactime -b body -d -z UTC 2024-01-01 | cut -d, -f1-3
}
wanted="Date,Size,Type $(printf '%s,m... ' 'Thu Feb 29 2024 12:34:56,'{218364,2209,7739})"
! command -v mactime >/dev/null || [[ "$(rows | tr '\n' ' ')" == "$wanted" ]] || rows
echo --- a batch
"$BURIN" export --quiet batch | sed "s#$SRCDIR/##" | cut -d, -f1-3,7
echo --- CASE
try export --to case -o plan.jsonld edit second
try export --quiet --to case -o again.jsonld edit second; cmp plan.jsonld again.jsonld && echo the same again
python3 - <<'PY'
import collections, json, re
graph = json.load(open("plan.jsonld", encoding="utf-8"))["@graph"]
records = [json.loads(line) for name in ("edit", "second") for line in open(name + "/report.jsonl")]
files = [record for record in records if record["record"] == "file"]
nodes, used = {}, []

def walk(value):
    if isinstance(value, dict):
        assert re.fullmatch("urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", value["@id"])
        assert value["@id"] not in nodes, "an id is there twice"
        nodes[value["@id"]] = value
        for member in value.values():
            walk(member)
    elif isinstance(value, list):
        for member in value:
            walk(member)
    elif str(value).startswith("urn:uuid:"):
        used.append(value)

walk(graph)
assert set(used) <= set(nodes), "a node is missing"
print(sorted(collections.Counter(node["@type"] for node in graph).items()))
found = [node for node in graph if node["@type"] == "uco-observable:File"]
assert [node["uco-core:name"] for node in found] == [file["path"] for file in files]
places = [node["uco-core:hasFacet"][0] for node in graph if node["@type"] == "uco-observable:ObservableRelationship"]
assert [[place["uco-observable:rangeOffset"], place["uco-observable:rangeSize"]] for place in places] == \
    [run for file in files for run in file["runs"]]
action = next(node for node in graph if "Action" in node["@type"])
assert action["uco-action:result"] == [node["@id"] for node in found][:len(action["uco-action:result"])]
print([nodes[action[name]].get("uco-core:name", "-") for name in ("uco-action:instrument", "uco-action:performer")])
print(found[0]["uco-core:description"])
PY
! command -v case_validate >/dev/null || case_validate --built-version case-1.4.0 plan.jsonld | grep -q 'Conforms: True' || echo "case_validate finds faults"
