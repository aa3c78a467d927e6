# SPDX-License-Identifier: GPL-2.0-only
# What the scripts that draw have in common; to be sourced. Pictures are 1200 pixels wide; panels are
# placed by pixels from the top left corner, below one legend for all of them.

colors=(0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 000000) # told apart by color-blind readers, too
export LC_ALL=C.UTF-8                                     # a decimal point, whatever the language

# SENTENCE...: ends the script.
fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# PICTURE: whether it can be drawn is found out before any work.
need_picture() {
    [[ $1 == *.png ]] || fail "the output '$1' does not end in .png"
    [[ -d $(dirname "$1") ]] || fail "there is no folder '$(dirname "$1")'"
    command -v gnuplot >/dev/null || fail "gnuplot is missing; tools/install-dependencies build"
}

# FILE COLUMN...: every column must be in the head of the table.
need_columns() {
    local file=$1 column head=
    shift
    [[ -r $file ]] || fail "cannot read $file"
    IFS= read -r head <"$file" || true
    for column; do
        [[ ,$head, == *,$column,* ]] || fail "$file has no column '$column'"
    done
}

# The beginning of an awk program that reads a table: $column["name"], and whether a value is known.
csv='function known(value) { return value != "" && value !~ /[nN][aA][nN]|[iI][nN][fF]/ }
     FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }'

# TEXT: a string of gnuplot.
quote() {
    local text=${1//$'\n'/ }
    printf "'%s'" "${text//\'/\'\'}"
}

# TITLE CHARACTERS ENTRIES: sets `columns` of the legend with so many entries of at most so many
# characters, and `top`, where the panels begin.
arrange() {
    columns=$((1100 / ($2 * 9 + 60)))
    columns=$((columns < 1 ? 1 : columns > $3 ? $3 : columns))
    top=$(((${#1} > 0 ? 44 : 12) + 24 * (($3 + columns - 1) / columns) + 42))
}

# TITLE ENTRY...: the beginning of a gnuplot script: title, legend (gnuplot's keyentry), axes.
begin() {
    local title=$1 entries IFS=,
    shift
    entries="$*"
    cat <<PLOT
unset border; unset tics; set xrange [0:1]; set yrange [0:1]
set title offset 0, -0.3
set multiplot
$(place 0 1200 0 "$height")
set label 1 $(quote "$title") at screen 0.5, 1 - 26. / $height center font 'Sans,16'
set key horizontal maxcols $columns center top Left reverse samplen 2 \
    at screen 0.5, 1 - $((${#title} > 0 ? 44 : 12)). / $height
plot NaN notitle, $entries
unset key; unset label 1
set border 3 linecolor '#666666'
set xtics nomirror scale 0.6 textcolor '#333333'
set ytics nomirror scale 0.6 textcolor '#333333'
set grid linetype 1 linewidth 1 linecolor '#e4e4e4'
PLOT
}

# LEFT RIGHT TOP BOTTOM: where the next panel is.
place() {
    echo "set lmargin at screen $1 / 1200.; set rmargin at screen $2 / 1200."
    echo "set tmargin at screen 1 - $3. / $height; set bmargin at screen 1 - $4. / $height"
}

# TITLE XLABEL YLABEL YRANGE REMARK [CURVE...]: a panel; the remark stands in it when nothing else does.
panel() {
    local title=$1 xlabel=$2 ylabel=$3 yrange=$4 remark=$5 IFS=,
    shift 5
    echo "set title $(quote "$title"); set xlabel $(quote "$xlabel") offset 0, 0.4"
    echo "set ylabel $(quote "$ylabel") offset 1"
    if [[ $# -gt 0 ]]; then
        echo "set yrange $yrange; plot $*"
    else
        echo "set label 9 $(quote "$remark") at graph 0.5, 0.5 center textcolor '#888888'"
        echo "set yrange [0:1]; set format y ''; plot NaN; set format y; unset label 9"
    fi
}

# PICTURE: draws the script on standard input, under another name until it is complete.
draw() {
    local part remarks
    part=$(mktemp "$1.XXXXXX") || fail "cannot write into '$(dirname "$1")'"
    remarks=$({
        echo "set terminal pngcairo noenhanced background 'white' size 1200,$height font 'Sans,14'"
        echo "set output $(quote "$part")"
        cat
        echo "unset multiplot"
    } | gnuplot /dev/stdin 2>&1) || { rm -f "$part"; fail "gnuplot could not draw $1: $remarks"; }
    chmod 644 "$part"
    mv "$part" "$1"
    echo "Picture: $1"
}
