# SPDX-License-Identifier: LGPL-2.1-or-later
# complete.zsh COMPLETION LINE…: what zsh offers at the end of each line, as one line. Completion needs a line
# editor, so a second zsh in a terminal of its own is given the line and a key that notes the matches.

zmodload zsh/zpty || exit 1
folder=$(mktemp -d) || exit 1
ln -s ${1:A} $folder/_cordon

cat >$folder/inner <<'INNER'
fpath=($folder $fpath)
autoload -Uz compinit && compinit -u -D
PROMPT= PROMPT2= RPROMPT=
unset zle_bracketed_paste
stty -echo

# What is offered goes through compadd; those calls that only fill arrays are not an offer.
compadd() {
    local -a kept
    if [[ ${@[1,(i)(-|--)]} != *-[OAD]* ]]; then
        builtin compadd -O kept "$@"
        offered+=($kept)
    fi
    builtin compadd "$@"
}
show() {
    typeset -ga offered=()
    zle list-choices
    print -r -- $offered >>$folder/offered
    print -r -- "<do""ne>"
    BUFFER=
    zle accept-line
}
zle -N show
bindkey '^X' show
print -r -- "<rea""dy>"
INNER

export folder
{
    zpty inner exec zsh --no-rcs -i
    zpty -w inner "source $folder/inner"
    zpty -r inner out '*<ready>*' || exit 1
    for line in "${@[2,-1]}"; do
        zpty -w -n inner "$line"$'\C-x'
        zpty -r inner out '*<done>*' || exit 1
    done
    zpty -d inner
    cat $folder/offered
} always {
    rm -rf $folder
}
