#!/bin/sh
# Neovim in a terminal with the plugin, but without a server.
#
#   alone.sh NVIM FOLDER FILE
#
# FOLDER is an empty home.
#
# RELAY_EDITORS: where .ci/install-editors installed tmux
set -eu
here=$(cd "$(dirname "$0")/../../.." && pwd)
nvim=$1 folder=$(cd "$2" && pwd) file=$3
tmux=$RELAY_EDITORS/tmux/usr/bin/tmux

# The path of a socket must be short.
sockets=$(mktemp -d)
t() { TMUX_TMPDIR=$sockets LC_ALL=C.UTF-8 "$tmux" -f /dev/null "$@"; }
finish() {
  t kill-server 2> /dev/null || :
  rm -rf "$sockets"
}
trap finish EXIT
trap 'exit 1' INT TERM

# see TEXT: waits until the screen has it
see() {
  i=0
  until t capture-pane -p | grep -qF -- "$1"; do
    i=$((i + 1))
    [ $i -lt 1200 ] || { echo "FAILED: '$1' does not appear"; t capture-pane -p; exit 1; }
    sleep 0.05
  done
}

mkdir -p "$folder/pack/relay/start"
ln -sfn "$here/editors/neovim" "$folder/pack/relay/start/relay-analyzer"
start() {
  t new-session -d -x 120 -y 40 env -i "PATH=/usr/bin:/bin" "HOME=$folder" TERM=tmux-256color LC_ALL=C.UTF-8 \
    "$nvim" --clean --cmd "set packpath^=$folder" "$@"
}
quit() {
  t send-keys Escape ':qall!' Enter
  i=0
  while t has-session 2> /dev/null; do
    i=$((i + 1))
    [ $i -lt 1200 ] || { echo 'FAILED: Neovim does not end'; t capture-pane -p; exit 1; }
    sleep 0.05
  done
}
message='relay-analyzer: there is no program `relay-analyzer`. `:checkhealth relay-analyzer` says what to do.'

# With a file on the command line, before any key.
start "$file"
see '#[version'
see "$message"
echo 'said at once'
# It is displayed only once.
t send-keys ':edit' Enter
t send-keys ":lua =select(2, vim.fn.execute('messages'):gsub('there is no program', '')) == 1" Enter
see 'true'
t send-keys ':lua =vim.b.current_syntax' Enter
see 'relay'
t send-keys ':checkhealth relay-analyzer' Enter
see 'ERROR'
quit

# With a file that is opened later.
start
see '[No Name]'
t send-keys ":edit $file" Enter
see "$message"
echo 'said for a file that is opened later'
quit
echo OK
