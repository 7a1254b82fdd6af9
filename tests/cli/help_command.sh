# Every command has help, the same text in three ways, and nothing is wider than 80 columns.
for command in carve extract verify "conf check" "conf convert" "conf list" list manual completion help version; do
	"$BURIN" $command --help >text || echo "$command --help: $?"
	"$BURIN" $command -h | cmp - text
	"$BURIN" help $command | cmp - text
	grep -q "^Usage: burin $command" text || echo "$command: no usage line"
	grep -q -- '-h, --help  *Print this help' text || echo "$command: no --help in its options"
	awk -v c="$command" 'length > 80 { print c ": too wide: " $0 }' text
done
"$BURIN" conf check --help
"$BURIN" help conf
"$BURIN" conf --help | cmp - <("$BURIN" help conf)
