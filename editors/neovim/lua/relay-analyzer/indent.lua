local M = {}

--- The indentation of a line, from the line above it: one step more after an open bracket, one
--- less in front of a closing one. Only the ends of lines are looked at, which may be very long.
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
