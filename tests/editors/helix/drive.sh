#!/bin/sh
# Editing a Relay file in Helix, in a terminal that this script types into and reads.
#
#   drive.sh FOLDER INSTALL
#
# FOLDER only contains `relay-analyzer`, a server that Helix finds on its PATH.
# INSTALL is the documented shell command, run in a clone.
#
# RELAY_EDITORS:   where .ci/install-editors installed Helix and tmux
# RELAY_TEST_FILE: tests/examples/broken-attention.relay, or a copy of it
set -eu
here=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(cd "$1" && pwd)
helix=$RELAY_EDITORS/helix/usr/bin/hx
tmux=$RELAY_EDITORS/tmux/usr/bin/tmux

# The path of a socket must be short.
sockets=$(mktemp -d)
(cd "$here" && HOME=$folder PATH=$folder:${helix%/*}:$PATH sh -euc "$2" > "$folder/health")
grep -q '✓.*relay-analyzer' "$folder/health" || { echo "FAILED: hx --health has no server"; cat "$folder/health"; exit 1; }

for part in 'Tree-sitter parser' 'Highlight queries' 'Textobject queries' 'Indent queries'; do
  grep -q "$part.*✓" "$folder/health" || { echo "FAILED: hx --health has no $part"; cat "$folder/health"; exit 1; }
done

# LC_ALL makes tmux count columns in UTF-8.
t() { TMUX_TMPDIR=$sockets LC_ALL=C.UTF-8 "$tmux" -f /dev/null "$@"; }
finish() {
  t kill-server 2> /dev/null || :
  rm -rf "$sockets"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
  echo "FAILED $step: $1"
  t capture-pane -p || :
  exit 1
}
screen() { t capture-pane -p; }
# see TEXT: waits until the screen has it
see() {
  i=0
  until screen | grep -qF -- "$1"; do
    i=$((i + 1))
    [ $i -lt 1200 ] || fail "'$1' does not appear"
    sleep 0.05
  done
}
# gone TEXT: waits until the screen does not have it
gone() {
  i=0
  while screen | grep -qF -- "$1"; do
    i=$((i + 1))
    [ $i -lt 1200 ] || fail "'$1' stays"
    sleep 0.05
  done
}
press() { t send-keys "$@"; }
# typed TEXT: key by key
typed() {
  rest=$1
  while [ -n "$rest" ]; do
    key=${rest%"${rest#?}"}
    rest=${rest#?}
    t send-keys -l -- "$key"
    sleep 0.01
  done
}
changes() { grep -c '"method":"textDocument/didChange"' "$folder/helix.log" || :; }
# changed TEXT: keys of which each changes the text, after the change of the one before was sent. Helix 25.01 sends
# those of simultaneous keys in any order, which no server can correct.
changed() {
  left=$1
  while [ -n "$left" ]; do
    key=${left%"${left#?}"}
    left=${left#?}
    before=$(changes)
    t send-keys -l -- "$key"
    i=0
    until [ "$(changes)" -gt "$before" ]; do
      i=$((i + 1))
      [ $i -lt 6000 ] || fail "the key '$key' changes nothing"
      sleep 0.01
    done
  done
}
# command TEXT: a command line of Helix
command() {
  typed ":$1"
  press Enter
}
# normal: ends insert mode. A key directly after an Escape would be taken for one with Alt.
normal() {
  press Escape
  see ' NOR '
}
# written FILE TEXT: waits until a file that is being written has a text
written() {
  i=0
  until grep -qF -- "$2" "$1"; do
    i=$((i + 1))
    [ $i -lt 1200 ] || fail "$1 does not get '$2': $(cat "$1")"
    sleep 0.05
  done
}
open() { # FILE LINE COLUMN
  command "open $1:$2:$3"
  see "$(basename "$1")"
  see " $2:$3"
}

step=opens
cp "$RELAY_TEST_FILE" "$folder/attention.relay"
printf '%s\n' '#[version = "0.0.5"]' 'def @half(%n: int32)->int32 {' '%n / 2 }' \
  'def @main(%n: int32) -> int32 {' '  /* 🚀 */ let %m=@half(%n);' '  %m + 1' '}' > "$folder/halves.relay"
t new-session -d -x 160 -y 40 env "PATH=$folder:$PATH" "HOME=$folder" COLORTERM=truecolor \
  "$helix" -v --log "$folder/helix.log" "$folder/attention.relay:12:44"
see 'attention.relay'

step=colours
# A word with its own colour ends at an escape sequence.
t capture-pane -p -e | grep -q "def$(printf '\033')" || fail 'the text has no colours'
echo "colours"

step=diagnostics
see '`nn.batch_matmul`: `tensor_a` has 64 features, but `tensor_b` expects 128'
see '(shape-mismatch)'
echo "diagnostic shape-mismatch"

step=hover
open "$folder/attention.relay" 12 35
typed ' k'
see '%queries: Tensor[(12, 128, 64), float32]'
press Escape
gone '%queries: Tensor['
echo "hover"

step=jumps
typed 'gd'
see ' 9:7'
echo "definition"

step=completion
open "$folder/attention.relay" 8 1
changed 'olet %more = nn.batch_m'
# The detail of an entry: nothing else on the screen has the word.
see ' operator'
press Tab
see 'let %more = nn.batch_matmul('
press Escape
normal
command 'write'
written "$folder/attention.relay" 'let %more = nn.batch_matmul('
typed 'x'
changed 'd'
gone 'let %more'
command 'write!'
echo "completion"

step='diagnostics after a change'
open "$folder/attention.relay" 10 1
# Selects the line, the axes in it, and replaces them.
typed 'xs1, 2, 0'
press Enter
changed 'c1, 0, 2'
normal
command 'goto 12'
see 'axes=[1, 0, 2]);'
gone '(shape-mismatch)'
gone '●'
changed 'u'
see '●'
echo "diagnostics follow the text"

step=rename
open "$folder/halves.relay" 5 19
typed ' r'
see 'rename-to:'
press C-u
typed '@halved'
press Enter
see '@halved(%n);'
command 'write'
written "$folder/halves.relay" 'def @halved(%n: int32)'
written "$folder/halves.relay" '/* 🚀 */ let %m=@halved(%n);'
echo "rename"

step=format
command 'format'
see 'let %m = @halved(%n);'
command 'write'
written "$folder/halves.relay" 'def @halved(%n: int32) -> int32 {'
echo "format"

step=quits
command 'quit-all!'
i=0
while t has-session 2> /dev/null; do
  i=$((i + 1))
  [ $i -lt 1200 ] || fail 'Helix does not end'
  sleep 0.05
done
echo OK
