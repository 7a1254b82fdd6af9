# burin's run over an image of known layout beside a report that PhotoRec might have written of it, with deliberate faults
# in it: each difference must be explained correctly, and there must be no others.
. "$SRCDIR/tests/cli/helpers"
cat >make.py <<'PY'
import glob, json, os, random, sys
random = random.Random(int(sys.argv[1]))
golden = os.environ["SRCDIR"] + "/tests/golden/"

def sound(folder):
    """Its files that are one file from their first byte to their last, and nothing else."""
    for name in sorted(glob.glob(golden + folder + "/*.expected")):
        expected = dict(line.rstrip("\n").split(" ", 1) for line in open(name) if " " in line)
        data = open(name[:-9], "rb").read()
        wanted = "unverified" if folder == "adts" else "complete"
        if expected.get("verdict") == wanted and expected.get("length") == str(len(data)) and 100 < len(data) < 40000:
            yield data

files = {kind: list(sound(kind)) for kind in ["png", "gif", "jpeg", "gz", "xz", "adts"]}
extensions = {"jpeg": "jpg", "adts": "aac"}
plain_png = max((data for data in files["png"] if b"\xff\xd8\xff" not in data), key=len)  # no thumbnail in it
image, reported, expected = bytearray(4096), [], {}

def place(data, step=512, after=None):
    """Puts it at a multiple of step, followed by a cluster or two of text. Returns its offset."""
    image.extend(b"\n" * (-len(image) % step))
    at = len(image)
    image.extend(data)
    image.extend(b"this is what lies between the files\n" * random.randint(30, 200))
    return at

def report(name, *runs, size=None):
    reported.append((name, size or sum(length for _, length in runs), runs))

def one(kinds="png gif jpeg gz xz"):
    kind = random.choice(kinds.split())
    return kind, extensions.get(kind, kind), random.choice(files[kind])

def same():
    kind, extension, data = one("png jpeg gz")
    report(extension, (place(data), len(data)))

def too_long():
    kind, extension, data = one("png jpeg gz")
    at = place(data)
    report(extension, (at, len(data) + random.randint(1, 900)))
    expected[at] = "too long", ["length"]

def too_short():
    kind, extension, data = one("png jpeg gz")
    at = place(data)
    report(extension, (at, len(data) - random.randint(1, 90)))
    expected[at] = "too short", ["length"]

def unaligned():
    image.extend(b"\n" * (-len(image) % 512 + random.randint(1, 511)))
    expected[place(one()[2], 1)] = "unaligned", []

def type_missing():
    expected[place(random.choice(files["xz"]))] = "type missing", []

def not_told():
    expected[place(random.choice(files["gz"]))] = "not told", []

def hidden():
    first, second = one("png jpeg"), one()
    at, under = place(first[2]), place(second[2])
    report(first[1], (at, under + 1 - at + random.randint(0, 500)))
    expected[at] = "too long", ["length"]
    expected[under] = "hidden", []

def cut():
    data = plain_png[: random.randint(len(plain_png) // 2, len(plain_png) - 20)]
    at = place(data)
    report("png", (at, len(data) + random.randint(600, 900)))
    expected[at] = "truncated", ["length"]

def doubtful():
    expected[place(plain_png[: len(plain_png) // 2])] = "doubtful", []

def guessed():
    data = random.choice(files["adts"])
    at = place(data)
    report("aac", (at, len(data) + random.randint(600, 900)))
    expected[at] = "doubtful", ["length"]

def rule_missing():
    at = place(b"a text, for which there is no rule\n" * 40)
    report("txt", (at, 1400))
    expected[at] = "rule missing", []

def rejected():
    data = bytearray(plain_png)
    data[16:24] = bytes(8)  # no width, no height
    at = place(data)
    report("png", (at, len(data)))
    expected[at] = "rejected", []

def no_header():
    at = place(b"nothing that a picture begins with\n" * 40)
    report("png", (at, 1000))
    expected[at] = "no header", []

def pieces():
    kind, extension, data = one("png jpeg gz")
    at = place(data)
    report(extension, (at, 64), (at + 64, len(data) - 64))
    expected[at] = "fragments", ["pieces"]

def renamed():
    kind, extension, data = one("png jpeg gz")
    at = place(data)
    report("xyz", (at, len(data)))
    expected[at] = "named otherwise", ["type"]

kinds = [same, too_long, too_short, unaligned, type_missing, not_told, hidden, cut, doubtful, guessed, rule_missing,
         rejected, no_header, pieces, renamed]
order = kinds * 6
random.shuffle(order)
same()
for kind in order:
    kind()
report("gif", (place(files["gif"][0]), len(files["gif"][0])))
image.extend(bytes(-len(image) % 512))
open("image", "wb").write(image)
with open("report.xml", "w") as file:
    print("<?xml version='1.0' encoding='UTF-8'?>\n<dfxml xmloutputversion='1.0'>\n<creator><package>PhotoRec</package>"
          "<version>7.1</version></creator>\n<source><image_filename>image</image_filename><sectorsize>512</sectorsize>"
          f"<image_size>{len(image)}</image_size></source>", file=file)
    for extension, size, runs in reported:
        print(f"<fileobject><filename>f{runs[0][0] // 512:07}.{extension}</filename><filesize>{size}</filesize><byte_runs>",
              file=file)
        at = 0
        for offset, length in runs:
            print(f"<byte_run offset='{at}' img_offset='{offset}' len='{length}'/>", file=file)
            at += length
        print("</byte_runs></fileobject>", file=file)
    print("</dfxml>", file=file)
json.dump({str(at): value for at, value in expected.items()}, open("truth.json", "w"))
PY
cat >judge.py <<'PY'
import json
truth = {int(at): tuple(value) for at, value in json.load(open("truth.json")).items()}
compared = json.load(open("compared.json"))
seen = {}
for row in compared["rows"]:
    if row["why"] != "same":
        seen[row["offset"]] = row
for at in sorted({*truth, *seen}):
    row, wanted = seen.get(at), truth.get(at)
    if not row or not wanted or (row["why"], row["differences"]) != (wanted[0], wanted[1]):
        print("at", at, "not", wanted, "but", row)
sums = {}
for why, _ in truth.values():
    sums[why] = sums.get(why, 0) + 1
assert compared["why"] == sums, compared["why"]
print(sorted(sums.items()))
print(compared["counts"]["same"], "the same")
PY
for seed in 1 2; do
	echo "--- seed $seed"
	rm -rf out
	python3 make.py $seed
	"$BURIN" carve --quiet -c "$SRCDIR/conf/burin.conf" -t png,gif,jpeg,gz,xz,aac -o out image
	"$BURIN" compare out report.xml -t png,gif,jpeg,gz,xz,aac --json >compared.json
	python3 judge.py
done
