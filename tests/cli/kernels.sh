# Every rule set that burin comes with is searched by its own matchers alone, but text.conf: any 16 characters of text are a
# regex without a byte to look for.
grep -qw avx2 /proc/cpuinfo || { echo "needs AVX2"; exit 77; }
echo something >image
for rules in "$SRCDIR"/conf/*.conf; do
	"$BURIN" carve --quiet --engine cpu -p -c "$rules" -o out image
	head -1 out/report.jsonl | grep -o '"kernel":"[^"]*"' | sed "s/[0-9]\+/N/g; s/^/$(basename "$rules") /"
	rm -rf out
done
