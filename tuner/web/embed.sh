#!/bin/sh
# embed.sh FOLDER FILE... - prints a C file with the table of
# tuner/http/dashboard.h: the bytes of each FILE, as they are and packed. FOLDER
# takes the packed files.
set -eu
folder=$1
shift
mkdir -p "$folder"

type_of() {
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    *) echo "embed.sh: what type has $1?" >&2; exit 1 ;;
    esac
}

# bytes SYMBOL FILE
bytes() {
    printf '__asm__(".pushsection .rodata\\n%s:\\n.incbin \\"%s\\"\\n' "$1" "$2"
    printf '%s_end:\\n.popsection\\n");\n' "$1"
    printf 'extern const unsigned char %s[], %s_end[];\n' "$1" "$1"
}

echo '/* Made by tuner/web/embed.sh. */'
echo '#include "tuner/http/dashboard.h"'
n=0
rows=
for file; do
    name=$(basename "$file")
    gzip -9nc "$file" >"$folder/$name.gz"
    bytes "page_$n" "$file"
    bytes "packed_$n" "$folder/$name.gz"
    hash=$(sha256sum "$file" | cut -c1-16)
    type=$(type_of "$name")
    rows="$rows    {\"$name\", \"$type\", \"\\\\\"$hash\\\\\"\", page_$n, page_${n}_end, packed_$n, packed_${n}_end},
"
    n=$((n + 1))
done
printf 'const struct dashboard_file pages[] = {\n%b};\n' "$rows"
echo 'const size_t page_count = sizeof pages / sizeof *pages;'
