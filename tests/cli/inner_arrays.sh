# Members of arrays of Linux's md: the array is carved as an image of its own, and gives what the image of its content gives, also when
# a member is missing or can't be read where its level allows that.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" | head -c 3000K >raw
lines() { grep '"record":"file"' "$1/report.jsonl"; }
opened() { grep -o '"opened":"[^"]*"' "$1/report.jsonl"; }
same() # IMAGE
{
	"$BURIN" carve --quiet -t png -o of "$1" || echo "exit $?"
	cmp <(lines of) <(lines raw.out) && opened of
	rm -rf of
}
make_md() { "$SRCDIR/tests/volumes/make_md" "$@"; }
"$BURIN" carve --quiet -t png -o raw.out raw
for version in 0.90 1.0 1.1 1.2; do
	make_md 5 $version 2 raw a b c
	same a::md@0/b@0,c@0
	same c::md@0/a@0
done
for layout in 0 1 3 4 5; do
	make_md 5 1.2 $layout raw a b c d
	same b::md@0/a@0,c@0,d@0
	same d::md@0/a@0,b@0
done
for level in linear 0 4; do
	make_md $level 1.2 0 raw a b c
	same b::md@0/c@0,a@0
done
make_md 4 1.2 0 raw a b c
same b::md@0/c@0
make_md 1 1.2 0 raw a b
same b::md@0
same a::md@0/b@0
echo --- found
make_md 5 1.2 2 raw a b c
{ head -c 1M /dev/zero; cat b; } >disk
echo 2048,,fd | sfdisk -q disk 2>/dev/null
try carve --quiet -t png --open -o all c disk a
ls all
cmp <(lines all/c-md@0-disk@1048576,a@0) <(lines raw.out)
grep -o '"paths":\[[^]]*' all/c-md@0-disk@1048576,a@0/report.jsonl | head -1
try carve --quiet -t png --open -o two a disk
ls two
echo --- what cannot be read is computed
printf 'x' >stale
head -c 1500K b >cut
same a::md@0/cut@0,c@0
echo --- missing, stale, damaged
try carve --quiet -t png -o out a::md@0
try carve --quiet -t png -o out a::md@0/b@0,absent@0
try carve --quiet -t png -o out a::md@0/b@512
make_md 0 1.2 0 raw e f
try carve --quiet -t png -o out e::md@0
try carve --quiet -t png -o out e::md@0/a@0
set_byte() { cp "$1" "$2"; printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none; }
set_byte a sum 4200 '\1'
try carve --quiet -t png -o out sum::md@0/b@0,c@0
python3 - <<'PY'
import struct
def change(name, to, at, form, value):
    data = bytearray(open(name, "rb").read())
    struct.pack_into(form, data, 4096 + at, value)
    block = data[4096:4096 + 256 + 6]
    words = struct.unpack(f"<{len(block) // 4}I", block[:len(block) // 4 * 4])
    total = sum(words) - words[54] + struct.unpack_from("<H", block, len(block) // 4 * 4)[0]
    struct.pack_into("<I", data, 4096 + 216, ((total & 0xffffffff) + (total >> 32)) & 0xffffffff)
    open(to, "wb").write(data)
change("b", "stale", 200, "<Q", 3)
change("a", "level", 72, "<i", 6)
change("a", "reshaping", 8, "<I", 4)
change("a", "chunks", 88, "<I", 0)
change("a", "sizes", 80, "<Q", 1 << 62)
change("a", "disks", 92, "<I", 4000)
PY
same a::md@0/stale@0,c@0
for image in level reshaping chunks sizes disks; do try carve --quiet -t png -o out $image::md@0/b@0,c@0; done
expect_nothing_at out
