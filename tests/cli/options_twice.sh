# An option that is given twice adds up or is refused; what other carvers have is answered by name.
. "$SRCDIR/tests/cli/helpers"
cat >two.conf <<'END'
types = (
  { name = "rec"; header = "'REC['"; footer = "']CER'"; max_size = "1K"; },
  { name = "box"; header = "'BOX['"; footer = "']XOB'"; max_size = "1K"; }
);
END
printf 'REC[1]CER....BOX[2]XOB....' >image
carve() { rm -rf out; try carve --quiet -c two.conf -o out "$@" image; }
types() { grep -o '"record":"file".*"type":"[a-z]*"' out/report.jsonl | sed 's/.*"type"://'; }
carve -t rec -t box; types
carve -t rec -t -box
carve -t -box,rec
carve -t -rec; types
carve -t all; types
carve --hash md5 --hash sha1
grep -o '"hash":[^]]*]' out/report.jsonl
carve --quiet --strict --strict
carve -c two.conf
carve --offset 1 --offset=1
carve -s 512
carve -w -Q
carve -V
echo --- rules beside the installed ones
try conf list pictures.conf | head -1 | tr -s ' '
echo --- lists
printf '# the case\n\n  image \r\n\t# more\n' >list
try carve --quiet -c two.conf -o list.out -i list
try carve --quiet -c two.conf -o stdin.out -i - <list
printf 'image\0\nimage\n' >nul
try carve -c two.conf -o nul.out -i nul
head -c 5000 /dev/zero | tr '\0' / >long
try carve -c two.conf -o long.out -i long
mkdir conf
try conf
