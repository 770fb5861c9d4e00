--- The command of the lens with references: fills the quickfix list.
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

--- `arguments`: the URI, the position of the definition, and the locations from the server.
---@param arguments any[]
---@param buffer integer
function M.show(arguments, buffer)
  local client = request.client(buffer)
  local places = arguments[3]
  if not client or type(places) ~= 'table' then
    return
  end
  local items = vim.lsp.util.locations_to_items(places, client.offset_encoding)
  vim.fn.setqflist({}, ' ', { title = 'References', items = items })
  vim.cmd('botright copen ' .. math.max(math.min(#items, 10), 3))
  window.map(vim.api.nvim_get_current_buf())
end

return M
