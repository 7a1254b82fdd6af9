# --unallocated: a deleted file in three extents is recovered; reports have the image's offsets, and --align counts there.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools mkfs.fat mcopy mdel
make_rules
make_fat fat
try carve -c rec.conf -o all fat
show all
echo --- unallocated
try carve -c rec.conf -o free --unallocated fat
show free
check_reports free fat
cmp deleted free/rec/0000025088.rec
echo --- aligned
try carve -p -c rec.conf -o at512 --unallocated -q 512 fat
try carve -p -c rec.conf -o at4k --unallocated -q 4K fat
echo --- a range of the image
try carve -p -c rec.conf -o range --unallocated --offset 25089 fat
try carve -p -c rec.conf -o range2 --unallocated --offset 25088 --length 60K fat
echo --- allocated
try carve -c rec.conf -o used --allocated fat
show used
check_reports used fat
echo --- any engine and chunk size, the same
for options in "--engine reference --chunk-size 4K" "--threads 1 --chunk-size 64K"; do
	"$BURIN" carve --quiet -c rec.conf -o same --unallocated $options fat
	diff <(grep '"record":"file"' same/report.jsonl) <(grep '"record":"file"' free/report.jsonl)
	rm -r same
done
echo --- extracted from the report
"$BURIN" extract --quiet -o again free/report.jsonl fat
cmp deleted again/rec/0000025088.rec
echo --- mistakes
try carve -c rec.conf -o no --allocated --unallocated fat
head -c 100000 /dev/zero >zeros
try carve -c rec.conf -o none --allocated zeros
try carve -c rec.conf -o whole --unallocated zeros
