# The tables of papers 2, 3 and 4 on little data: their layout, and that all results agree.
. "$SRCDIR/tests/cli/helpers"
# Threads of OpenMP that wait by turning would take each other's processors.
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
for paper in 2 3 4; do
	try bench --papers --size 8K --rounds 1 --threads 2 --paper $paper --json >out.json
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
        print("all:", all(row[-1] == "equal" or row[-1].endswith("left out") for row in rows if row[1] != "gpu"), len(rows), "rows")
PY
done
