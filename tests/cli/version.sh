"$BURIN" version
"$BURIN" --version
"$BURIN" -V
