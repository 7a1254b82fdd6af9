# The selftest with a small rule set: it passes, writes its protocol, and cleans up.
. "$SRCDIR/tests/cli/helpers"
cat >some.conf <<'C'
types = (
	{ name = "png"; header = "89 'PNG' 0D 0A 1A 0A"; max_size = "16M"; carver = "png"; },
	{ name = "zip"; header = "'PK' 03 04"; max_size = "16M"; carver = "zip"; },
	{ name = "gz"; header = "1F 8B 08 0?"; max_size = "16M"; carver = "gz"; },
	{ name = "bmp"; header = "'BM' ???????? 00 00 00 00 36"; max_size = "16M"; carver = "bmp"; },
	{ name = "wav"; header = "'RIFF' ???????? 'WAVE'"; max_size = "16M"; carver = "riff"; }
);
C
mkdir temporary
export TMPDIR=$PWD/temporary
try selftest --quiet -c some.conf -o case/protocol
mkdir case
try selftest --quiet -c some.conf -o case/protocol >text
head -5 text; tail -1 text
sed -n '/^CLASS/,/^$/p' text
grep -c '^cpu .* yes .* passed' text
cmp <(sed '$d' text) case/protocol/selftest.txt && echo the same as the file
grep -c "default-src 'none'" case/protocol/selftest.html
xmllint --html --noout case/protocol/selftest.html 2>&1 | head -3
ls -A temporary case/protocol
echo; echo "what can't be tested, or not be written"
try selftest --quiet -c some.conf -o case/protocol | tail -1
printf 'types = ( { name = "png"; header = "89 50"; max_size = 100; } );\n' >none.conf
try selftest -c none.conf
TMPDIR=/nowhere/at/all try selftest -c some.conf
try selftest some.conf
