# A signal while one candidate is being checked that takes long: the run ends soon, and can be resumed. The image is
# sparse: a ZIP archive of one stored member of 256 GiB. There is nothing to see of a check from outside but that the
# processors are at work while no more of the image is searched.
. "$SRCDIR/tests/cli/helpers"
echo 'types = ( { name = "zip"; header = "'"'PK'"' 03 04"; max_size = "1T"; carver = "zip"; } );' >zip.conf
python3 - <<'PY'
import struct
size = 256 << 30
extra = struct.pack("<HHQQ", 1, 16, size, size)
with open("image", "wb") as file:
    file.write(struct.pack("<IHHHHHIIIHH", 0x04034b50, 45, 0, 0, 0, 0, 0, 0xffffffff, 0xffffffff, 1, len(extra)) + b"a" + extra)
    file.truncate(size)
PY
processor_time() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
is_checking() { (($(processor_time) >= was + 50)); }
interrupt() # OUT OPTION...
{
	local out=$1
	shift
	"$BURIN" carve -c zip.conf --file-systems off --no-content-map --length 1M "$@" -o "$out" image 2>messages &
	pid=$!
	was=$(processor_time)
	wait_until 30 is_checking
	local start=$SECONDS
	kill -INT $pid
	wait $pid
	echo "exit $?"
	((SECONDS - start < 10)) || echo "it took $((SECONDS - start)) seconds to end"
	sed 's/[0-9]* bytes/SOME bytes/' messages
	tail -1 "$out/report.jsonl" | grep -o '"signal":[0-9]*,"exit":[0-9]*'
	expect_checkpoint "$out"
}
expect_checkpoint() { [[ -e $1/.burin-checkpoint ]] || echo "$1 has no checkpoint"; }
interrupt one --threads 1
interrupt two --threads 2
