# Partition tables and file systems in them: the report lists them, says for each file whether its bytes are in use and by which
# file, and is the same whether the disk is a raw image, AFF, VMDK or VHD.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools mkfs.fat mcopy mdel mke2fs mkntfs ntfscp sfdisk affconvert
make_rules
make_fat fat
make_ext ext
make_ntfs ntfs
make_disk dos.raw dos fat ext ntfs
try carve -v -c rec.conf -o dos dos.raw
show dos | sed 's/rec\/[0-9]*.rec/REC/; s/\[\[.*\]\]/RUNS/'
check_reports dos dos.raw
echo --- gpt
make_disk gpt.raw gpt fat ext ntfs
try carve --quiet -c rec.conf -o gpt gpt.raw
show gpt | sed -n 1,5p
check_reports gpt gpt.raw
echo --- only listed, not at all
try carve --quiet -p -c rec.conf -o list --file-systems list dos.raw
show list | sed 's/rec\/[0-9]*.rec/REC/; s/\[\[.*\]\]/RUNS/'
try carve --quiet -p -c rec.conf -o off --file-systems off dos.raw
grep -c '"volumes"' off/report.jsonl
echo --- in containers
affconvert -q -o dos.aff dos.raw
make_flat_vmdk dos.raw dos.vmdk
make_fixed_vhd dos.raw dos.vhd
for kind in aff vmdk vhd; do
	try carve --quiet -c rec.conf -o $kind dos.$kind
	same_but_evidence dos $kind
	check_reports $kind dos.raw
	try carve --quiet -c rec.conf -o $kind.free --unallocated dos.$kind
done
try carve --quiet -c rec.conf -o dos.free --unallocated dos.raw
same_but_evidence dos.free aff.free
same_but_evidence dos.free vmdk.free
same_but_evidence dos.free vhd.free
