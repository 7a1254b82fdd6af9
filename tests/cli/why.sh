# Why a file was carved at an offset, or not: each state, and what the report adds.
. "$SRCDIR/tests/cli/helpers"
cat >why.conf <<'C'
types = (
	{ name = "rec"; header = "'REC['"; footer = "']CER'"; max_size = "200"; },
	{ name = "again"; header = "'REC['"; length = { at = 4; type = "u8"; }; max_size = "1K"; min_size = 90; },
	{ name = "last"; header = "'REC['"; footer = "']CER'"; pair = "reverse"; max_size = "1K"; },
	{ name = "upto"; header = "'REC['"; pair = "next"; max_size = "1K"; },
	{ name = "must"; header = "'REC['"; must = ({ at = 5; bytes = "'!'"; }); max_size = "16"; },
	{ name = "even"; header = "'REC['"; align = 512; max_size = "16"; },
	{ name = "inner"; header = "'EC['"; header_offset = 1; max_size = "16"; },
	{ name = "any"; header = ("'XY'", "/R[A-Z]{1,3}\\[/"); max_size = "16"; }
);
C
make_records image 5 100
try why -c why.conf image 200
try why -c why.conf image 0xC9
try why -c why.conf -t rec,any image 201
try why -c why.conf -t rec,any image 203
try why -c why.conf -t rec,upto,last image 800
head -c 850 image >cut
try why -c why.conf -t rec,upto,last cut 800
try why -c why.conf -t rec --both cut 800
try why -c why.conf -t rec cut 849
try why -c why.conf -t even --align 512 image 512
echo; echo "what is wrong with the call"
try why -c why.conf image 1000
try why -c why.conf image here
try why -c why.conf image
try why -c missing.conf image 0
try why -c why.conf missing 0
echo; echo "with carvers and a report"
cat >two.conf <<'C'
types = (
	{ name = "png"; header = "89 'PNG' 0D 0A 1A 0A"; min_size = 57; carver = "png"; },
	{ name = "raw"; header = "89 'PNG'"; max_size = "16"; }
);
C
{ head -c 1000 /dev/zero; cat "$SRCDIR/tests/golden/png/rgb.png"; } >picture
try carve -q 1 --quiet -c two.conf -o out picture
try why -c two.conf picture 1000
try why -c two.conf --report out/report.jsonl picture 1010
printf '\211PNG\r\n\032\n\0\0\0\015IHDRxxxxyyyyzzzzz....' >broken
try why -c two.conf broken 0
try why -c two.conf --report missing.jsonl picture 1010
echo; echo "with folders"
try why -c two.conf --report out picture 1010
cp picture another; truncate -s 900 picture.short
try carve -q 1 --quiet -c two.conf -o batch picture another
try why -c two.conf --report batch "$PWD/another" 1010
try why -c two.conf --report batch picture.short 5
try why -c two.conf --report . picture 1010
try why -c two.conf --json --report out/report.jsonl picture 1000 | sed '/^exit/d' | python3 -c '
import json, sys
why = json.load(sys.stdin)
print(why["image"], why["offset"], [(r["type"], r["state"], r["why"], r["length"]) for r in why["rules"]], [c["status"] for c in why["covered_by"]])'
