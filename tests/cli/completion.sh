# Completes as bash would call it: the words typed so far, the last of which is to be completed.
"$BURIN" completion >script; echo $?
source ./script
touch 'a file.dd'
mkdir folder
complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_burin
	echo "$*: ${COMPREPLY[*]}"
}
complete_words burin ver
complete_words burin co
complete_words burin conf ''
complete_words burin conf ch
complete_words burin conf check --im
complete_words burin conf check --image a
complete_words burin conf check --rules-format s
complete_words burin conf check --rules-format = s
complete_words burin conf check --rules-format =
complete_words burin conf check a
complete_words burin list ''
complete_words burin list --j
complete_words burin verify ''
complete_words burin help conf
complete_words burin carve --conf
complete_words burin carve --config a
complete_words burin carve -o ''
complete_words burin -o ''
complete_words burin a
complete_words burin version ''
complete -p burin
