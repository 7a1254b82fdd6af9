# E01 sets that ewfacquire makes and burin leaves to libewf, for their chunks are smaller or larger than those that it reads itself,
# give what the raw image gives.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools ewfacquire
make_rules
make_records disk.raw 400 5000 240
truncate -s 2M disk.raw
lines() { grep '"record":"file"' "$1/report.jsonl"; }
carve() { try carve --quiet --file-systems off -c rec.conf "$@"; }
carve -o raw disk.raw
acquire() # NAME OPTION...
{
	ewfacquire -q -u -t "$1" -f encase6 -c deflate:fast "${@:2}" disk.raw >acquired 2>&1 || cat acquired
}
same() # NAME OPTION...
{
	acquire "$@"
	carve --verify=md5 -o "$1" "$1.E01"
	cmp <(lines "$1") <(lines raw) && echo "$(lines "$1" | wc -l) files"
	grep -o '"sector_size":[0-9]*' "$1/report.jsonl"
	tail -1 "$1/report.jsonl" | grep -o '"evidence":{[^}]*' | sed 's/[0-9a-f]\{32\}/M/g'
}
# Chunks of 256 bytes, and of 64 MiB.
same small -P 16 -b 16
same large -P 2048 -b 32768
echo --- a segment is missing
acquire three -P 16 -b 16 -c deflate:none -S 1048576
ls three.E*
rm three.E02
carve -o three three.E01
echo --- what is damaged is lost, and nothing else
python3 - <<'PY'
data = bytearray(open("small.E01", "rb").read())
data[len(data) // 50] ^= 0xff
open("bad.E01", "wb").write(data)
PY
carve -o bad bad.E01
