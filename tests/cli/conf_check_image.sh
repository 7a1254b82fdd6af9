# The forecast from an image. 8 MiB with one TWO! in every 64 KiB: 16,384 in a GiB, each max_size long.
cat >x.conf <<'CONF'
types = (
  { name = "two"; header = "'TWO!'"; max_size = 4096; },
  { name = "none"; header = "'not in there'"; max_size = 4096; },
);
CONF
{ printf 'TWO!'; head -c 65532 /dev/zero; } >piece
for i in {1..128}; do cat piece; done >image
"$BURIN" conf check x.conf --image image; echo $?
# a quarter of it: the same rate
"$BURIN" conf check x.conf --image image --sample 2M --json >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
print(value["sample"]["image"], value["sample"]["image_size"], value["sample"]["bytes"])
for rule in value["forecast"]:
    print(rule["rule"], rule["sample"]["hits_per_gib"], rule["sample"]["bytes_per_gib"])
PY
"$BURIN" conf check x.conf --image missing; echo $?
# more hits in a piece than fit at once, and an incomplete last piece
cat >dense.conf <<'CONF'
types = ( { name = "zero"; header = "00"; max_size = 10; }, { name = "zeros"; header = "00 00"; max_size = 10; } );
CONF
head -c 1500000 /dev/zero >zeros
"$BURIN" conf check dense.conf --image zeros --json >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
for rule in value["forecast"]:
    print(rule["rule"], round(rule["sample"]["hits_per_gib"] * value["sample"]["bytes"] / 2**30))
PY
# what rules write: a length field, a footer and a carver are asked at the sample's hits
cat >real.conf <<'CONF'
types = (
  { name = "toy"; header = "'TOY!'"; length = { at = 4; type = "u32le"; }; max_size = "1M"; },
  { name = "foot"; header = "'TOY!'"; footer = "'END'"; max_size = "1M"; },
  { name = "false"; header = "'TOY!'"; max_size = "1M"; carver = "png"; }
);
CONF
{ head -c 100000 /dev/zero; printf 'TOY!\270\13\0\0'; head -c 1000 /dev/zero; printf END; head -c 8287597 /dev/zero; } >toys
"$BURIN" conf check real.conf --image toys
echo "--- files inside complete files, and a second rule's at the same place, are not counted"
"$BURIN" conf check --image "$SRCDIR/images/sample.E01" "$SRCDIR/conf/burin.conf" | grep 'would write' | grep -o '[0-9.]* KiB'
"$BURIN" carve -p -o plan "$SRCDIR/images/sample.E01" 2>&1 | grep -o '[0-9.]* KiB, found but not written'
