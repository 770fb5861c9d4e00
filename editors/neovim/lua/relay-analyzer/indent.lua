local M = {}

--- The indentation of a line: one level deeper than the line above after an open bracket, one level less
--- before a closing one. Only the ends of lines are inspected, since lines may be very long.
---@param number integer
---@return integer
function M.of(number)
  local above = vim.fn.prevnonblank(number - 1)
  if above == 0 then
    return 0
  end
  local width = vim.fn.indent(above)
  local text = vim.fn.getline(above)
  local tail = text:sub(-200):gsub('//.*$', ''):gsub('%s+$', '')
  if tail:find('[{(%[]$') then
    width = width + vim.fn.shiftwidth()
  end
  if vim.fn.getline(number):find('^%s*[})%]]') then
    width = width - vim.fn.shiftwidth()
  end
  return math.max(width, 0)
end

return M
