--- What the values of the last run were like, at the ends of the lines that bind them.
---
--- The server tells of them in inlay hints. Where a buffer shows those, Neovim does it all; where it
--- does not, which is its default, the values are shown here and nothing else is.
local columns = require('relay-analyzer.columns')
local debounce = require('relay-analyzer.debounce')
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.values')
--- How long the text must rest before values are asked for anew, in milliseconds.
local REST = 200
--- The columns that the values of a line may take: a header binds hundreds.
local MOST = 72
--- In front of what else is at the ends of lines, such as diagnostics and lenses.
local PRIORITY = 10

--- Buffers that show values, or are about to.
---@type table<integer, boolean>
local shown = {}

--- The text of a hint, if it is a value: other hints of no kind name what a bracket closes.
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
      virt_text = { { ' ' .. columns.clip(table.concat(values, '  '), MOST), 'relayValue' } },
      virt_text_pos = 'eol',
      hl_mode = 'combine',
      priority = PRIORITY,
    })
  end
end

--- Asks for the values of a buffer.
---@param buffer integer
local function ask(buffer)
  local name = require('relay-analyzer').name
  local client = vim.lsp.get_clients({ bufnr = buffer, name = name })[1]
  if not client or not shown[buffer] or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  elseif vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
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
    if is_same and shown[buffer] then
      draw(buffer, client, type(hints) == 'table' and hints or {})
    end
  end)
end

--- Has Neovim ask for its hints again: before 0.11, it does so with the next change only.
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

--- Takes the values of a buffer away, here and at the server.
---@param buffer integer
function M.clear(buffer)
  shown[buffer] = nil
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local client = request.client(buffer)
  local commands = client and vim.tbl_get(client.server_capabilities, 'executeCommandProvider', 'commands')
  -- A server of an earlier version does not know it, and shows values in hints until the next change.
  if client and vim.tbl_contains(commands or {}, 'relay.clearValues') then
    local params = { command = 'relay.clearValues', arguments = { vim.uri_from_bufnr(buffer) } }
    request.send(client, buffer, 'workspace/executeCommand', params, function()
      refresh_hints(buffer)
    end)
  end
end

--- Keeps the values of a buffer in step with its text: those that it does not hold any more go.
---@param buffer integer
function M.follow(buffer)
  -- What was read anew was not run.
  shown[buffer] = nil
  debounce.on_change('relay-analyzer.values', buffer, REST, function()
    if shown[buffer] then
      ask(buffer)
    end
  end)
end

return M
