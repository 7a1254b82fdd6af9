# APFS and HFS+: they are recognised, and files in free blocks are found.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools mkapfs xorriso
make_rules
truncate -s 520M apfs
mkapfs -L burin apfs
record 1 20000 | dd of=apfs bs=4096 seek=50000 conv=notrunc status=none
try carve --quiet -p -c rec.conf --no-content-map -o free --unallocated apfs
grep -o '"file_system":"[^"]*"\|"label":"[^"]*"\|"mapped":[a-z]*' free/report.jsonl
grep -o '"offset":[0-9]*,"length":[0-9]*,"ext[^,]*' free/report.jsonl
try carve --quiet -p -c rec.conf --no-content-map -o used --allocated apfs
grep -c '"record":"file"' used/report.jsonl
mkdir tree
record 2 20000 >tree/a.rec
xorriso -as mkisofs -quiet -hfsplus -o hfs tree 2>/dev/null
try carve --quiet -p -c rec.conf -o hfsplus hfs
grep -o '"description":"Apple_HFS","file_system":"[^"]*"\|"mapped":true' hfsplus/report.jsonl | sort -u
grep -c '"record":"file"' hfsplus/report.jsonl
echo --- files of APFS in pieces
make_tree
truncate -s 0 apfs
truncate -s 520M apfs
mkapfs -L burin apfs
"$SRCDIR/tests/volumes/make_apfs" apfs tree/*.png tree/sub/*.png
try carve --quiet -t png --no-content-map -o whole apfs
grep -o '"fs_path":"[^"]*"\|"status":"[a-z]*"\|"assembly":{"by":"[^"]*"\|"allocated":"[a-z]*"' whole/report.jsonl | paste -sd " "
cmp <(sha256sum whole/png/* | cut -c1-64 | sort) <(sha256sum tree/*.png tree/sub/* | cut -c1-64 | sort) && echo as they were
check_reports whole apfs
