# What confines the parsers is listed, reported, and can be required. Kernels that lack a layer are made by a
# filter of system calls that burin inherits.
"$BURIN" list sandbox | grep -q '^seccomp  *usable' || { echo "there is no seccomp here"; exit 77; }
"$BURIN" list sandbox >here; echo $?
cut -d' ' -f1 here

cat >without <<'PY'
import ctypes, os, struct, sys
# A kernel that lacks the system calls with these numbers.
def lack(numbers):
    code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x50000 | 38)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    head = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    assert libc.prctl(22, 2, head) == 0
lack([int(n) for n in sys.argv[1].split(",")])
os.execvp(sys.argv[2], sys.argv[2:])
PY
landlock=444,445,446
head -c 4096 /dev/zero >disk
python3 without $landlock "$BURIN" list sandbox | sed -n '/^landlock/p'
python3 without $landlock "$BURIN" carve -o auto disk; echo $?
python3 without $landlock "$BURIN" carve --sandbox require -o require disk; echo $?
ls require 2>/dev/null
python3 without $landlock "$BURIN" carve --sandbox=off -o off disk; echo $?
for out in auto off; do
	python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["sandbox"])' $out/report.jsonl
	"$SRCDIR/tests/cli/check_reports" $out disk
done
"$BURIN" carve --sandbox=maybe -o maybe disk; echo $?
