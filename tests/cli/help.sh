# burin --help, -h and help say the same, on stdout.
"$BURIN" --help >long; echo $?
"$BURIN" -h | cmp - long
"$BURIN" help | cmp - long
"$BURIN" help --help >own; head -1 own
cat long
