--- The shape report as lines of text.
local columns = require('relay-analyzer.columns')

local M = {}

--- The maximal widths of a type and of a source, in columns.
local TYPE_WIDTH = 48
local SOURCE_WIDTH = 40

--- Formats a number of the report, which is a table with a text if dimensions are unknown.
local function count(amount)
  if type(amount) == 'table' then
    return amount.text
  elseif amount == 0 then
    return '-'
  end
  local digits = ('%.0f'):format(amount)
  return (digits:reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', ''))
end

local function memory(amount)
  if type(amount) == 'table' then
    return amount.text .. ' bytes'
  elseif amount == 0 then
    return '-'
  end
  for _, unit in ipairs({ 'bytes', 'KiB', 'MiB', 'GiB' }) do
    if amount < 1024 then
      return (unit == 'bytes' and '%d %s' or '%.1f %s'):format(amount, unit)
    end
    amount = amount / 1024
  end
  return ('%.1f TiB'):format(amount)
end

--- `no calls`, `1 call`, `2,000 calls`
local function many(amount, what)
  local number = amount == 0 and 'no' or count(amount)
  return ('%s %s%s'):format(number, what, amount == 1 and '' or 's')
end

--- The costs of a call: the field of a row, the title of the column, and a formatter.
---@type { field: string, title: string, text: fun(amount: number|table): string }[]
M.COSTS = {
  { field = 'macs', title = 'MACs', text = count },
  { field = 'parameters', title = 'parameters', text = count },
  { field = 'bytes', title = 'bytes', text = memory },
  { field = 'liveBytes', title = 'live', text = memory },
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
      return type(found) == 'table' and math.huge or found
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
---@return relay_analyzer.Report
function M.render(functions, chosen, is_sorted)
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
        table.insert(rows, { name, count(group.count), count(group.macs), memory(group.bytes) })
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
        costs[1].text(row[costs[1].field]),
        columns.clip_type(row.type, TYPE_WIDTH),
      }
      for cost = 2, #costs do
        table.insert(cells, costs[cost].text(row[costs[cost].field]))
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
    local total = report.total
    local peak = type(total.peakRow) == 'number'
        and ('; peak memory %s at %s'):format(
          memory(total.peakBytes),
          name_of(report.rows[total.peakRow + 1], total.peakRow + 1)
        )
      or ''
    local parameters = many(total.parameters, 'parameter')
    local bytes = total.parameters == 0 and '' or (' (%s)'):format(memory(total.parameterBytes))
    local macs, calls = many(total.macs, 'MAC'), many(total.calls, 'call')
    add(('%s%s, %s, %s%s'):format(parameters, bytes, macs, calls, peak))
    for _, unknown in ipairs(report.unknowns) do
      add(('where %s is %s'):format(unknown.name, unknown.what))
    end
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
