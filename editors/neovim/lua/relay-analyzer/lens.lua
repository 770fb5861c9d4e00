--- Lenses above definitions, kept in step with the text. Neovim 0.12 does that by itself once it is
--- told to; before it, a lens is asked for each time.
local debounce = require('relay-analyzer.debounce')

local M = {}

--- How long the text must rest before lenses are asked for anew, in milliseconds.
local REST = 300

local function has_enable()
  return vim.lsp.codelens.enable ~= nil
end

--- Asks for the lenses of a buffer, or of all that a server has, anew.
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

--- Shows the lenses of a buffer from now on.
---@param buffer integer
function M.follow(buffer)
  -- Nothing is run in a document of ours: it is a part of a file, or what a file once was.
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
