# A run without problems says why that may prove little.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/volume_images"
need_tools mkfs.fat mcopy mdel
make_rules
cautions()
{
	try carve --quiet -c rec.conf -o "out $1" "$1"
	grep -o '"cautions":\[[^]]*\]' "out $1/report.jsonl"
	sed -n '/^Mind/,/^$/p' "out $1/audit.txt"
	check_reports "out $1" "$1"
}
make_fat fat
cautions fat
python3 -c '
import random
open("noise", "wb").write(random.Random(1).randbytes(1 << 20))'
cautions noise
make_records records 20 5000
cautions records
