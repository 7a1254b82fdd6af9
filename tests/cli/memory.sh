# Memory stays bounded whatever the evidence is like. Every byte of these images is a hit, so that 13 bytes kept for each
# would be more than that.
. "$SRCDIR/tests/cli/helpers"
if nm -D "$BURIN" 2>/dev/null | grep -q __asan_; then
	echo "sanitizers need memory of their own"
	exit 77
fi
[[ ${BURIN_TESTS-} == long ]] && size=12 most=240 || size=6 most=168
rule() { echo "types = ( { name = \"a\"; $1 } );" >"$2.conf"; }
rule "header = \"'AA'\"; footer = \"'ZZ'\"; max_size = \"1G\";" open
rule "header = \"'A'\"; max_size = \"1K\";" everywhere
rule "header = \"'A'\"; footer = \"'ZZ'\"; max_size = \"1G\"; pair = \"reverse\";" reverse
rule "header = \"'ZZ'\"; footer = \"'A'\"; max_size = \"1G\"; pair = \"reverse\";" footers
python3 - "$size" <<'PY'
import sys
with open("image", "wb") as file:
    file.write(b"ZZ")
    for _ in range(int(sys.argv[1])):
        file.write(b"A" * (1 << 20))
    file.write(b"ZZ")
PY
measure() # RULES OPTION...
{
	python3 - $most "$@" <<'PY'
import os, resource, subprocess, sys
most, name, options = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
code = subprocess.run([os.environ["BURIN"], "carve", "--quiet", "-c", name + ".conf", "-o", "out", *options, "image"]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(name, "exit", code, "" if peak < most else "peak of %d MiB" % peak)
PY
	check_reports out | sed 's/;.*//'
	hits=$(tail -1 out/report.jsonl | grep -o '"hits":[0-9]*')
	echo "a hit at each byte, and $((${hits#*:} - (size << 20)))"
	rm -r out
}
measure open --max-files 10
measure everywhere --max-files 10
measure reverse --max-files 10
measure footers --dry-run
