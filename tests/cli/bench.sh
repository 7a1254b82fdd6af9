# Benchmarks on little data: the output and the comparisons, not the speed.
. "$SRCDIR/tests/cli/helpers"
make_rules
make_records image 200 100
small="--rounds 2 --threads 2 -c rec.conf"
try bench $small --engine cpu --engine reference image >out
sed 's/  */ /g; s/ [0-9.]* GB\/s/ SPEED/g; s/ [0-9.]* %/ PERCENT/g; s/\(end-to-end [a-z]* \)[-0-9. ]*$/\1SECONDS/; s/\(equal\) .*/\1/' out
echo; echo "random bytes, planted"
try bench $small --engine cpu --size 64K --plant 1K --seed 7 --mode host | sed -n 's/^host.* \([0-9]*  equal\) .*/\1/p'
echo; echo "patterns in place of rules"
printf "'REC['\n\n']CER'\n" >list
try bench --rounds 1 --patterns list --engine cpu image | sed -n 's/  */ /g; s/[0-9.]* \(GB.s\|%\)/N/g; s/\(equal\) .*/\1/; /^host\|^end\|^exit/p'
echo; echo "JSON"
try bench $small --json --size 10K image >out.json
sed -i '/^exit/d' out.json
python3 - <<'PY'
import json
bench = json.load(open("out.json"))
print({k: type(v).__name__ for k, v in sorted(bench.items())})
print(bench["bytes"], bench["compared_with_reference"], bench["patterns"], [c["name"] for c in bench["ceilings"]])
for row in bench["rows"]:
    if row["engine"] == "cpu":
        print(row["mode"], row["compared"], row["bytes_per_second"] > 0, 0 < row["of_ceiling"], row["seconds"]["rounds"],
              row["found"] > 0, len(row["checksum"]), sorted(row.get("stages", {})))
kernels = [row["kernel"] for row in bench["rows"] if row["mode"] == "resident"]
print(kernels)
print(all(row["compared"] == "equal" or row["reason"] for row in bench["rows"]))
PY
echo; echo "searches for files in pieces"
try bench --mode assemble --size 64K --rounds 1 --threads 2 --gpus 64 image >out
sed 's/  */ /g; s/ [0-9.e+-]* [0-9.]* \([0-9]* equal\)/ SECONDS RATE \1/; s/no GPU: .*/no GPU/' out
try bench --mode assemble --size 64K --rounds 1 --threads 2 --gpus 64 --json >out.json
sed -i '/^exit/d' out.json
python3 -c 'import json; print([(r["search"], r["unit"], r["tried"], r["equal"], r["per_second"] > 0) for r in json.load(open("out.json"))["rows"] if r["device"] == "cpu"])'
ls "${TMPDIR:-/tmp}" | grep burin-bench || echo "nothing is left behind"
