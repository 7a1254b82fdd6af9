# The page of a run: what is written, what is not touched, what is refused. What it shows is tested in tests/html.
printf "types = ( { name = \"doc\"; header = \"'HEAD'\"; footer = \"'FOOT'\"; max_size = \"1K\"; },
	{ name = \"jpg\"; header = \"FF D8 FF\"; max_size = \"64\"; } );\n" >x.conf
{ printf 'HEAD </script> FOOT'; head -c 500 /dev/zero; printf '\377\330\377\340 no picture'; head -c 500 /dev/zero; } >image
"$BURIN" carve --quiet -c x.conf -o out image; echo $?
"$BURIN" report --thumbs 0 out; echo $?
"$BURIN" report --quiet --thumbs 0 out; echo $?
"$BURIN" verify out; echo $?
ls out
head -1 out/report.html
grep -c '</html>' out/report.html
# the policy and every script have one number, of this page alone
grep -o "script-src 'nonce-[0-9a-f]*'" out/report.html | wc -l
grep -o 'nonce="[0-9a-f]*"' out/report.html | sort -u | wc -l
cp out/report.html first; "$BURIN" report --quiet --thumbs 0 out; cmp -s first out/report.html; echo $?
# with the run; and one that made no files
"$BURIN" carve --quiet --html -p -c x.conf -o plan image; echo $?
ls plan
# many images: a page each
cp image other
"$BURIN" carve --quiet --html -c x.conf -o batch image other; echo $?
ls batch/*/report.html
# and one that links to them; text from the summary stays text, and a folder a name
grep -o '<tr.*' batch/report.html
rm -r batch/other
printf '{"images":[{"image":"<b>","folder":"/x/../image","exit":0,"files":1,"bytes":2},{"image":"gone","folder":"..","exit":3,"problem":"</td>&"}],"not_taken":[{"path":"a<b","reason":"no"}]}' >batch/batch.json
"$BURIN" report --quiet --thumbs 0 batch; echo $?
grep -oE '<(tr|li).*' batch/report.html
# a link in the page's place is replaced, not followed
echo mine >mine; rm out/report.html; ln -s ../mine out/report.html
"$BURIN" report --quiet --thumbs 0 out; echo $?
cat mine; [[ -L out/report.html ]]; echo $?
# no output folders
"$BURIN" report missing; echo $?
mkdir empty; "$BURIN" report empty; echo $?
mkdir broken; echo '{"record":"run"}' >broken/report.jsonl; "$BURIN" report broken; echo $?
"$BURIN" report; echo $?
