# Carvers of a plug-in: carvers/TEMPLATE.c, as it is and with each mistake that a plug-in may have.
. "$SRCDIR/tests/cli/helpers"
command -v "${CC:=cc}" >/dev/null || { echo "no C compiler"; exit 77; }
build() # NAME [SED]: a plug-in of the template, changed
{
	sed "${2-}" "$SRCDIR/carvers/TEMPLATE.c" >"$1.c" && "$CC" -shared -fPIC -Wall -Wextra -Werror -I "$SRCDIR/carvers" -o "$1.so" "$1.c"
}
python3 - <<'PY'
import struct
def tpl(*records):
    return b"TPL1" + b"".join(struct.pack("<H", len(r)) + r for r in records) + struct.pack("<HI", 0, sum(map(sum, records)))
one, two = tpl(b"first", b"record" * 1000), tpl(b"other")
open("image", "wb").write(bytes(1000) + one + b"\xa5" * 77 + two[:-1] + b"!" + b"TPL1\0\0" + bytes(60000))
PY
echo 'types = ( { name = "tpl"; header = "'"'TPL1'"'"; carver = "tpl"; max_size = "16M"; } );' >rules.conf
build tpl

echo "== as part of burin, and confined"
carve_image out --plugin tpl.so --sandbox=off
"$BURIN" list sandbox | grep -q 'not ' || "$BURIN" carve --quiet -c rules.conf --plugin tpl.so --sandbox=require -o confined image 2>/dev/null
[[ ! -e confined ]] || same_results out confined
check_reports out
grep -c "^Plug-in: $PWD/tpl.so, SHA-256 $(sha256sum <tpl.so | cut -d' ' -f1)$" out/audit.txt
python3 - <<'PY'
import json
for line in open("out/report.jsonl"):
    record = json.loads(line)
    if record["record"] == "run":
        print([plugin["path"].rsplit("/", 1)[1] for plugin in record["plugins"]])
    elif record["record"] == "file":
        print(record["offset"], record["length"], record["status"], record["reason"])
PY
try why --plugin tpl.so -c rules.conf image 1000 | grep -E 'tpl|complete|exit'
try conf check --plugin tpl.so rules.conf | grep -c tpl

echo "== one that crashes costs its candidates"
build crash 's/^\tif (!bytes ||/\t__builtin_trap();\n&/'
crashed() # NAME: of a plug-in; what is said of its crashes, at once and in the report
{
	if "$BURIN" list sandbox | grep -q 'not ' || readelf -Ws "$BURIN" | grep -qE "__(a|t)san_init"; then
		sed -n "/^== $2/,/^exit/p" "$SRCDIR/tests/cli/plugin.stdout" | tail -n +2
		return
	fi
	carve_image "$1" --plugin "$1.so" --sandbox=require --threads 1 2>&1 | sed '/^exit/d'
	sed -n 's/^{"record":"file",.*"offset":\([0-9]*\),.*"status":"\([a-z]*\)".*/\1 \2/p' "$1/report.jsonl"
	sed -n 's/^{"record":"summary",.*"exit":\([0-9]*\).*/exit \1/p' "$1/report.jsonl"
}
crashed crash "one that crashes costs"
echo "== one that crashes, and not when its candidate is checked again, costs nothing, and is told of"
build once 's/^\tif (!bytes ||/\tstatic int checks;\n\tif (checks++)\n\t\t__builtin_trap();\n&/'
crashed once "one that crashes, and not"

echo "== without it, and twice"
carve_image none
carve_image twice --plugin tpl.so --plugin ./tpl.so

echo "== what is no plug-in, or not of this burin"
carve_image none --plugin nowhere.so
carve_image none --plugin rules.conf 2>&1 | sed 's/rules.conf: .*/rules.conf: .../'
build other 's/= CARVER_CONTRACT/= CARVER_CONTRACT + 1/'
carve_image none --plugin other.so
build bare 's/burin_plugin = /my_plugin = /; s/^const struct carver_plugin/extern const struct carver_plugin my_plugin;\n&/'
carve_image none --plugin bare.so
build same 's/"tpl"/"png"/'
carve_image none --plugin same.so
build empty 's/&tpl_carver, NULL/NULL/; $a const struct carver *used(void) { return \&tpl_carver; }'
carve_image none --plugin empty.so
build nameless '/\.name =/d'
carve_image none --plugin nameless.so
build needy 's/^#define HEADER_LEN 4/&\nint view_nothing(void);/; s/uint32_t sum = 0;/uint32_t sum = (uint32_t)view_nothing();/'
carve_image none --plugin needy.so
