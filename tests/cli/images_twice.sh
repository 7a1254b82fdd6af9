# An image that is named twice is carved once, later segments are no images, and what a folder's name does not take is said.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records disk.dd 2 1000
ln -s disk.dd link.dd
try carve --quiet -c rec.conf -o twice disk.dd ./disk.dd link.dd
ls twice
split -b 1000 -d -a 3 --numeric-suffixes=1 disk.dd part.
mkdir -p case/sub/out
cp disk.dd case/a.dd
cp part.* case
touch case/notes.txt
printf '%510s\125\252REC[x]CER' >case/table
printf '\200\1\1\0\7\376\377\377\1\0\0\0\4\0\0\0' | dd of=case/table bs=1 seek=446 conv=notrunc status=none
printf '%48s' | tr ' ' '\0' | dd of=case/table bs=1 seek=462 conv=notrunc status=none
cp disk.dd case/sub/b.dd
touch case/sub/out/report.jsonl
ln -s . case/sub/loop
ln -s nowhere case/dangling
try carve --quiet -c rec.conf -o parts part.*
ls parts
not_taken()
{
	python3 -c 'import json, sys
for each in json.load(open(sys.argv[1]))["not_taken"]:
    print(each["path"], "-", each["reason"])' "$1"
}
echo --- a folder
try carve --quiet -c rec.conf -o folder case
ls folder
not_taken folder/batch.json
echo --- with the folders in it
try carve --quiet -c rec.conf --recursive -o folders case
ls folders
not_taken folders/batch.json
