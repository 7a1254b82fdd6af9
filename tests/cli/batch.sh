# Several images, one of them bad: the others are carved, and the exit code is the highest.
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir a b
make_records a/disk 3 1000
make_records b/disk 4 1000
make_records disk-2 5 1000
: >empty
try carve -c rec.conf -o out a/disk empty b/disk missing disk-2
for folder in out/*/; do
	echo "$folder"
	check_reports "$folder"
done
echo --- from a list, with empty lines and carriage returns
printf 'a/disk\r\n\nmissing\nb/disk\n' >list
try carve -c rec.conf -o out2 -i list disk-2
ls out2
echo --- invalid lists
try carve -c rec.conf -o out3 -i no-list
: >nothing
try carve -c rec.conf -o out3 -i nothing
try carve -c rec.conf -o out3 -i .
echo --- a quota in one of them, and a folder that is not empty
try carve -c rec.conf -o out4 --max-files 3 a/disk b/disk
try carve -c rec.conf -o out4 a/disk disk-2
expect_nothing_at out3
echo --- a folder, a wildcard, and several at a time
cp a/disk a/one.dd
cp b/disk a/two.E01.raw
echo text >a/notes.txt
try carve -c rec.conf -o out5 a 'b/di?k'
ls out5
for jobs in 1 3; do
	try carve -c rec.conf --quiet -j $jobs -o jobs$jobs a/one.dd b/disk disk-2 a empty
	cat jobs$jobs/*/report.jsonl | grep '"record":"file"' >jobs$jobs.files
	python3 - jobs$jobs/batch.json <<'PY'
import json, sys
batch = json.load(open(sys.argv[1]))
print("exit", batch["exit"])
for image in batch["images"]:
    print([image[key] for key in "image folder exit files bytes size evidence problem".split()])
PY
done
cmp jobs1.files jobs3.files && wc -l <jobs3.files
try carve -c rec.conf --quiet -j 2 --json -o out6 a/disk b/disk >events
python3 - events <<'PY' | sort
import json, sys
for line in open(sys.argv[1]):
    if line.startswith("{") and json.loads(line)["event"] != "progress":
        print([json.loads(line).get(key) for key in ("event", "image", "path", "exit")])
PY
mkdir none
try carve -c rec.conf -o out7 none
try carve -c rec.conf -o out7 'none/*'
try carve -c rec.conf -o out7 -j 0 disk
expect_nothing_at out7
echo --- the whole batch verified and shown, and what failed taken up again
try verify out | sed 's/  */ /g'
echo x >>out/disk-2/rec/0000000000.rec
try verify out 2>&1 | grep -v ' ok$'
try report --quiet --thumbs 0 out2
ls out2/*/report.html
try carve --quiet -c rec.conf -o again a/disk missing
cp b/disk missing
try carve --quiet --resume again
try carve --resume again
ls again
python3 -c 'import json
batch = json.load(open("again/batch.json"))
print(batch["exit"], [[image[key] for key in "image exit files size problem".split()] for image in batch["images"]])'
try compare out out2
