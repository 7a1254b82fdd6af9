# A signal while a large file is being written: the run ends soon, and the incomplete file is removed.
. "$SRCDIR/tests/cli/helpers"
echo "types = ( { name = \"big\"; header = \"'BIG['\"; max_size = \"1T\"; } );" >big.conf
make_rules
make_records image 3 1000
printf 'BIG[' >>image
truncate -s 4G image
sed -i '1s/( /( { name = "rec"; header = "'\''REC['\''"; footer = "'\'']CER'\''"; max_size = "1M"; }, /' big.conf
is_growing() { [[ $(find "$1/big" -size +1M 2>/dev/null) ]]; }
"$BURIN" carve -c big.conf --threads 2 -o out image 2>messages &
pid=$!
wait_until is_growing out
kill -INT $pid
wait $pid
echo "exit $?"
sed 's/[0-9]* bytes/SOME bytes/' messages
find out -type f | sort
check_reports out image | sed 's/[0-9]* bytes/SOME bytes/'
tail -1 out/report.jsonl | grep -o '"skipped":{[^}]*}'
"$BURIN" verify out
# the same while extracting
sed -i '/"record":"summary"/d' out/report.jsonl
python3 - <<'PY'
import json
with open("out/report.jsonl") as file, open("wanted.jsonl", "w") as wanted:
    for line in file:
        wanted.write(line)
    size = 4 << 30
    wanted.write(json.dumps({"record": "file", "path": "big/1.bin", "type": "big", "offset": 3300, "length": size - 3300,
                             "runs": [[3300, size - 3300]]}) + "\n")
PY
"$BURIN" extract -o out2 wanted.jsonl image 2>messages &
pid=$!
wait_until is_growing out2
kill -TERM $pid
wait $pid
echo "exit $?"
sed 's/[0-9]* bytes/SOME bytes/' messages
check_reports out2 image | sed 's/[0-9]* bytes/SOME bytes/'
