# The files of a file system are listed beside the scan: no decision is made before they are known, whatever ends
# the run meanwhile. burin-filesystems goes on when it is told to (tests/hijacked.c).
hijacked=$(dirname "$BURIN")/tests/hijacked/burin-filesystems
[[ -x $hijacked ]] || { echo "$hijacked is not built"; exit 77; }
cp "$BURIN" "$(dirname "$BURIN")/burin-carver" "$hijacked" .
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records records 300 1000
(echo slow; cat records) >image
truncate -s 256M image # its size allows the processor time
start() # OPTION...
{
	./burin carve --quiet --checkpoint-interval 1 --chunk-size 1M "$@" &
}
find_child() # PID: sets child when the process has one that works
{
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		read -ra stat 2>/dev/null </proc/"$child"/stat && ((stat[13] > 5)) && return
	done
	return 1
}
let_go() # PID FOLDER: once its checkpoint is written, and its burin-filesystems works
{
	wait_until test -e "$2/.burin-checkpoint"
	wait_until find_child "$1"
	kill -USR1 "$child"
	wait "$1"; echo "exit $?"
}
echo --- undisturbed
start -c rec.conf -o plain image
let_go $! plain
grep -c '"allocated":"yes"' plain/report.jsonl
end() # FOLDER SIGNAL PID
{
	kill -"$2" "$3"
	wait "$3" 2>killed_message; echo "exit $?"
	grep -c '"record":"file"' "$1/report.jsonl"
	start --resume "$1"
	let_go $! "$1"
	same_results plain "$1"
}
echo --- interrupted meanwhile
start -c rec.conf -o interrupted image
wait_until find_child $!
end interrupted TERM $!
echo --- killed meanwhile, with a checkpoint that has the candidates
start -c rec.conf -o killed image
wait_until test -e killed/.burin-checkpoint
first=$(stat -c %s killed/.burin-checkpoint)
larger() { (($(stat -c %s killed/.burin-checkpoint) > first + 300)); }
wait_until larger
end killed KILL $!
