# Volumes inside images: LVM's, LUKS's, and one in the other, give what the volume's own image gives. Wrong passwords, missing keys and
# damage are errors, with exit code 3.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz cryptsetup
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" | head -c 3000K >raw
printf 'nothing\r\n\nsecret\n' >passwords
printf 'secret' >key
printf 'wrong' >wrong
lines() { grep '"record":"file"' "$1/report.jsonl"; }
opened() { grep -o '"opened":"[^"]*"' "$1/report.jsonl"; }
same() # IMAGE OPTION...
{
	"$BURIN" carve --quiet -t png "${@:2}" -o of "$1" || echo "exit $?"
	cmp <(lines of) <(lines raw.out) && opened of && rm -r of
}
"$BURIN" carve --quiet -t png -o raw.out raw
head -c 100K raw >swap
luks="--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
"$SRCDIR/tests/volumes/make_lvm" pv vg0 root=raw:3 swap=swap
"$SRCDIR/tests/volumes/make_luks" luks1 raw key --type luks1 $luks
"$SRCDIR/tests/volumes/make_luks" essiv raw key --type luks1 -c aes-cbc-essiv:sha256 -s 256 $luks
"$SRCDIR/tests/volumes/make_luks" luks2 raw key --type luks2 --pbkdf argon2id --pbkdf-memory 64 --pbkdf-force-iterations 4 --sector-size 512
"$SRCDIR/tests/volumes/make_luks" large raw key --type luks2 --sector-size 4096 $luks
"$SRCDIR/tests/volumes/make_luks" both pv key --type luks2 $luks
need_library luks1::luks@0
same pv::lvm@0/vg0-root
same luks1::luks@0 --key key
for image in essiv luks2 large; do same $image::luks@0 --password-file passwords; done
same both::luks@0::lvm@0/vg0-root --password-file passwords
echo --- all that is in an image, in a partition
{ head -c 1M /dev/zero; cat both; } >disk
echo 2048,,8e | sfdisk -q disk 2>/dev/null
try carve --quiet -t png --password-file passwords -o all disk
ls all
cmp <(lines all/disk-luks@1048576-lvm@0-vg0-root) <(lines raw.out)
try verify all/disk-luks@1048576-lvm@0-vg0-root
report=all/disk-luks@1048576-lvm@0-vg0-root/report.jsonl
check_reports all/disk-luks@1048576-lvm@0-vg0-root
try extract --quiet --password-file passwords -o again $report
diff -r all/disk-luks@1048576-lvm@0-vg0-root/png again/png && echo the same files
try extract --quiet -o never $report
try carve --quiet -t png --open -o none raw
grep -c secret -r all | grep -v ':0'
echo --- errors
for image in luks1 both luks1::luks@0 luks1::luks@512 luks1::lvm@0/x pv::lvm@0/vg0-home pv::luks@0; do
	try carve --quiet -t png --password-file wrong -o out $image 2>&1 | grep -v '^ \|^EXIT'
	rm -rf out
done
try carve --quiet -t png -o out luks1::luks@0
try carve --quiet -t png -o out luks1::lucks@0
try carve --quiet -t png --key absent -o out luks1
: >empty
try carve --quiet -t png --password-file empty -o out luks1
expect_nothing_at out
echo --- damaged
head -c 3000 luks1 >cut.luks1
head -c 30000 luks2 >cut.luks2
head -c 2500K luks1 >short
head -c 3000 pv >cut.pv
head -c 2M pv >short.pv
sed 's/extent_count/extent_cout/' pv >bad.pv
python3 - <<'PY'
data = bytearray(open("luks2", "rb").read())
data[200:4000] = bytes(3800)
data[16384 + 200:16384 + 4000] = bytes(3800)
open("bad.luks2", "wb").write(data)
PY
for image in cut.luks1 cut.luks2 bad.luks2 short; do
	try carve --quiet -t png --password-file passwords -o out $image::luks@0
	rm -rf out
done
for image in cut.pv short.pv bad.pv; do
	try carve --quiet -t png -o out $image::lvm@0/vg0-root
	rm -rf out
done
