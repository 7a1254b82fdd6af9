# A process that unpacks an image in blocks, or reads an E01 through libewf, and crashes, hangs, or lies costs what it was asked for: the
# program is burin, one that does not wait long, with a burin-evidence that does what the image's name says (tests/hijacked_images.c).
programs=$(dirname "$BURIN")/tests/hijacked
[[ -x $programs/burin-evidence && -x $programs/burin ]] || { echo "$programs/burin-evidence is not built"; exit 77; }
readelf -Ws "$BURIN" | grep -qE "__(a|t)san_init" && { echo "a sanitizer has memory limits of its own"; exit 77; }
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools qemu-img bgzip zstd ewfacquire
cp "$programs"/burin{,-evidence} "$(dirname "$BURIN")"/burin-{carver,filesystems} .
make_rules
# One of the records begins where the process fails, at 524288.
make_records disk.raw 64 30000 2768
lines() { grep '"record":"file"' "$1/report.jsonl"; }
carve() # OUT IMAGE OPTION...
{
	./burin carve --quiet --file-systems off -c rec.conf -o "$@"; echo "exit $?"
}
# The first files of the raw image that the report lacks, what was unreadable, and the report itself.
coproc CHECK { check_reports -; }
tell() # OUT
{
	local result
	lines "$1" | sort | comm -23 raw.lines - | grep -o -m 3 '"offset":[0-9]*'
	tail -1 "$1/report.jsonl" | grep -o '"unreadable":\[\[[^]]*'
	echo "$1" >&"${CHECK[1]}"
	read -r result <&"${CHECK[0]}"
	echo "$result"
}
with() # IMAGE ORDER...
{
	local order image
	for order in "${@:2}"; do
		image=$order.${1#*.}
		echo "--- $image"
		ln "$1" "$image"
		rm -rf out
		# Each of its requests that hangs takes two seconds of the processor; one chunk is one request.
		carve out "$image" $([[ $order != hang ]] || echo --chunk-size 64K)
		[[ ! -e out ]] || tell out
		rm "$image"
	done
}
carve raw.out disk.raw
lines raw.out | sort >raw.lines
qemu-img convert -c -O qcow2 disk.raw disk.qcow2
qemu-img convert -O vdi disk.raw disk.vdi
bgzip -c disk.raw >disk.raw.gz
with disk.qcow2 fine crash leave eat babble want sleep hang status crash_opening nothing everything shorter
with disk.qcow2 unit_zero unit_one unit_all text parent_name parent_out parent_odd
with disk.qcow2 list_{gap,past,empty,kind,at,elsewhere,fault,parent,long,odd,none,crash}
with disk.raw.gz crash list_crash
with disk.vdi fine crash_opening
echo --- the same with any number of threads
ln disk.qcow2 crash.qcow2
for threads in 1 4; do
	carve "threads$threads" crash.qcow2 --threads $threads 2>/dev/null
done
same_results threads1 threads4 && echo same
# A crash costs a chunk of the E01; these are small, so that libewf reads it.
ewfacquire -q -u -t disk -f encase6 -c deflate:fast -P 16 -b 16 disk.raw >acquired 2>&1 || cat acquired
with disk.E01 fine crash leave babble sleep crash_opening nothing everything sector chunk words
# So does a member of an array, which the array then lacks.
"$SRCDIR/tests/volumes/make_md" 5 1.2 2 disk.raw a b c
for order in fine crash no_disks disks role level layout no_chunk chunk data_at data_len no_data longer array short huge; do
	echo "--- $order"
	{ printf '%s\n' "$order"; tail -c +$((${#order} + 2)) b; } >member
	for path in member::md@0/a@0,c@0 a::md@0/member@0,c@0; do
		rm -rf out
		carve out "$path"
		[[ ! -e out ]] || tell out
	done
done
