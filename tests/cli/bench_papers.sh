# The papers' tables on little data: their layout, and that all results agree; not the speed.
. "$SRCDIR/tests/cli/helpers"
export CUDA_VISIBLE_DEVICES=
small="--papers --size 20K --rounds 1 --threads 2"
# The others have dictionaries that some engines take long to compile.
for paper in 1 5; do
	try bench $small --paper $paper --json >out.json
	sed -i '/^exit/d' out.json
	python3 - <<'PY'
import json
papers = json.load(open("out.json"))
print("different:", papers["different"], "no GPU:", bool(papers["no_gpu_because"]))
for table in papers["tables"]:
    rows, columns = table["rows"], table["columns"]
    assert all(len(row) == len(columns) for row in rows), table["title"]
    if table["paper"]:
        print(table["paper"], table["title"][:60], len(rows), "rows", len(columns), "columns")
    else:
        engines = {row[1] for row in rows}
        print("all:", all(row[-1] == "equal" for row in rows if row[1] != "gpu"), sorted(engines))
PY
done
echo; echo "as text"
try bench $small --paper 5 | sed -n '/^Paper/p;/^256.16/s/  */ /gp;/^exit/p'
echo; echo "data and patterns of one's own"
make_records image 300 100
printf "'REC['\n']CER'\n" >list
try bench $small --paper 1 --patterns list image | sed -n 's/  */ /g;/cpu/s/ [0-9.]* - - equal/ N - - equal/p;/^exit/p'
try bench --papers image
try bench --papers --patterns list
try bench --paper 1 -c list
try bench --paper 6
try bench --papers --block-bytes 4096
