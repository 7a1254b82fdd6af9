# The evidence is hashed during the run and compared with its stored hashes; a mismatch is at the top of every report.
. "$SRCDIR/tests/cli/helpers"
conf=$SRCDIR/conf/burin.conf
says()
{
	grep '^Evidence: ' "$1/audit.txt" | sed 's/ *$//'
	head -1 "$1/report.jsonl" | grep -o '"evidence":"[a-z]*"'
	tail -1 "$1/report.jsonl" | grep -o '"evidence":{"state":"[a-z]*","hashes":{[^}]*}'
	grep -o '<!-- evidence: .*[^ ] *-->' "$1/report.xml" | sed 's/ *-->//'
	check_reports "$1"
}
cp "$SRCDIR/images/sample.E01" .
chmod u+w sample.E01
try carve -p --verify -c "$conf" -o match sample.E01
says match
# The sections "digest" and "hash" store the digests before their own checksum.
python3 - sample.E01 <<'PY'
import struct, sys, zlib
bytes_ = bytearray(open(sys.argv[1], "rb").read())
at = 13
while True:
    name = bytes_[at:at + 16].rstrip(b"\0")
    after = struct.unpack_from("<Q", bytes_, at + 16)[0]
    if name in (b"digest", b"hash"):
        data, length = at + 76, 76 if name == b"digest" else 32
        bytes_[data] ^= 1
        struct.pack_into("<I", bytes_, data + length, zlib.adler32(bytes_[data:data + length]))
    if after <= at:
        break
    at = after
open("changed.E01", "wb").write(bytes_)
PY
for verify in --verify --verify=none --verify=sha256; do
	echo "--- changed, $verify"
	try carve -p $verify -c "$conf" -o "changed$verify" changed.E01
	says "changed$verify"
done
echo --- a part
try carve -p --verify --length 1M -c "$conf" -o part sample.E01
says part
echo --- nothing stored
printf 'nothing in it' >raw
try carve -p --verify -c "$conf" -o raw.out raw
says raw.out
try carve -p --verify=md5,sha1 --chunk-size 4K -c "$conf" -o raw2.out raw
says raw2.out
md5sum raw
try carve -p -c "$conf" -o raw3.out raw
says raw3.out
try carve -p --verify=crc -c "$conf" -o out raw
expect_nothing_at out
