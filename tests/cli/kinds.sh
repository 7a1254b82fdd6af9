# -t takes extensions, kinds and sets in any case; report, audit and summary tell kinds; --folders kind names folders after them.
. "$SRCDIR/tests/cli/helpers"
golden=$SRCDIR/tests/golden rules=$SRCDIR/conf/burin.conf
for file in zip/folders.docx zip/deflated.zip png/bilevel.png; do
	cat "$golden/$file"
	head -c 3000 /dev/zero
done >image
list() {
	echo "--- $*"
	"$BURIN" carve --quiet -c "$rules" -o "$@" image
	check_reports "$1" image
	python3 -c '
import json, sys
for record in map(json.loads, open(sys.argv[1] + "/report.jsonl")):
    if record["record"] == "file":
        print(record["type"], record["kind"], record["path"].split("/")[0])
    elif record["record"] == "summary":
        print({kind: sums["files"] for kind, sums in record["by_kind"].items()})' "$1"
}
list all
list docx -t DocX
list sets -t Pictures,office
list without -t -docx,-png
list folders --folders kind
grep -A3 "Files carved" folders/audit.txt
"$BURIN" carve -c "$rules" -t docz -o unknown image 2>&1 | grep -o "there is no type 'docz'"
