--- The values of the last run at the ends of the lines that bind them.
---
--- The server provides them as inlay hints. If a buffer shows inlay hints, Neovim displays them; otherwise,
--- as by default, this module displays the values only.
local columns = require('relay-analyzer.columns')
local debounce = require('relay-analyzer.debounce')
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.values')
--- The debounce of edits before values are requested again, in milliseconds.
local REST = 200
--- The width of the values of a line in columns: a header can bind hundreds.
local MAX_WIDTH = 72
--- Before other virtual text at the ends of lines, such as diagnostics and lenses.
local PRIORITY = 10

--- The buffers that show values, or are about to.
---@type table<integer, boolean>
local shown = {}

--- Whether Neovim displayed the hints of a buffer, with the values among them, when values were last requested.
---@type table<integer, boolean>
local had_hints = {}

--- The text of a hint, if it is a value: other hints without a kind label closing brackets.
---@param hint lsp.InlayHint
---@return string?
local function value_of(hint)
  local label = hint.label
  return hint.kind == nil and type(label) == 'string' and label:match('^= .*') or nil
end

---@param buffer integer
---@param client vim.lsp.Client
---@param hints lsp.InlayHint[]
local function draw(buffer, client, hints)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  local of_line = {}
  for _, hint in ipairs(hints) do
    local value = value_of(hint)
    local line = value and request.place(client, buffer, hint.position)
    if line and line <= last then
      of_line[line] = of_line[line] or {}
      table.insert(of_line[line], value)
    end
  end
  for line, values in pairs(of_line) do
    vim.api.nvim_buf_set_extmark(buffer, marks, line, 0, {
      virt_text = { { ' ' .. columns.clip(table.concat(values, '  '), MAX_WIDTH), 'relayValue' } },
      virt_text_pos = 'eol',
      hl_mode = 'combine',
      priority = PRIORITY,
    })
  end
end

--- Requests the values of a buffer.
---@param buffer integer
local function ask(buffer)
  local name = require('relay-analyzer').name
  local client = vim.lsp.get_clients({ bufnr = buffer, name = name })[1]
  if not client or not shown[buffer] or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  had_hints[buffer] = vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
  if had_hints[buffer] then
    vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    return
  end
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = {
      start = { line = 0, character = 0 },
      ['end'] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 },
    },
  }
  local changed = vim.api.nvim_buf_get_changedtick(buffer)
  request.send(client, buffer, 'textDocument/inlayHint', params, function(hints)
    local is_same = vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_buf_get_changedtick(buffer) == changed
    if is_same and shown[buffer] and not vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
      draw(buffer, client, type(hints) == 'table' and hints or {})
    end
  end)
end

-- No event tells that hints are switched on or off, but Neovim draws the buffer then.
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('relay-analyzer.values.switch'), {
  on_win = function(_, _, buffer)
    if shown[buffer] and had_hints[buffer] ~= vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
      had_hints[buffer] = not had_hints[buffer]
      vim.schedule(function()
        ask(buffer)
      end)
    end
    return false
  end,
})

--- Makes Neovim request its hints again: before 0.11, it does so only after a change.
---@param buffer integer
local function refresh_hints(buffer)
  if vim.fn.has('nvim-0.11') == 0 and vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
    vim.lsp.inlay_hint.enable(false, { bufnr = buffer })
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
end

--- Shows the values of a run that has ended.
---@param buffer integer
function M.refresh(buffer)
  refresh_hints(buffer)
  if require('relay-analyzer').wants_values() then
    shown[buffer] = true
    ask(buffer)
  end
end

--- Clears the values of a buffer, here and on the server.
---@param buffer integer
function M.clear(buffer)
  shown[buffer] = nil
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local client = request.client(buffer)
  local commands = client and vim.tbl_get(client.server_capabilities, 'executeCommandProvider', 'commands')
  -- Older servers do not support the command, and show values in hints until the next change.
  if client and vim.tbl_contains(commands or {}, 'relay.clearValues') then
    local params = { command = 'relay.clearValues', arguments = { vim.uri_from_bufnr(buffer) } }
    request.send(client, buffer, 'workspace/executeCommand', params, function()
      refresh_hints(buffer)
    end)
  end
end

--- Updates the values of a buffer after edits, which remove outdated ones.
---@param buffer integer
function M.follow(buffer)
  -- The values do not apply to a reloaded file.
  shown[buffer] = nil
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  debounce.on_change('relay-analyzer.values', buffer, REST, function()
    if shown[buffer] then
      ask(buffer)
    end
  end)
end

return M
