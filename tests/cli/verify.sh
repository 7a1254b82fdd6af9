# An output folder as written, then changed in every way.
try() { "$BURIN" verify "$@"; echo "$?"; }
printf "types = ( { name = \"doc\"; header = \"'HEAD'\"; footer = \"'FOOT'\"; max_size = \"1K\"; } );\n" >x.conf
for i in 1 2 3 4; do
	printf 'padding %s HEAD the text of %s FOOT' $i $i
	head -c 500 /dev/zero
done >image
"$BURIN" carve --quiet -c x.conf -o out image; echo $?
try out
try --verbose out | sort
files=(out/doc/*)
printf X | dd of="${files[0]}" bs=1 seek=6 conv=notrunc status=none
echo >>"${files[1]}"
rm "${files[2]}"
echo >out/doc/more
try out
"$BURIN" verify --json out >json; echo $?
python3 - <<'PY'
import json
value = json.load(open("json"))
print(value["path"], value["clean"], value["run_was_complete"])
print({k: v for k, v in value["counts"].items() if v})
for file in sorted(value["files"], key=lambda f: f["path"]):
    print(file["path"], file["state"])
PY
# a link in place of a file is not followed
mv "${files[3]}" elsewhere
ln -s "$PWD/elsewhere" "${files[3]}"
try out | grep unreadable:
# no summary
sed -i '/"record": *"summary"/d' out/report.jsonl
try out | tail -2
# nothing to compare
try missing
mkdir empty
try empty
"$BURIN" carve --quiet --dry-run -c x.conf -o plan image; echo $?
try plan
mkdir batch
echo '{"images":[]}' >batch/batch.json
try batch
