#!/usr/bin/env bash
# Guess: a rule runs again when an input is newer than its output, as with make.
# Seen: an input of less than 1 MB (--max-checksum-file-size) whose content is as it was does not
#   count, however new it is; a larger one does. So `touch` repeats nothing for a
#   configuration or a small test set, but repeats training for a data file.
# Hurt: who touches a file to force a row again, or restores files from version control.
# Versions: Snakemake 9.27.1; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile snakemake==9.27.1
cd "$folder"
cat > Snakefile <<'RULES'
rule all:
    input: "small.out", "large.out"
rule copy:
    input: "{name}.in"
    output: "{name}.out"
    shell: "cp {input} {output}; echo {wildcards.name} >> runs"
RULES
snakemake() { venv/bin/snakemake --cores 1 --quiet all > log 2>&1 || { cat log; exit 1; }; }
head -c 1000 /dev/zero > small.in
head -c 5000000 /dev/zero > large.in
snakemake
sleep 2
touch small.in large.in
snakemake
echo "runs, the last after touching both inputs: $(tr '\n' ' ' < runs)"
[ "$(grep -c small runs) $(grep -c large runs)" = "1 2" ] || { echo changed; exit 1; }
sleep 2
head -c 1001 /dev/zero > small.in
snakemake
[ "$(grep -c small runs)" = 2 ] || { echo changed; exit 1; }
