# Without a command, burin acts as carve if the first word is an option (as for Scalpel) or a file.
head -c 4096 /dev/zero >image
printf "types = ( { name = \"x\"; header = \"'NEEDLE'\"; max_size = \"1K\"; } );\n" >x.conf
"$BURIN" -c x.conf -o one image >/dev/null 2>&1; echo $?
"$BURIN" image -c x.conf -o two >/dev/null 2>&1; echo $?
ls one two
