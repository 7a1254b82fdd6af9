# The help, but on stderr and as a mistake.
"$BURIN" 2>text
echo $?
"$BURIN" --help | cmp - text
