# The published figures of the papers' tables are those of the runs whose JSON is in the repository.
. "$SRCDIR/tests/cli/helpers"
"$SRCDIR/tests/bench/papers_tables" --check; echo "exit $?"
# A figure that was changed by hand is found.
mkdir -p copy/tests/bench copy/gpu/papers
cp -r "$SRCDIR/tests/bench/papers_tables" "$SRCDIR/tests/bench/results" "$SRCDIR/tests/bench/PAPERS.md" "$SRCDIR/tests/bench/RESULTS.md" copy/tests/bench/
sed '0,/-->[0-9.,]*<!--end-->/s//-->0<!--end-->/' "$SRCDIR/gpu/papers/FINDINGS.md" >copy/gpu/papers/FINDINGS.md
copy/tests/bench/papers_tables --check; echo "exit $?"
copy/tests/bench/papers_tables; echo "exit $?"
cmp copy/gpu/papers/FINDINGS.md "$SRCDIR/gpu/papers/FINDINGS.md"
