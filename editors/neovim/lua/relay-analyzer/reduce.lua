--- `:RelayReduce`: the smallest module that still has the diagnostic at the cursor.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

--- Cancels the reduction in progress.
---@type fun()?
local stop

--- Shows a text in a new buffer without a file, which the server analyses, too.
---@param client vim.lsp.Client
---@param text string
local function show(client, text)
  vim.cmd.new()
  local buffer = vim.api.nvim_get_current_buf()
  -- Documents are told apart by their names, and Neovim attaches no server to a buffer without a file.
  vim.api.nvim_buf_set_name(buffer, ('%s/%d.relay'):format(modules.REDUCED_SCHEME, buffer))
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, modules.lines(vim.trim(text)))
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  modules.attach(client, buffer)
end

--- Reduces to the diagnostic at a position of the protocol.
---@param buffer integer
---@param target { uri: string, position: lsp.Position, code: string? }
local function reduce(buffer, target)
  local client = request.client(buffer)
  if not client then
    return
  end
  M.cancel()
  vim.notify('relay-analyzer: reducing; `:RelayReduce!` cancels it')
  local params = { command = 'relay.reduce', arguments = { target } }
  stop = request.start(client, buffer, 'workspace/executeCommand', params, function(problem, result)
    stop = nil
    if problem then
      vim.notify('relay-analyzer: ' .. problem.message, vim.log.levels.ERROR)
    elseif result then
      show(client, result.text)
      vim.notify(('relay-analyzer: reduced from %d to %d bindings'):format(result.bindings[1], result.bindings[2]))
    end
  end)
end

--- Cancels the reduction in progress. Returns true if there is one.
---@return boolean
function M.cancel()
  if not stop then
    return false
  end
  stop()
  stop = nil
  return true
end

--- `:RelayReduce[!]`
---@param call { bang: boolean }
function M.command(call)
  if call.bang then
    vim.notify('relay-analyzer: ' .. (M.cancel() and 'the reduction was cancelled' or 'nothing is being reduced'))
    return
  end
  local buffer = vim.api.nvim_get_current_buf()
  local client = request.client(buffer)
  if client then
    local at = vim.lsp.util.make_position_params(0, client.offset_encoding)
    reduce(buffer, { uri = at.textDocument.uri, position = at.position })
  end
end

--- Runs the command of a code action.
---@param arguments [string, lsp.Position, string]
---@param buffer integer
function M.execute(arguments, buffer)
  reduce(buffer, { uri = arguments[1], position = arguments[2], code = arguments[3] })
end

return M
