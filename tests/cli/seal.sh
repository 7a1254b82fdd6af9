# burin seal: a manifest that sha256sum reads, a signature that openssl and minisign verify.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 3 1000
try carve --quiet -c rec.conf -o out image
openssl genpkey -algorithm ed25519 -out my.pem
openssl pkey -in my.pem -pubout -out my.pub
openssl genpkey -algorithm ed25519 -out other.pem
openssl pkey -in other.pem -pubout -out other.pub
openssl genpkey -algorithm ed448 -out wrong.pem
echo 'a \ name' >'out/rec/a\b'
echo --- no key, a wrong one, no output folder
try seal --key missing out
try seal --key wrong.pem out
mkdir empty
try seal empty
ln -s /etc/passwd out/link
try seal out
rm out/link
ls out
echo --- sealed
try seal --key my.pem out | sed 's/[0-9a-fA-F]\{16,\}/HEX/'
(cd out && sha256sum -c --quiet seal.sha256 && echo sha256sum agrees)
python3 - <<'PY'
import base64, hashlib
lines = open("out/seal.sha256.minisig").read().split("\n")
open("hash", "wb").write(hashlib.blake2b(open("out/seal.sha256", "rb").read()).digest())
open("signature", "wb").write(base64.b64decode(lines[1])[10:])
PY
openssl pkeyutl -verify -pubin -inkey my.pub -rawin -in hash -sigfile signature
! command -v minisign >/dev/null || minisign -V -q -p out/seal.pub -m out/seal.sha256 || echo minisign disagrees
check() { try verify "$@" | sed 's/[0-9A-F]\{16,\}/KEY/'; }
check out
check --key my.pub out
check --key out/seal.pub out
check --key other.pub out
check --key other.pem out
"$BURIN" verify --json --key my.pub out | python3 -c 'import json, sys
seal = json.load(sys.stdin)["seal"]
print(seal["clean"], seal["signature"], seal["files"])'
try seal out
cp out/seal.sha256.minisig signature.kept
python3 - <<'PY'
import base64
lines = open("out/seal.sha256.minisig").read().split("\n")
head = bytearray(base64.b64decode(lines[1]))
head[5] ^= 1
lines[1] = base64.b64encode(head).decode()
open("out/seal.sha256.minisig", "w").write("\n".join(lines))
PY
echo an id that is not the key\'s
check --key out/seal.pub out
mv signature.kept out/seal.sha256.minisig
echo --- changed after that, consistently, so that the report agrees
sed -i 's/"title":""/"title":"x"/' out/report.jsonl
echo >out/new
rm out/map.bin
check out
echo --- the manifest, too
echo more >>out/seal.sha256
check out
(cd out && rm seal.* new && "$BURIN" seal . | tail -1)
"$BURIN" verify --json --key my.pub out | python3 -c 'import json, sys
seal = json.load(sys.stdin)["seal"]
print(seal["clean"], seal["signature"])'
sed 4's/./\x00&/' out/seal.sha256 >manifest
cp manifest out/seal.sha256
echo a zero in the manifest
check out
: >out/seal.sha256
check out
echo --- a time stamp, of the manifest and of something else
try carve --quiet -p -c rec.conf -o stamped image
"$BURIN" seal stamped >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tsa.key -out tsa.crt -subj /CN=tsa -addext extendedKeyUsage=critical,timeStamping 2>/dev/null
printf '%s\n' '[t]' 'serial = ./serial' 'signer_cert = ./tsa.crt' 'signer_key = ./tsa.key' 'signer_digest = sha256' \
	'default_policy = 1.2.3.4' 'digests = sha256, sha512' >tsa.cnf
stamp() # FILE DIGEST
{
	openssl ts -query -data "$1" "-$2" -out query 2>/dev/null
	openssl ts -reply -queryfile query -config tsa.cnf -section t -out stamped/seal.sha256.tsr 2>/dev/null
}
for digest in sha256 sha512; do
	stamp stamped/seal.sha256 $digest
	check stamped
done
stamp image sha256
check stamped
"$BURIN" verify --json stamped | python3 -c 'import json, sys
seal = json.load(sys.stdin)["seal"]
print(seal["clean"], seal["time_stamp"])'
: >stamped/seal.sha256.tsr
check stamped
echo --- a dry run, and a batch
try carve --quiet -p -c rec.conf -o plan image
"$BURIN" seal plan | head -1
check plan
cp image other
try carve --quiet -c rec.conf -o batch image other
"$BURIN" seal batch | head -1
echo x >>batch/other/audit.txt
check batch
