# Checks in other processes (--sandbox=require) give the same files and reports as in burin itself: of a
# raw image, read past the page cache as well, of its parts, of an E01, with bytes that can't be read, of several images, and
# where files may not be as long as the memory that is shared.
. "$SRCDIR/tests/cli/helpers"
"$BURIN" list sandbox | grep -q 'not ' && { echo "this machine can't confine a process wholly"; exit 77; }
# A sanitizer takes ten times as long, and a hundred times where each trial of a piece allocates liblzma's dictionary.
case ${BURIN_TESTS-} in
short) largest=1000 left_out="deb lzip lzma rpm sevenzip xz" ;;
long) largest=4000 left_out= ;;
*) largest=2000 left_out= ;;
esac
python3 - $largest "$left_out" "$SRCDIR"/tests/golden/*/ >image <<'PY'
import os, sys
largest, left_out = int(sys.argv[1]), sys.argv[2].split()
for folder in sorted(sys.argv[3:]):
    if os.path.basename(folder.rstrip("/")) in left_out:
        continue
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not name.endswith(".expected") and os.path.isfile(path) and os.path.getsize(path) < largest:
            data = open(path, "rb").read()
            sys.stdout.buffer.write(data + b"\xa5" * (-len(data) % 512 + 512))
PY
printf '# map\n0 +\n0 0x20000 +\n0x20000 0x1a00 -\n0x21a00 0x40000000 +\n' >map
split -d -b 1000000 -a 3 --numeric-suffixes=1 image part.

both() # NAME IMAGE OPTION...
{
	name=$1 input=$2
	shift 2
	"$BURIN" carve --quiet --sandbox=off --threads 1 -c "$SRCDIR/conf/burin.conf" "$@" -o "$name.off" "$input"
	echo "$name: exit $?"
	"$BURIN" carve --quiet --sandbox=require --threads 3 -c "$SRCDIR/conf/burin.conf" "$@" -o "$name.require" "$input" 2>/dev/null
	same_results "$name.off" "$name.require" || echo "$name: differs"
}
both raw image --file-systems off
# The search for near pieces, which takes most of the time, is in the one before.
both direct image --file-systems off --io direct --fragments=known
both e01 "$SRCDIR/images/sample-split.E01"
both map image --file-systems off --map map --fragments=known
both parts part.001 --file-systems off --dry-run --fragments=known
cp "$SRCDIR/images/sample.E01" .
# Images that are carved at the same time share the threads, not the processes.
cp sample.E01 again.E01
cp image image2
for mode in off require; do
	"$BURIN" carve --quiet --sandbox=$mode --dry-run --file-systems off --fragments=known -j 4 --threads 4 -c "$SRCDIR/conf/burin.conf" -o several.$mode \
		sample.E01 part.001 again.E01 image2
	echo "several: exit $?"
done
for folder in several.off/*/; do
	same_results "${folder%/}" "several.require/$(basename "$folder")" || echo "$folder: differs"
done
limited() # KIB OUT OPTION...
{
	(ulimit -f "$1"; shift; try carve --quiet --dry-run --file-systems off --threads 2 -o "$@" sample.E01)
}
limited 2000 fits.off --sandbox=off
limited 2000 fits.require --sandbox=require
same_results fits.off fits.require || echo "fits: differs"
limited 200 small --sandbox=require
