# burin.conf finds the less usual forms of formats whose header is short: golden files among random bytes.
. "$SRCDIR/tests/cli/helpers"
n=0
for file in lzma/properties-000.lzma lzma/properties-304.lzma compress_z/thirteen.Z tga/remark.tga age/armour.age \
	pe/early.efi voc/sox.voc dpx/magick-16.dpx; do
	cat "$SRCDIR/tests/golden/$file"
	head -c 777 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv "$((++n))" 2>/dev/null
done >image
# Autodesk's programs begin binary STL so.
printf 'STLB ATF 10.9.0.1' >>image
tail -c +18 "$SRCDIR/tests/golden/stl/closed.stl" >>image
"$BURIN" carve --quiet -c "$SRCDIR/conf/burin.conf" -o out image
check_reports out image
python3 -c '
import json
for record in map(json.loads, open("out/report.jsonl")):
    if record["record"] == "file":
        print(record["type"], record["offset"], record["length"], record["status"])'
