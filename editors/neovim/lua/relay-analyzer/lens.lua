--- Refreshes code lenses after edits. Neovim 0.12 does this itself once enabled; before it, each refresh is
--- explicit.
local debounce = require('relay-analyzer.debounce')

local M = {}

--- The debounce of edits before lenses are refreshed, in milliseconds.
local REST = 300

local function has_enable()
  return vim.lsp.codelens.enable ~= nil
end

--- Refreshes the lenses of a buffer, or of all buffers of a server.
---@param buffer integer
function M.refresh(buffer)
  local relay = require('relay-analyzer')
  if not relay.wants_lenses() or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local client = vim.lsp.get_clients({ bufnr = buffer, name = relay.name })[1]
  if not client then
    return
  end
  if has_enable() then
    vim.lsp.codelens.on_refresh(nil, nil, { client_id = client.id, method = 'workspace/codeLens/refresh' })
  else
    vim.lsp.codelens.refresh({ bufnr = buffer })
  end
end

--- Enables the lenses of a buffer.
---@param buffer integer
function M.follow(buffer)
  -- The plugin's own buffers show parts or old versions of files, in which nothing can run.
  if not require('relay-analyzer').wants_lenses() or require('relay-analyzer.modules').is_ours(buffer) then
    return
  end
  if has_enable() then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  vim.lsp.codelens.refresh({ bufnr = buffer })
  debounce.on_change('relay-analyzer.lens', buffer, REST, function()
    M.refresh(buffer)
  end)
end

return M
