# A run that hashes its evidence is resumed: what was searched must have the hash that it had, wherever a byte of it has changed.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 20 200000
put() { printf "$1" | dd of=image bs=1 seek=100000 conv=notrunc status=none; } # none of the samples that a resumed run compares holds this byte
stop() # OUT OPTION...
{
	(ulimit -f 100 && "$BURIN" carve --quiet -c rec.conf -o "$@" --chunk-size 64K image 2>/dev/null)
	echo "stopped with exit $?"
}
refused() # OUT OPTION...
{
	"$BURIN" carve --resume "$@" 2>&1 | sed 's/the first [0-9]* bytes/the first N bytes/'
	echo "exit ${PIPESTATUS[0]}"
}
"$BURIN" carve --quiet -c rec.conf -o plain --verify=sha256,md5 image
stop out --verify=sha256,md5
put x
refused out
refused out --verify=sha1,md5
echo --- as it was, in parts of another length
put .
try carve --quiet --resume out --chunk-size 1M
same_results plain out && echo same
grep -o '"evidence_hash":{[^}]*}' out/report.jsonl || tail -1 out/report.jsonl | grep -o '"evidence":[^}]*}'
echo --- resumed and stopped again
stop out2 --verify=sha256,md5
(ulimit -f 150 && "$BURIN" carve --quiet --resume out2 2>/dev/null)
echo "stopped with exit $?"
put x
refused out2
put .
try carve --quiet --resume out2
same_results plain out2 && echo same
