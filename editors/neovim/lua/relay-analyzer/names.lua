local M = {}

-- A name of the language, as the server parses it: `%aten::linear_3.bias`, `@main`, `nn.conv2d`.
local NAME = [[\v[%@]?\a(\w|/)*(((\.|::)\d+)*(\.|::)\d*\a(\w|/)*)*|\%\d+]]
-- The maximal distance from the start of a name to the cursor: lines reach 180,000 characters.
local REACH = 500

--- The name at a position of a line (both from 0), or nil.
---@param line string
---@param column integer
---@return string?
function M.at(line, column)
  local start = math.max(column - REACH, 0)
  while true do
    local name, from, to = unpack(vim.fn.matchstrpos(line, NAME, start))
    if from < 0 or from > column then
      return nil
    elseif column < to then
      return name
    end
    start = to
  end
end

--- Searches like `*` and `#`, for whole names.
---@param key string the key, for other words
---@param flags string of `search()`
function M.search(key, flags)
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local name = M.at(vim.api.nvim_get_current_line(), column)
  if not name then
    pcall(vim.cmd.normal, { vim.v.count1 .. key, bang = true })
    return
  end
  -- Not inside a longer name: `%x` is not in `%x.1`, nor in `%x::y`.
  local pattern = [[\V\C\%([%@.:/]\|\w\)\@1<!]]
    .. vim.fn.escape(name, [[\]])
    .. [[\%(\w\|/\w\|.\w\|::\w\)\@!]]
  vim.fn.setreg('/', pattern)
  vim.fn.histadd('search', pattern)
  for _ = 1, vim.v.count1 do
    vim.fn.search(pattern, flags .. 's')
  end
  vim.v.hlsearch = 1
end

return M
