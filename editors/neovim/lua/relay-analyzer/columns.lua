--- Text tables.
local M = {}

--- The display width of a text. Fast path: most cells are ASCII, and there may be hundreds of thousands
--- of them.
---@param text string
---@return integer
local function width(text)
  return text:find('[\128-\255]') and vim.api.nvim_strwidth(text) or #text
end

--- Truncates a text to a number of columns, with `…` at its end.
---@param text string
---@param most integer
---@return string
function M.clip(text, most)
  if width(text) <= most then
    return text
  elseif text:find('[\128-\255]') then
    local cut = vim.fn.strcharpart(text, 0, most - 1)
    while vim.api.nvim_strwidth(cut) > most - 1 do
      cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - 1)
    end
    return cut .. '…'
  end
  return text:sub(1, most - 1) .. '…'
end

--- The fields of a tuple type: `(A, (B, C))` has two. For other types, the type itself.
---@param text string
---@return string[]
function M.fields(text)
  if not text:find('^%(.*%)$') then
    return { text }
  end
  local found, depth, from = {}, 0, 2
  for at = 2, #text - 1 do
    local letter = text:byte(at)
    if letter == 0x28 or letter == 0x5B then -- ( [
      depth = depth + 1
    elseif letter == 0x29 or letter == 0x5D then -- ) ]
      depth = depth - 1
    elseif letter == 0x2C and depth == 0 then -- ,
      table.insert(found, text:sub(from, at - 1))
      from = at + 2
    end
  end
  -- A tuple of one field ends with a comma.
  if from < #text then
    table.insert(found, text:sub(from, #text - 1))
  end
  return found
end

--- Truncates a type to a number of columns. A tuple keeps whole fields: `(Tensor[(2, 3), float32], … 11 more)`.
---@param text string
---@param most integer
---@return string
function M.clip_type(text, most)
  if #text <= most then
    return text
  end
  local all = M.fields(text)
  local kept, taken = {}, 0
  for at, field in ipairs(all) do
    local rest = at < #all and #(', … %d more'):format(#all - at) - 2 or 0
    taken = taken + #field + 2
    if taken + rest > most then
      break
    end
    table.insert(kept, field)
  end
  if #kept == 0 then
    return M.clip(text, most)
  end
  return ('(%s, … %d more)'):format(table.concat(kept, ', '), #all - #kept)
end

--- The lines of a table with aligned columns.
---@param rows string[][]
---@param right? table<integer, boolean> the columns of numbers
---@return string[]
function M.aligned(rows, right)
  local widths = {}
  for _, row in ipairs(rows) do
    for at, cell in ipairs(row) do
      widths[at] = math.max(widths[at] or 0, width(cell))
    end
  end
  return vim.tbl_map(function(row)
    local cells = {}
    for at, cell in ipairs(row) do
      local space = (' '):rep(widths[at] - width(cell))
      cells[at] = right and right[at] and space .. cell or cell .. space
    end
    return '  ' .. (table.concat(cells, '  '):gsub('%s+$', ''))
  end, rows)
end

return M
