# Two runs side by side: burin's with each tool's recorded reports (compare/), and with itself.
. "$SRCDIR/tests/cli/helpers"
data=$SRCDIR/tests/cli/compare image=$SRCDIR/images/sample.E01
cat >some.conf <<'C'
types = (
	{ name = "jpeg"; extension = "jpg"; header = "FF D8 FF E?"; max_size = "16M"; carver = "jpeg"; },
	{ name = "png"; header = "89 'PNG' 0D 0A 1A 0A"; max_size = "16M"; carver = "png"; },
	{ name = "gif"; header = "'GIF89a'"; max_size = "16M"; carver = "gif"; },
	{ name = "pdf"; header = "'%PDF-1.' 3?"; max_size = "16M"; carver = "pdf"; },
	{ name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
	{ name = "gz"; header = "1F 8B 08 0?"; max_size = "16M"; carver = "gz"; },
	{ name = "wav"; header = "'RIFF' ???????? 'WAVE'"; max_size = "16M"; carver = "riff"; }
);
C
try carve --quiet -c some.conf -o out "$image"
cp "$data"/*.* .

echo; echo "PhotoRec"
try compare out photorec.xml | tee photorec
echo; echo "the same the other way round"
try compare photorec.xml out | tail -3
tail -3 photorec
echo; echo "Scalpel, whose rules are asked too"
try compare --image "$image" out scalpel.txt
echo; echo "Foremost, its sizes in KB"
try compare out foremost.txt
echo; echo "all three have one picture at one place"
try compare scalpel.txt foremost.txt --all | grep -e '^ *1298432 ' -e exit

echo; echo "burin with itself"
try compare out out
try carve --quiet -c some.conf -t -zip,-gz -q 512 --offset 100K --length 1200K -o less "$image"
try compare out less
try carve --quiet -c some.conf --strict -o strict "$image"
try compare out strict | grep 1298432
try carve --quiet -c some.conf --nested --hash md5 -o nested "$image"
try compare out nested --all | grep -v ' same '
sed 's/"status":"complete"/"status":"unverified"/; s/"sha256":"1/"sha256":"2/' out/report.jsonl >changed.jsonl
try compare changed.jsonl out

echo; echo "rules that have changed are not asked"
sed -i 's/16M/17M/' some.conf
sed '/"offset":344064,/d; /"record":"summary"/d' out/report.jsonl >filtered.jsonl
try compare filtered.jsonl photorec.xml | grep 344064
try compare -c some.conf filtered.jsonl photorec.xml | grep 344064

echo; echo "the byte that Scalpel adds at the image's end"
echo "types = ( { name = \"tail\"; header = \"'BZh91AY'\"; max_size = \"1M\"; } );" >tail.conf
try carve --quiet -b -c tail.conf -o tail "$image"
sed '/^0000000[123]/d; s/^00000000.jpg  *53401.*1073/00000000.tail 1585152\t\tNO 577537/' scalpel.txt >longer.txt
try compare tail longer.txt | grep -e '^1585152' -e exit

echo; echo "JSON and a page"
"$BURIN" compare out photorec.xml --json --html page.html >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
print(value["a"]["tool"], value["b"]["tool"], value["b"]["version"], value["counts"], value["why"])
row = next(r for r in value["rows"] if r["offset"] == 673830)
print(row["a"]["type"], row["b"], row["differences"], row["why"])
PY
xmllint --html --noout page.html 2>&1 | grep -v HTML5 | head -3
grep -c "default-src 'none'" page.html
grep -c '<tr class=' page.html
try compare out photorec.xml --html page.html

echo; echo "hostile names"
sed 's/f0000104.jpg/a\&lt;script&gt;alert(1)\&lt;\/script\&gt;\&quot;\&#x202e;.jpg/; s/&gt;alert/\&gt;alert/' photorec.xml |
	sed 's/a&lt;script.*alert/a\&lt;script\&gt;alert/; 0,/>53248</s// >99</' >hostile.xml
sed -i "s/img_offset='53248'/img_offset='53252'/" hostile.xml
try compare out hostile.xml --html hostile.html | grep -c script
grep -o 'a&lt;script&gt;alert(1)&lt;/script&gt;' hostile.html
grep -c '<script' hostile.html

echo; echo "what is none"
echo 'a text' >text; printf '<dfxml><fileobject>' >torn.xml; printf '{"record":"run"}\n' >bad.jsonl; mkdir empty
printf 'Scalpel version 1.60 audit file\nFile\t\t  Start\nx.png  here\tNO  5 case.raw\n' >bad.txt
cat scalpel.txt scalpel.txt | sed '1s/^/Scalpel version 1.60\n/' >two.txt
for file in text torn.xml bad.jsonl bad.txt two.txt empty missing out/audit.txt; do
	try compare "$file" out
done
try compare out

echo; echo "batches"
cp "$SRCDIR/images/sample.E01" one.E01; cp one.E01 two.E01; cp one.E01 three.E01
try carve --quiet -p -t gif -c "$SRCDIR/conf/burin.conf" -o both one.E01 two.E01
try carve --quiet -p -t gif --strict -c "$SRCDIR/conf/burin.conf" -o other one.E01 three.E01
try compare both both | grep -v '^[AB]: '
try compare both other --json | grep -c '"counts"'
try compare both other --html batch.html
# of a batch and a single run, the runs over the same image
try carve --quiet -p -t gif -c "$SRCDIR/conf/burin.conf" -o single two.E01
try compare both single | tail -2
try compare single both | tail -2
try compare single other
