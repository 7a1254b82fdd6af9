# Hash sets: lists in every format mark files as known or wanted, or leave known ones out.
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
echo "--- burin extract keeps the marks"
"$BURIN" extract --hash md5,sha1,sha256 -o again d/report.jsonl 2>&1 | sed "s|$PWD|HERE|; s/^burin: warning: //"
show again
diff -r d/rec again/rec && echo same
diff <(grep '"record":"file"' d/report.jsonl) <(grep '"record":"file"' again/report.jsonl) && echo same
echo "--- what other programs write: each names three files, and nothing else"
row() { echo "$(hash "$1" "$2")"; }
{
	echo "%%%% HASHDEEP-1.0"
	echo "%%%% size,md5,sha256,filename"
	echo "## Invoked from: /home/user"
	echo "## \$ hashdeep -c md5,sha256 a"
	echo "##"
	for i in 1 2 3; do echo "1000,$(row 4 md5),$(row $i sha256),/home/a, \"b\".rec"; done
} >hashdeep.txt
for i in 1 2 3; do echo "      1000  $(row $i md5)  /home/user/$(row 4 md5)"; done >md5deep-z.txt
for i in 1 2 3; do echo "\\$(row $i sha256) *a\\nb (x) = $(row 4 sha256)"; done >sha256sum.txt
for i in 1 2 3; do echo "SHA256 (a = ($(row 4 sha256)) = b) = $(row $i sha256)"; done >bsd.txt
for i in 1 2 3; do echo "SHA2-256($(row 4 sha256))= $(row $i sha256)"; done >openssl.txt
{
	printf '\r\nAlgorithm       Hash                          Path\r\n---------       ----                          ----\r\n'
	for i in 1 2 3; do printf 'SHA256          %s  C:\\Temp\\\303\244.rec\r\n' "$(row $i sha256 | tr a-f A-F)"; done
} | iconv -f UTF-8 -t UTF-16LE | cat <(printf '\xff\xfe') - >powershell.txt
{
	printf 'Name\tMD5\tSHA1\tLogical Size\r\n'
	printf 'a, b\t%s\t%s\t1000\r\n' "$(row 4 md5)" "$(row 1 sha1)" # the stronger one counts
	printf 'c\t%s\t\t1000\r\nd\t%s\t\t1000\r\n' "$(row 2 md5)" "$(row 3 md5)"
} >encase.txt
{
	echo '"file_id","hashset_id","file_name","directory","hash","file_size","date_modified","time_modified","time_zone","comments","date_accessed","time_accessed"'
	for i in 1 2 3; do echo "$i,7,\"$(row 4 md5)\",\"C:\\\",\"$(row $i md5 | tr a-f A-F)\",1000,\"\",\"\",\"\",\"\",\"\",\"\""; done
} >hashkeeper.hsh
for i in 1 2 3; do echo "\"$(row $i sha1 | tr a-f A-F)\",\"$(row 4 md5)\",\"00000000\",\"a\",1000,1,\"362\",\"\""; done >NSRL-no-header.txt
python3 - "$(row 1 sha256)" "$(row 2 sha1)" "$(row 3 md5)" "$(row 4 sha256)" <<'PY'
import sqlite3, sys
sha256, sha1, md5, other = (argument.upper() for argument in sys.argv[1:])
rows = [(sha256, "0" * 40, "0" * 32), ("", sha1, "1" * 32), (None, None, md5)]
common = """
CREATE TABLE MFG (manufacturer_id INTEGER, name VARCHAR, PRIMARY KEY (manufacturer_id));
CREATE TABLE OS (operating_system_id INTEGER, name VARCHAR, version VARCHAR, manufacturer_id INTEGER);
CREATE TABLE PKG (package_id INTEGER, name VARCHAR, version VARCHAR, operating_system_id INTEGER,
  manufacturer_id INTEGER, language VARCHAR, application_type VARCHAR);
CREATE TABLE VERSION (version VARCHAR UNIQUE NOT NULL, build_set VARCHAR NOT NULL, build_date TIMESTAMP NOT NULL,
  release_date TIMESTAMP NOT NULL, description VARCHAR NOT NULL);
"""
d = sqlite3.connect("minimal#%41 ?.db")  # the tables of a minimal set, in a name that is hard for a URI
d.execute("PRAGMA journal_mode=WAL")
d.executescript(common + """CREATE TABLE FILE (sha256 VARCHAR, sha1 VARCHAR, md5 VARCHAR, crc32 VARCHAR,
  file_name VARCHAR, file_size INTEGER, package_id INTEGER);
CREATE VIEW DISTINCT_HASH AS SELECT DISTINCT sha256, sha1, md5, crc32 FROM FILE;""")
d.executemany("INSERT INTO FILE VALUES (?, ?, ?, '00000000', 'a', 1000, 1)", rows)
d.commit()
d.close()
d = sqlite3.connect("full.db")  # of a full one: hashes stand once, and FILE is a view that names another
d.executescript(common + f"""CREATE TABLE METADATA (metadata_id INTEGER, object_id INTEGER, sha256 VARCHAR,
  sha1 VARCHAR, md5 VARCHAR, crc32 VARCHAR, bytes INTEGER);
CREATE TABLE NOTES (md5 VARCHAR); INSERT INTO NOTES VALUES ('{other}');
CREATE VIEW FILE AS SELECT '{other}' AS sha256;
CREATE VIEW DISTINCT_HASH AS SELECT DISTINCT sha256, sha1, md5, crc32 FROM METADATA;""")
d.executemany("INSERT INTO METADATA VALUES (1, 1, ?, ?, ?, '00000000', 1000)", rows)
d.commit()
d = sqlite3.connect("binary.db")
d.execute("CREATE TABLE hashes (id INTEGER PRIMARY KEY, md5 BINARY(16) UNIQUE, sha1 BINARY(20), sha2_256 BINARY(32))")
d.executemany("INSERT INTO hashes (md5, sha1) VALUES (?, ?)",
              [(None, bytes.fromhex(sha1)), (bytes.fromhex(md5), None)])
d.commit()
PY
for list in hashdeep.txt md5deep-z.txt sha256sum.txt bsd.txt openssl.txt powershell.txt encase.txt hashkeeper.hsh NSRL-no-header.txt minimal*.db full.db binary.db; do
	"$BURIN" carve --quiet -c rec.conf --known "$list" -o "o $list" image 2>&1
	echo "$list: $(grep '"known":"' "o $list/report.jsonl" | grep -o '"offset":[0-9]*' | tr '\n' ' ')"
done
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
echo "--- a dry run says what a run would do"
plan()
{
	sed '1d;$d; s/"written":true/"written":false/; s/"hash[^{]*{[^}]*}//' "$1/report.jsonl"
}
for options in "--known list.txt --alert rds.db" "--known list.txt --skip-known"; do
	quiet $options --dry-run --threads 3 -o p image
	quiet $options -o q image
	cmp <(plan p) <(plan q) && ls p && tail -1 p/report.jsonl | grep -o '"\(known\|alert\|files\)":[0-9]*' | tr '\n' ' '
	[[ $(tail -1 p/report.jsonl | grep -o '"skipped":{[^}]*}') == "$(tail -1 q/report.jsonl | grep -o '"skipped":{[^}]*}')" ]] || echo other sums
	grep -c '"sha1":"\|"md5":"' p/report.jsonl
	rm -r p q
done
echo "--- refused"
echo nothing >empty.txt
printf 'SQLite format 3\0and no more' >broken.db
hash 1 md5 | gzip >list.gz
python3 -c 'import sqlite3; d = sqlite3.connect("other.db"); d.execute("CREATE TABLE t (a)"); d.commit()'
for list in empty.txt list.gz broken.db other.db missing . /dev/null; do
	try carve -c rec.conf --known $list -o no image 2>&1 | grep -v making | sed "s|$PWD|HERE|"
done
try carve -c rec.conf --skip-known -o no image
expect_nothing_at no
ls | grep 'part\|burin-index\|db-'
