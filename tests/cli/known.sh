# Sets of hashes: lists of every form mark files as known or wanted, or leave known ones out.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 6 1000
quiet() { "$BURIN" carve --quiet -c rec.conf "$@" || echo "exit $?"; }
quiet --hash md5,sha1,sha256 -o plain image
# hash NUMBER KIND: of the NUMBERth file
hash() { sed -n "$(($1 + 1))p" plain/report.jsonl | grep -o "\"$2\":\"[0-9a-f]*" | cut -d'"' -f4; }
show() # OUT: each file's place in the image and its marks
{
	check_reports "$1" image
	grep '"record":"file"' "$1/report.jsonl" | grep -o '"offset":[0-9]*\|"known":"[^"]*"\|"alert":"[^"]*"' | tr '\n' ' '
	tail -1 "$1/report.jsonl" | grep -o '"known":[0-9]*,"alert":[0-9]*\|"skipped":{[^}]*}'
}
echo "--- lists of all kinds of hashes, in any writing, with what does not belong there"
{
	printf '\xef\xbb\xbf# a list\r\n\r\n'
	hash 1 sha256 | tr a-f A-F
	echo "$(hash 2 md5)  a/file's name"
	echo "$(hash 3 sha1),more"
	echo "no hash"
	head -c 100000 /dev/zero | tr '\0' a
	echo
	hash 1 sha256
} >list.txt
"$BURIN" carve -c rec.conf --known list.txt -o a image 2>&1 | sed "s|$PWD|HERE|"
show a
echo "--- the index is used again"
ls -1 list.txt*
"$BURIN" carve -c rec.conf --known list.txt -o b image 2>&1 | grep -c making
echo "--- NSRL RDS 2, left out; hashes that are needed are computed, others are not"
{
	echo '"SHA-1","MD5","CRC32","FileName","FileSize","ProductCode","OpSystemCode","SpecialCode"'
	echo "\"$(hash 4 sha1 | tr a-f A-F)\",\"$(hash 5 md5)\",\"00000000\",\"a \"\"name\"\", with a comma\",1,2,\"3\",\"\""
} >NSRLFile.txt
quiet --hash none --known NSRLFile.txt --skip-known -o c image
show c
ls c/rec
grep -c '"hashes":{"sha1":"[0-9a-f]*"}' c/report.jsonl
echo "--- NSRL RDS 3, and a wanted file among the known ones"
python3 - "$(hash 5 sha256)" "$(hash 6 sha256)" <<'PY'
import sqlite3, sys
database = sqlite3.connect("rds.db")
database.execute("CREATE TABLE FILE (sha256 VARCHAR NOT NULL, sha1 VARCHAR, md5 VARCHAR, file_name VARCHAR)")
for value in [*(argument.upper() for argument in sys.argv[1:]), "x", None and ""]:
    database.execute("INSERT INTO FILE VALUES (?, '', '', 'name')", (value or "",))
database.commit()
PY
hash 6 md5 >wanted.txt
"$BURIN" carve --quiet -c rec.conf --known rds.db --known list.txt --skip-known --alert wanted.txt -o d image 2>&1 |
	sed 's/^burin: warning: //'
show d
echo "--- a list that has changed, and an index that is damaged, are seen"
hash 5 md5 >list.txt
quiet --known list.txt -o e image
show e
for size in 0 50 127 140; do
	truncate -s $size list.txt.burin-index
	"$BURIN" carve -c rec.conf --known list.txt -o e$size image 2>&1 | grep -c making
done
printf X | dd of=list.txt.burin-index bs=1 seek=130 conv=notrunc status=none
"$BURIN" carve -c rec.conf --known list.txt -o f image 2>&1 | grep -c making
show f
echo "--- threads make no difference"
quiet --known list.txt --alert rds.db --threads 1 --chunk-size 100 -o g image
quiet --known list.txt --alert rds.db --threads 4 -o h image
cmp <(sed '1d;$d' g/report.jsonl) <(sed '1d;$d' h/report.jsonl) && echo same
echo "--- refused"
echo nothing >empty.txt
printf 'SQLite format 3\0and no more' >broken.db
python3 -c 'import sqlite3; d = sqlite3.connect("other.db"); d.execute("CREATE TABLE t (a)"); d.commit()'
for list in empty.txt broken.db other.db missing . /dev/null; do
	try carve -c rec.conf --known $list -o no image 2>&1 | grep -v making | sed "s|$PWD|HERE|"
done
try carve -c rec.conf --skip-known -o no image
try carve -c rec.conf --known list.txt --dry-run -o no image
expect_nothing_at no
ls | grep 'part\|burin-index'
