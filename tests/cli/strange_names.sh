# Paths with line feeds, escape sequences and bytes that are not UTF-8: reports stay valid, and terminals unharmed.
. "$SRCDIR/tests/cli/helpers"
name=$'new\nline \e[31mred\e[0m \xff\xfe\x80 \xe2\x80\xae "q" <b>&amp; \\'
mkdir "$name"
cd "$name" || exit
make_rules
make_records "$name" 3 100
mv rec.conf "$name.conf"
try carve -c "$name.conf" -o "out $name" "$name"
check_reports "out $name" "$name"
"$BURIN" verify "out $name"
try carve -c "$name.conf" -o "out $name" "$name"
cp "$name" "$name 2"
try carve -c "$name.conf" -o "batch" "$name" "$name 2"
ls -q batch | wc -l
try carve -c "missing $name" -o out "$name"
try carve -c "$name.conf" -o out "missing $name"
try carve -c "$name.conf" -o out -t "$name" "$name"
try carve -c "$name.conf" -o out --engine "$name" "$name"
try carve -c "$name.conf" -o out --compat "$name" "$name"
"$BURIN" carve --json --quiet -c "$name.conf" -o "events" "$name" | python3 -c '
import json, sys
print([json.loads(line)["event"] for line in sys.stdin.buffer.read().decode().splitlines()])'
