# The shape of the lists for machines.
cat >shape.py <<'PY'
import json, sys
value = json.load(sys.stdin)
for key, items in value.items():
    if not isinstance(items, list):
        continue
    print(key, "some" if items else "none")
    print(sorted({(name, type(v).__name__ if v is not None else "text or null")
                  for item in items for name, v in item.items()} - {("reason", "str")}))
    names = [item["name"] for item in items]
    print("unique" if len(names) == len(set(names)) else "twice: " + str(names))
PY
printf 'jpg y 1000 \\xff\\xd8 \\xff\\xd9\ngif n 2000 GIF8\n' >s.conf
for what in engines carvers "types -c s.conf"; do
	"$BURIN" list $what --json >out.json; echo $?
	python3 -m json.tool out.json >/dev/null && python3 shape.py <out.json
done
python3 - <<'PY'
import json, subprocess, os
engines = json.loads(subprocess.check_output([os.environ["BURIN"], "list", "engines", "--json"]))["engines"]
reference = [e for e in engines if e["name"] == "reference"]
print(len(reference), reference[0]["usable"], reference[0]["reason"])
print(all((e["reason"] is None) == e["usable"] for e in engines))
PY
# The kernels are those of the gpu engine, and as usable as that.
python3 - <<'PY'
import json, subprocess, os
def listed(what):
    return json.loads(subprocess.check_output([os.environ["BURIN"], "list", what, "--json"]))[what]
gpu = [e for e in listed("engines") if e["name"] == "gpu"][0]
kernels = listed("kernels")
print([k["name"] for k in kernels][:4], sorted(kernels[0]))
print(all(k["usable"] == gpu["usable"] and k["reason"] == gpu["reason"] and k["built"] == gpu["built"] for k in kernels))
PY
