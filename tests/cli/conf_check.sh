# A file without mistakes, one with an error, and the JSON output.
cat >good.conf <<'CONF'
types = (
  { name = "one"; header = "'ONEONEON'"; footer = "'ENDOFONE'"; max_size = "10K"; },
  { name = "two"; header = "'TWO!'"; max_size = 4096; },
);
CONF
"$BURIN" conf check good.conf; echo $?
echo 'types = ( { name = "bad"; heador = "00"; max_size = 1; } );' >bad.conf
"$BURIN" conf check bad.conf; echo $?
"$BURIN" conf check missing.conf; echo $?
"$BURIN" conf check --json good.conf >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
print(sorted(value))
print(value["path"], value["format"], len(value["sha256"]), value["warnings"], value["findings"], value["sample"])
for rule in value["forecast"]:
    print(rule["rule"], "%.6g" % rule["random"]["hits_per_gib"], rule["sample"])
PY
