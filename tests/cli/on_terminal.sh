# At a terminal, `burin carve` says what it is about to do; elsewhere it does not.
. "$SRCDIR/tests/cli/helpers"
python3 -c "import pty; pty.openpty()" 2>/dev/null || { echo "no terminal can be opened"; exit 77; }
make_rules
make_records image 3 1000
cat >at_terminal.py <<'PY'
import os, pty, sys
lines = []

def read(fd):
    data = os.read(fd, 4096)
    lines.append(data)
    return data

sys.stdout.flush()
status = pty.spawn([os.environ["BURIN"], *sys.argv[1:]], read)
sys.exit(os.waitstatus_to_exitcode(status))
PY
# What ends a line of a terminal, and the progress line, are not the matter here.
at_terminal() { python3 at_terminal.py "$@" </dev/null | tr -d '\r' | grep -o 'burin: .*searching.*\|burin: searching.*' | sed "s|$PWD|HERE|g"; }
at_terminal carve -c rec.conf -o out image
at_terminal carve -c rec.conf -p -o plan image "$SRCDIR/images/sample.E01"
at_terminal carve --quiet -c rec.conf -o quiet image
"$BURIN" carve -c rec.conf -o none image 2>&1 | grep -c searching
[ -e quiet/report.jsonl ] && [ -e none/report.jsonl ] && echo carved
exit 0
