--- `:RelayExplain`: explains a diagnostic, with examples.
local window = require('relay-analyzer.window')

local M = {}

local NAME = 'relay://explain'

--- The most severe diagnostic under the cursor, or of its line, or nil.
---@return vim.Diagnostic?
local function under_cursor()
  local line, column = unpack(vim.api.nvim_win_get_cursor(0))
  line = line - 1
  local best, best_is_under
  for _, found in ipairs(vim.diagnostic.get(0)) do
    local from, to = { found.lnum, found.col }, { found.end_lnum, found.end_col }
    local is_in_line = from[1] <= line and line <= to[1]
    if found.source == 'relay' and type(found.code) == 'string' and is_in_line then
      local is_under = (from[1] < line or from[2] <= column) and (line < to[1] or column < to[2])
      local is_worse = not best or found.severity < best.severity
      if not best or (is_under and not best_is_under) or (is_under == best_is_under and is_worse) then
        best, best_is_under = found, is_under
      end
    end
  end
  return best
end

--- The URL of the page about a diagnostic, if the server provides it.
---@param found vim.Diagnostic?
---@return string?
local function address(found)
  local lsp = found and found.user_data and found.user_data.lsp
  local description = lsp and lsp.codeDescription
  return type(description) == 'table' and description.href or nil
end

---@param arguments string[]
---@return vim.SystemCompleted?
local function ask(arguments)
  local relay = require('relay-analyzer')
  if not relay.is_installed() then
    relay.tell_missing()
    return nil
  end
  local command = vim.list_extend({ relay.cmd()[1], 'explain' }, arguments)
  return vim.system(command, { text = true, timeout = 10000 }):wait()
end

--- Explains a code, or the diagnostic under the cursor.
---@param code? string
function M.show(code)
  local found = not code and under_cursor() or nil
  if not code and not found then
    vim.notify('relay-analyzer: there is no diagnostic on this line', vim.log.levels.WARN)
    return
  end
  local ran = ask({ code or found.code })
  if not ran then
    return
  end
  if ran.code ~= 0 then
    local problem = vim.trim(ran.stderr or ''):gsub('^error: ', '')
    vim.notify('relay-analyzer: ' .. problem, vim.log.levels.WARN)
    return
  end
  local lines = vim.split(vim.trim(ran.stdout), '\n')
  local href = address(found)
  if href then
    vim.list_extend(lines, { '', href })
  end
  local buffer = vim.fn.bufnr('^' .. NAME .. '$')
  if buffer < 0 then
    buffer = window.buffer({ name = NAME, filetype = 'relay-explain' })
  end
  local shown = vim.fn.bufwinid(buffer)
  window.write(buffer, lines)
  if shown < 0 then
    shown = window.open(buffer, { split = 'botright' }, window.height(#lines))
    vim.wo[shown][0].wrap = true
    vim.wo[shown][0].linebreak = true
  end
  vim.api.nvim_set_current_win(shown)
  vim.api.nvim_win_set_cursor(shown, { 1, 0 })
end

--- Completes the codes of `:RelayExplain`.
---@param lead string
---@return string[]
function M.complete(lead)
  local ran = ask({})
  local codes = {}
  for code in (ran and ran.stdout or ''):gmatch('([^\n]+)') do
    code = code:match('^%S+')
    if code and vim.startswith(code, lead) then
      table.insert(codes, code)
    end
  end
  return codes
end

return M
