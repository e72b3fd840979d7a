# Scripts source this file. With --help a script prints the comment at its top and ends.

# Ends the script because of a wrong command line. The text says what is wrong.
refuse() {
  echo "$(basename "$0"): $1 Try $0 --help." >&2
  exit 2
}

refuse_options() {
  for word in "$@"; do
    [[ $word != -* ]] || refuse "$word is no option here."
  done
}

for argument in "$@"; do
  case $argument in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
done
