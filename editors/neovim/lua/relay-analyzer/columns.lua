--- Tables as text.
local M = {}

--- Lines of a table, each column as wide as it must be.
---@param rows string[][]
---@param right? table<integer, boolean> the columns of numbers
---@return string[]
function M.aligned(rows, right)
  local widths = {}
  for _, row in ipairs(rows) do
    for at, cell in ipairs(row) do
      widths[at] = math.max(widths[at] or 0, vim.api.nvim_strwidth(cell))
    end
  end
  return vim.tbl_map(function(row)
    local cells = {}
    for at, cell in ipairs(row) do
      local space = (' '):rep(widths[at] - vim.api.nvim_strwidth(cell))
      cells[at] = right and right[at] and space .. cell or cell .. space
    end
    return '  ' .. (table.concat(cells, '  '):gsub('%s+$', ''))
  end, rows)
end

return M
