# AFF4 images give what the raw image gives, byte for byte, however they are compressed and mapped. Damaged ones, and those that are of a kind
# that burin does not read, get an error, or what is left of them is carved.
. "$SRCDIR/tests/cli/helpers"
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" | head -c 1200K >raw
head -c 64K /dev/zero | tr '\0' '\377' >>raw
make_aff4() { "$SRCDIR/tests/volumes/make_aff4" "$@"; }
lines() { grep '"record":"file"' "$1/report.jsonl"; }
digest() { grep -o '"evidence":{[^}]*' "$1/report.jsonl" | grep -o '"sha256":"[^"]*'; }
carve() { "$BURIN" carve --quiet -t png --verify=sha256 -o "of $1" "$1" || echo "exit $?"; }
carve raw
for method in stored zlib deflate snappy lz4; do
	make_aff4 $method.aff4 raw --method $method
done
make_aff4 map.aff4 raw --method snappy --map
make_aff4 names.aff4 raw --method lz4 --map --relative --deflated --chunk 4096 --bevy 100
make_aff4 gap.aff4 raw --map --gap
make_aff4 commented.aff4 raw --map --relative --commented
for image in *.aff4; do
	carve "$image"
	cmp <(lines "of $image") <(lines "of raw") && [[ $(digest "of $image") == $(digest "of raw") ]] &&
		echo "$image: $(lines "of $image" | wc -l) files, as in raw, $(grep -o '"format":"[^"]*' "of $image/report.jsonl" | head -1)"
done
echo --- not acquired
make_aff4 bad.aff4 raw --map --unread 1048576,8192
carve bad.aff4
grep -o '"unreadable":\[\[[^]]*]' "of bad.aff4/report.jsonl"
echo --- refused
make_aff4 files.aff4 raw --type FileImage
make_aff4 unknown.aff4 raw
sed -i 's,https://tools.ietf.org/html/rfc1951,https://example.org/compression-one,' unknown.aff4
make_aff4 elsewhere.aff4 raw --map
sed -i 's,<aff4://c215ba20-5648-4209-a793-1f918c723610> rdf:type,<aff4://c215ba20-5648-4209-a793-1f918c723611> rdf:type,' elsewhere.aff4
make_aff4 damaged.aff4 raw
sed -i 's,aff4:blockSize 512 ; \.,aff4:blockSize ; ; ; ;,' damaged.aff4
head -c -30 stored.aff4 >cut.aff4
for image in files unknown elsewhere damaged cut; do
	carve $image.aff4
done
echo --- a damaged chunk costs itself
python3 - <<'PY'
data = bytearray(open("zlib.aff4", "rb").read())
data[60000:60010] = bytes(10)
open("broken.aff4", "wb").write(data)
PY
carve broken.aff4
grep -o '"unreadable":\[\[[^]]*]' "of broken.aff4/report.jsonl"
