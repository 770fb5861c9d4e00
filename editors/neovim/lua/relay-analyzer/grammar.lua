--- The tree-sitter grammar: compiles the parser and enables highlighting with it.
local M = {}

--- Longer lines are highlighted by `syntax/relay.vim`, which stops at 'synmaxcol': the tree-sitter highlighter
--- processes the whole line for each part that is redrawn.
local LONGEST_LINE = 50000
local LONGEST_FILE = 16 * 1024 * 1024

--- The folder of this plugin, with links resolved.
local function plugin()
  local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
  return vim.uv.fs_realpath(here .. '/../..') or here
end

--- The path for the parser, which is on the default runtimepath.
local function target()
  return vim.fn.stdpath('data') .. '/site/parser/relay.so'
end

--- Returns true if there is a parser that Neovim can load.
---@return boolean
function M.is_installed()
  -- Loaded by path if it is ours, since its folder may not be on the runtimepath.
  local ours = vim.uv.fs_stat(target()) and { path = target() } or nil
  local ok, added = pcall(vim.treesitter.language.add, 'relay', ours)
  -- 0.10 returns nothing, and raises an error if there is no parser.
  return ok and (added == true or vim.fn.has('nvim-0.11') == 0)
end

local function has_long_line(buffer)
  local from = vim.api.nvim_buf_get_offset(buffer, 0)
  for line = 1, vim.api.nvim_buf_line_count(buffer) do
    local to = vim.api.nvim_buf_get_offset(buffer, line)
    if to - from > LONGEST_LINE then
      return true
    end
    from = to
  end
  return false
end

--- Enables highlighting with the grammar, if it is installed and `vim.g.relay_treesitter` is not false.
---@param buffer integer
function M.start(buffer)
  if vim.g.relay_treesitter == false or vim.g.relay_treesitter == 0 or not M.is_installed() then
    return
  end
  local lines = vim.api.nvim_buf_line_count(buffer)
  if vim.api.nvim_buf_get_offset(buffer, lines) <= LONGEST_FILE and not has_long_line(buffer) then
    vim.treesitter.start(buffer, 'relay')
  end
end

--- Compiles the parser with the C compiler `$CC` or `cc`.
---@return boolean installed, string message
function M.install()
  -- In the package of a release, the grammar is in the plugin; in a clone, beside it.
  local places = { plugin() .. '/tree-sitter/src', vim.fs.normalize(plugin() .. '/../tree-sitter/src') }
  local source = vim.iter(places):find(function(place)
    return vim.uv.fs_stat(place .. '/parser.c') ~= nil
  end)
  if not source then
    local text = 'there is no grammar at `%s`: take the plugin from a release or from a clone'
    return false, text:format(table.concat(places, '` or `'))
  end
  local compiler = vim.env.CC or 'cc'
  if vim.fn.executable(compiler) == 0 then
    return false, ('there is no C compiler `%s`; `$CC` names another'):format(compiler)
  end
  vim.fn.mkdir(vim.fs.dirname(target()), 'p')
  -- Compiled under another name first, because a loaded parser must not change.
  local new = target() .. '.new'
  local ran = vim
    .system({
      compiler,
      '-std=c11',
      '-O2',
      '-shared',
      '-fPIC',
      '-I' .. source,
      source .. '/parser.c',
      source .. '/scanner.c',
      '-o',
      new,
    }, { text = true })
    :wait()
  if ran.code ~= 0 then
    return false, ('`%s` fails: %s'):format(compiler, vim.trim(ran.stderr or ''))
  end
  local renamed, problem = vim.uv.fs_rename(new, target())
  if not renamed then
    return false, problem or 'the parser cannot be installed'
  end
  return true, ('the parser is at `%s`'):format(target())
end

--- `:RelayInstallGrammar`
function M.command()
  local installed, message = M.install()
  vim.notify('relay-analyzer: ' .. message, installed and vim.log.levels.INFO or vim.log.levels.ERROR)
  for _, buffer in ipairs(installed and vim.api.nvim_list_bufs() or {}) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == 'relay' then
      M.start(buffer)
    end
  end
end

return M
