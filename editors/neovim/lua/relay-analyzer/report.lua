--- The shape report as lines of text.
local columns = require('relay-analyzer.columns')

local M = {}

--- The maximal widths of a type and of a source, in columns.
local TYPE_WIDTH = 48
local SOURCE_WIDTH = 40
--- The number of results that are live at the peak that are shown with the layers closed.
local PEAK_ROWS = 8

--- The text of an amount in a table, where a zero is a dash.
local function text_of(amount)
  return amount.value == 0 and '-' or amount.text
end

--- The costs of a call: the field of a row, and the title of the column.
---@type { field: string, title: string }[]
M.COSTS = {
  { field = 'macs', title = 'MACs' },
  { field = 'parameters', title = 'parameters' },
  { field = 'bytes', title = 'bytes' },
  { field = 'liveBytes', title = 'live' },
}

local function text(value)
  return type(value) == 'string' and value or ''
end

--- The name of a call: its variable, or its number.
local function name_of(row, at)
  return type(row.binding) == 'string' and row.binding or '#' .. (at - 1)
end

--- The numbers of the rows in display order: that of the text, or by descending cost, with unknown
--- costs first.
local function order(rows, field)
  local numbers = {}
  for at = 1, #rows do
    numbers[at] = at
  end
  if field then
    local function amount(at)
      local found = rows[at][field]
      return type(found.value) == 'number' and found.value or math.huge
    end
    table.sort(numbers, function(a, b)
      local left, right = amount(a), amount(b)
      if left == right then
        return a < b
      end
      return left > right
    end)
  end
  return numbers
end

---@class relay_analyzer.Report
---@field lines string[]
---@field places table<integer, table> the call of a line
---@field heads integer[] the lines that are titles
---@field titles integer[] the lines that name columns

--- Formats the report, with the selected cost next to the operator.
---@param functions table[]
---@param chosen integer the number of the cost among `COSTS`
---@param is_sorted boolean the most expensive call comes first
---@param is_deep boolean the layers inside of others are shown, too
---@return relay_analyzer.Report
function M.render(functions, chosen, is_sorted, is_deep)
  local out = { lines = {}, places = {}, heads = {}, titles = {} }
  local costs = { M.COSTS[chosen] }
  for at, cost in ipairs(M.COSTS) do
    if at ~= chosen then
      table.insert(costs, cost)
    end
  end
  local head = { 'line', 'name', 'operator', costs[1].title, 'output' }
  local right = { [1] = true, [4] = true, [6] = true, [7] = true, [8] = true }
  for at = 2, #costs do
    table.insert(head, costs[at].title)
  end
  table.insert(head, 'source')

  local function add(line)
    table.insert(out.lines, line)
    return #out.lines
  end
  local function groups(what, list)
    if #list > 0 then
      local rows = { { 'by ' .. what, 'calls', 'MACs', 'bytes' } }
      for _, group in ipairs(list) do
        local name = columns.clip(group.name, SOURCE_WIDTH)
        table.insert(rows, { name, tostring(group.count), text_of(group.macs), text_of(group.bytes) })
      end
      add('')
      for at, line in ipairs(columns.aligned(rows, { [2] = true, [3] = true, [4] = true })) do
        add(line)
        if at == 1 then
          table.insert(out.titles, #out.lines)
        end
      end
    end
  end
  local function layers(list)
    local rows = { { 'by layer', 'calls', 'parameters', 'MACs', 'bytes' } }
    local shown = {}
    for at, layer in ipairs(list) do
      if is_deep or layer.depth == 0 then
        local is_closed = not is_deep and list[at + 1] and list[at + 1].depth > layer.depth
        local name = ('  '):rep(layer.depth) .. layer.name .. (is_closed and ' …' or '')
        local costs = { text_of(layer.parameters), text_of(layer.macs), text_of(layer.bytes) }
        table.insert(rows, { columns.clip(name, SOURCE_WIDTH), tostring(layer.count), unpack(costs) })
        table.insert(shown, layer)
      end
    end
    if #shown == 0 then
      return
    end
    add('')
    for at, line in ipairs(columns.aligned(rows, { [2] = true, [3] = true, [4] = true, [5] = true })) do
      add(line)
      if at == 1 then
        table.insert(out.titles, #out.lines)
      else
        out.places[#out.lines] = { range = shown[at - 1].range, is_function = true }
      end
    end
  end
  local function peak(report)
    local live = report.total.peakRows
    local count = is_deep and #live or math.min(#live, PEAK_ROWS)
    if count == 0 then
      return
    end
    local rows = { { 'live at the peak', 'operator', 'bytes', 'output' } }
    for at = 1, count do
      local row = report.rows[live[at] + 1]
      local name = name_of(row, live[at] + 1) .. (at == count and count < #live and ' …' or '')
      table.insert(rows, { name, row.operator, text_of(row.bytes), columns.clip_type(row.type, TYPE_WIDTH) })
    end
    add('')
    for at, line in ipairs(columns.aligned(rows, { [3] = true })) do
      add(line)
      if at == 1 then
        table.insert(out.titles, #out.lines)
      else
        out.places[#out.lines] = report.rows[live[at - 1] + 1]
      end
    end
  end
  local function one(report)
    if #out.lines > 0 then
      add('')
    end
    table.insert(out.heads, add(('%s (line %d)'):format(report.name, report.range.start.line + 1)))
    out.places[#out.lines] = { range = report.range, is_function = true }
    local shown = order(report.rows, is_sorted and costs[1].field or nil)
    local rows = { head }
    for _, at in ipairs(shown) do
      local row = report.rows[at]
      local cells = {
        tostring(row.range.start.line + 1),
        name_of(row, at),
        row.operator,
        text_of(row[costs[1].field]),
        columns.clip_type(row.type, TYPE_WIDTH),
      }
      for cost = 2, #costs do
        table.insert(cells, text_of(row[costs[cost].field]))
      end
      table.insert(cells, columns.clip(text(row.span), SOURCE_WIDTH))
      table.insert(rows, cells)
    end
    for at, line in ipairs(columns.aligned(rows, right)) do
      add(line)
      out.places[#out.lines] = report.rows[shown[at - 1]]
      if at == 1 then
        table.insert(out.titles, #out.lines)
      end
    end
    add(report.total.text)
    for _, unknown in ipairs(report.unknowns) do
      add(('where %s is %s'):format(unknown.name, unknown.what))
    end
    peak(report)
    layers(report.byLayer)
    groups('operator', report.byOperator)
    groups('source', report.bySpan)
    for _, inner in ipairs(report.functions) do
      one(inner)
    end
  end
  for _, report in ipairs(functions) do
    one(report)
  end
  if #out.lines == 0 then
    add('No function of this file has calls.')
  end
  return out
end

return M
