# A run that ran out of space is resumed: what it uses, and what is refused.
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir case
make_records case/image 30 1000
make_records large 1 200000
cat large case/image >both
mv both case/image
"$BURIN" carve --quiet -c rec.conf -o plain case/image
stop() # OUT OPTION...: ends before the large file is written
{
	(ulimit -f 100 && "$BURIN" carve --quiet -c rec.conf -o "$@" case/image 2>/dev/null)
	echo "stopped with exit $?"
}
same() # OUT: as the undisturbed run, but for times, commands and that it was resumed
{
	diff -r -x 'report.*' -x audit.txt plain "$1" && echo "the files are the same"
	for folder in plain "$1"; do
		grep '"record":"file"' $folder/report.jsonl >files
		sed '1,/Extracted From/d; /^Completed\|^From byte/d' $folder/audit.txt >>files
		sed '/<creator>/,/<\/creator>/d' $folder/report.xml >>files
		sed -n '/"record":"summary"/{s/"seconds":.*"finished":"[^"]*"//;s/"resumed":\[[^]]*\],//;p}' $folder/report.jsonl >>files
		mv files "${folder##*/}.plain"
	done
	cmp plain.plain "${1##*/}.plain" && echo "the reports are the same"
}
echo --- nothing to resume
try carve --resume plain
try carve --resume case
try carve --resume nothing
echo --- what changes the result is refused
stop out
try carve --resume out --align 512
try carve --resume out --max-files 3
try carve --resume out -t -rec
try carve --resume out -o other
try carve --resume out large
try carve --resume out case/image large
cp rec.conf kept.conf
sed -i 's/1M/2M/' rec.conf
try carve --resume out
cp kept.conf rec.conf
cp case/image kept
printf x | dd of=case/image conv=notrunc status=none
try carve --resume out
truncate -s 1M case/image
try carve --resume out
cp kept case/image
printf x | dd of=case/image bs=1 seek=70000 conv=notrunc status=none
try carve --resume out
cp kept case/image
echo --- a damaged checkpoint
cp out/.burin-checkpoint checkpoint
printf x | dd of=out/.burin-checkpoint bs=1 seek=100 conv=notrunc status=none
try carve --resume out
head -c 50 checkpoint >out/.burin-checkpoint
try carve --resume out
cp checkpoint out/.burin-checkpoint
echo --- a report that lost its end
cp out/report.jsonl report
head -c 100 report >out/report.jsonl
try carve --resume out
cp report out/report.jsonl
echo --- two at once
flock out "$BURIN" carve --resume out
echo "exit $?"
echo --- resumed with other threads, from another folder, after the image has moved
mkdir elsewhere
mv case/image elsewhere
(cd elsewhere && try carve --resume ../out --threads 3 --chunk-size 64K image)
same out
check_reports out elsewhere/image
ls -A out
mv elsewhere/image case
echo --- resumed and stopped again
stop out2
(ulimit -f 150 && "$BURIN" carve --quiet --resume out2 2>/dev/null)
echo "stopped with exit $?"
try carve --quiet --resume out2
same out2
grep -c '^From byte' out2/audit.txt
echo --- without checkpoints
stop out3 --checkpoint-interval 0
ls -A out3
try carve --resume out3
try carve -c rec.conf -o out4 --checkpoint-interval 1.2345 case/image
try carve -c rec.conf -o out4 --checkpoint-interval 100000 case/image
echo --- a batch
mkdir small
make_records small/image 3 100
(ulimit -f 100 && "$BURIN" carve --quiet -c rec.conf -o batch small/image case/image missing 2>/dev/null)
echo "stopped with exit $?"
try carve -c rec.conf -o batch small/image
try carve -c rec.conf -o batch small/image case/image
try carve --quiet --resume batch
same batch/image-2
ls -A batch
