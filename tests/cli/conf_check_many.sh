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
