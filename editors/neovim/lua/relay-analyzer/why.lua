--- `:RelayWhy`: the origin of each size of the shape under the cursor.
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

--- Fills the location list with the steps from the origin of each size, axis by axis, and
--- opens it, like `:lopen`.
function M.show()
  local buffer, from = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local client = request.client(buffer)
  if not client then
    return
  end
  local params = vim.lsp.util.make_position_params(from, client.offset_encoding)
  request.send(client, buffer, 'relay/whyShape', params, function(why)
    if not why or why == vim.NIL then
      vim.notify('relay-analyzer: there is no tensor under the cursor')
      return
    end
    local items = {}
    for _, dimension in ipairs(why.dimensions) do
      local field = type(dimension.field) == 'number' and ('field %d, '):format(dimension.field) or ''
      for _, step in ipairs(dimension.steps) do
        local range = step.location.range
        local line, column = request.place(client, buffer, range.start)
        local end_line, end_column = request.place(client, buffer, range['end'])
        table.insert(items, {
          bufnr = buffer,
          lnum = line + 1,
          col = column + 1,
          end_lnum = end_line + 1,
          end_col = end_column + 1,
          text = ('%saxis %d is %s: %s'):format(field, dimension.axis, dimension.size, step.message),
        })
      end
    end
    local title = ('Why %s: %s'):format(why.expression, why.type)
    if #items == 0 then
      vim.notify(title .. ' has no axes')
    elseif vim.api.nvim_win_is_valid(from) then
      vim.fn.setloclist(from, {}, ' ', { title = title, items = items })
      vim.api.nvim_set_current_win(from)
      vim.cmd('lopen ' .. math.min(#items, 10))
      window.map(vim.api.nvim_get_current_buf())
    end
  end)
end

return M
