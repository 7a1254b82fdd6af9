# Each finding, with the line of its rule.
cat >x.conf <<'CONF'
types = (
  { name = "short"; header = "'AB'"; max_size = 100; },
  { name = "wild"; header = "'ABC' ?? ?? ?? ?? ?? 'D'"; max_size = 100; },
  { name = "empty"; header = "00 00 00 00"; max_size = 100; },
  { name = "foot"; header = "'SHORTFOOT'"; footer = "'Z'"; max_size = "1M"; },
  { name = "jpg"; header = "FF D8 FF E0"; footer = "FF D9"; max_size = "1M"; },
  { name = "pdf"; header = "'%PDF-1'"; footer = "'%%EOF'"; max_size = "1M"; },
  { name = "sizes"; header = "'SIZESIZE'"; min_size = 100; max_size = 50; },
  { name = "ends"; header = "'ENDSBEFORE'"; max_size = 5; },
  { name = "big"; header = "'BIGBIG'"; max_size = "2G"; },
  { name = "twice"; header = "'TWICE!'"; max_size = 50; },
  { name = "again"; header = "'TWICE!'"; max_size = 50; },
  { name = "png"; header = "89 'PNG' 0D 0A 1A 0A"; max_size = "50M"; carver = "png"; },
  { name = "never"; header = "89 'PNG' 0D 0A 1A 0A"; max_size = "5M"; carver = "png"; },
  { name = "unused"; header = "89 'PNG' 0D 0A 1A 0B"; footer = "'IEND'"; max_size = "5M"; carver = "png"; },
);
CONF
"$BURIN" conf check x.conf >text; echo $?
sed '/^$/,$d' text
tail -1 text
"$BURIN" conf check x.conf --json >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
lines = [line for line in open("text") if line.startswith("x.conf:")]
print(len(lines) == len(value["findings"]), value["warnings"] == sum(f["level"] == "warning" for f in value["findings"]))
for finding, line in zip(value["findings"], lines):
    if line.strip() != "{file}:{line}: {level}: {rule}: {text}".format(**finding):
        print(line, finding)
PY
