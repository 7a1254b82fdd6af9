# What confines the parsers is listed, reported, and can be required. Kernels that lack a layer are made by a
# filter of system calls that burin inherits.
. "$SRCDIR/tests/cli/helpers"
"$BURIN" list sandbox | grep -q '^seccomp  *usable' || { echo "there is no seccomp here"; exit 77; }
"$BURIN" list sandbox >here; echo $?
cut -d' ' -f1 here

head -c 4096 /dev/zero >disk
without_landlock "$BURIN" list sandbox | sed -n '/^landlock/p'
without_landlock "$BURIN" carve -o auto disk; echo $?
without_landlock "$BURIN" carve --sandbox require -o require disk; echo $?
ls require 2>/dev/null
without_landlock "$BURIN" carve --sandbox=off -o off disk; echo $?
for out in auto off; do
	python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["sandbox"])' $out/report.jsonl
	"$SRCDIR/tests/cli/check_reports" $out disk
done
"$BURIN" carve --sandbox=maybe -o maybe disk; echo $?
