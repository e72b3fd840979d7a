# Scripts source this file. With --help a script prints the comment at its top and ends. print_help only prints this
# comment.
print_help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

for argument in "$@"; do
  case $argument in
    -h | --help) print_help; exit 0 ;;
  esac
done
