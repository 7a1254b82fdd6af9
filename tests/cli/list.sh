# The lists for people.
"$BURIN" list engines >engines; echo $?
grep -c '^reference  *usable  *' engines
"$BURIN" list carvers >carvers; echo $?
grep -c '^png  *[A-Za-z]' carvers
printf 'jpg y 1000 \\xff\\xd8 \\xff\\xd9 REVERSE\ngif n 2000 GIF8\n' >s.conf
"$BURIN" list types -c s.conf >types; echo $?
"$BURIN" conf list s.conf | cmp - types
cat types
# the rules that carve uses
"$BURIN" list types >types && head -1 types
# what --types would choose, by set, extension and kind
"$BURIN" list types -t docx,jpg | cut -c1-76
"$BURIN" list types -t pictures | awk '{ print $1 }' | sort -u | tr '\n' ' '; echo
"$BURIN" list types pictures docx >named; "$BURIN" list types -t pictures,docx | cmp - named && echo "as -t"
"$BURIN" list types -t nothing
"$BURIN" list types nothing
"$BURIN" list engines pictures; echo $?
"$BURIN" list types -c missing.conf; echo $?
# every kernel, on every machine and in every build
"$BURIN" list kernels >kernels; echo $?
grep -c '^\(gram\|bloom\|ac\)  *\(usable\|not here\|not built\)  *[A-Za-z]' kernels
test "$(wc -l <kernels)" = 3 && echo "no others"
# and with --all those of the papers too
"$BURIN" list kernels --all | grep -c '^\(ac-plain\|pfac5\|bmh\)  *'
grep -c '^\(gpu\|cpu\|vectorscan\|reference\)  ' engines
grep -c '^\(dpac\|wm\|ac-copies\)  ' engines
"$BURIN" list engines --all | grep -c '^\(dpac\|wm\|ac-copies\)  '
