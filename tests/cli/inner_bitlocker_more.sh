# BitLocker: several passwords, a recovery key, a volume in a partition, a key file that is not one, and damage.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools xz
xz -dc "$SRCDIR/tests/volumes/ntfs.img.xz" >raw
recovery=011000-022000-033000-044000-055000-066000-077000-088000
lines() { grep '"record":"file"' "$1/report.jsonl"; }
"$SRCDIR/tests/volumes/make_bitlocker" volume raw aes-xts-128 'pässwörd' $recovery
need_library volume::bitlocker@0
"$BURIN" carve --quiet -t png -o raw.out raw
printf 'wrong\npässwörd\n' >passwords
echo $recovery >recovery
for secret in passwords recovery; do
	try carve --quiet -t png --password-file $secret -o $secret.out volume::bitlocker@0
	cmp <(lines $secret.out) <(lines raw.out) && lines raw.out | wc -l
	grep -o '"opened":"[^"]*"' $secret.out/report.jsonl
done
echo --- in a partition
{ head -c 1M /dev/zero; cat volume; } >disk
echo 2048,,7 | sfdisk -q disk 2>/dev/null
try carve --quiet -t png --password-file passwords -o all disk
cmp <(lines all/disk-bitlocker@1048576) <(lines raw.out)
ls all
echo --- errors
echo wrong >wrong
try carve --quiet -t png --password-file wrong -o out volume::bitlocker@0
try carve --quiet -t png --key wrong -o out volume::bitlocker@0
try carve --quiet -t png -o out volume::bitlocker@0
head -c 6M volume >cut
try carve --quiet -t png --password-file passwords -o out cut::bitlocker@0
python3 - <<'PY'
data = bytearray(open("volume", "rb").read())
for i in range(3):
    at = 6291456 + i * 65536
    data[at + 112:at + 600] = bytes(488)
open("damaged", "wb").write(data)
PY
try carve --quiet -t png --password-file passwords -o out damaged::bitlocker@0
expect_nothing_at out
