# Tens of thousands of rules are checked in time that does not grow with their square: 60,000 in a fraction of a second.
python3 - <<'PY'
with open("many.conf", "w") as file:
    print("types = (", file=file)
    for i in range(60000):
        print('  { name = "r%d"; header = "%06X %s"; max_size = 1000; },' % (i, i, "5A " * (i % 9 + 3)), file=file)
    print('  { name = "same"; header = "%06X %s"; max_size = 1000; },' % (7, "5A " * 10), file=file)
    print('  { name = "longer"; header = "%06X %s"; max_size = 1000; },' % (7, "5A " * 11), file=file)
    print('  { name = "carved"; header = "%06X %s"; carver = "png"; },' % (59999, "5A " * 3), file=file)
    print(");", file=file)
PY
ulimit -t 20 # seconds of the processor
"$BURIN" conf check many.conf >out; echo $?
grep -v '^r[0-9]' out
# The same where all have one header, so that each may concern each.
python3 - <<'PY'
with open("same.conf", "w") as file:
    print("types = (", file=file)
    for i in range(20000):
        print('  { name = "r%d"; header = "\'HEADER\'"; max_size = %d; },' % (i, i + 1000), file=file)
        print('  { name = "rm%d"; header = "\'HEADER\'"; must = ( { at = 8; bytes = "%06X"; } ); max_size = 100; },' % (i, i), file=file)
        print('  { name = "rc%d"; header = "\'HEADER\'"; align = 3; carver = "png"; min_size = %d; max_size = %d; },' %
              (i, i * 7919 % 20000, i + 10000), file=file)
    print('  { name = "same"; header = "\'HEADER\'"; max_size = 20000; },', file=file)
    print('  { name = "same-must"; header = "\'HEADER\'"; must = ( { at = 8; bytes = "001234"; } ); max_size = 100; },', file=file)
    print('  { name = "carved"; header = "\'HEADERS\'"; align = 6; carver = "png"; min_size = 19990; max_size = 29000; },', file=file)
    print(");", file=file)
PY
"$BURIN" conf check same.conf >out; echo $?
grep '^same.conf' out | grep -v ' r[0-9]*: \| rm[0-9]*: \| rc[0-9]*: '
grep -c 'never carves' out
