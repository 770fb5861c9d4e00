--- The results of a comparison as ranges in two buffers: pairs of expressions, and changes. The sides are
--- called `before` and `after`, as by the server.
local columns = require('relay-analyzer.columns')
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.diff')
--- The description of each kind, its sign, and the highlight group of the sign. The group of the text has
--- the same name.
local KINDS = {
  changed = { group = 'RelayDiffChanged', sign = '~', sign_group = 'RelayDiffSignChanged' },
  removed = { group = 'RelayDiffRemoved', sign = '-', sign_group = 'RelayDiffSignRemoved' },
  added = { group = 'RelayDiffAdded', sign = '+', sign_group = 'RelayDiffSignAdded' },
  fused = { group = 'RelayDiffFused', sign = '»', sign_group = 'RelayDiffSignMoved' },
  inlined = { group = 'RelayDiffInlined', sign = '»', sign_group = 'RelayDiffSignMoved' },
  folded = { group = 'RelayDiffFolded', sign = '»', sign_group = 'RelayDiffSignMoved' },
  expanded = { group = 'RelayDiffExpanded', sign = '»', sign_group = 'RelayDiffSignMoved' },
}
--- Below syntax highlighting, which stays visible; changes within an expression are above it.
local PRIORITY = 110
--- Above semantic tokens (125 to 127), since removed text is often recognisable only by its colour.
local PRIORITY_LONELY = 130
--- The width of notes at the end of a line, in columns.
local MAX_WIDTH = 72

M.OTHER = { before = 'after', after = 'before' }

---@class relay_analyzer.Change
---@field kind string a key of `KINDS`
---@field before lsp.Range? nil: it has no place there
---@field after lsp.Range?
---@field details { note: string, before: lsp.Range?, after: lsp.Range? }[]

--- A place at which `]c` stops. On the side `without` the expression, it is that of the preceding one.
---@class relay_analyzer.Stop
---@field kind string
---@field before lsp.Range
---@field after lsp.Range
---@field without string?

---@class relay_analyzer.Changes
---@field pairs { before: lsp.Range, after: lsp.Range }[]
---@field changes relay_analyzer.Change[]
---@field stops relay_analyzer.Stop[]

---@param a lsp.Position
---@param b lsp.Position
local function is_before(a, b)
  return a.line < b.line or (a.line == b.line and a.character < b.character)
end

---@param a lsp.Range
---@param b lsp.Range
local function is_same(a, b)
  return not is_before(a.start, b.start)
    and not is_before(b.start, a.start)
    and not is_before(a['end'], b['end'])
    and not is_before(b['end'], a['end'])
end

---@param range lsp.Range
---@param position lsp.Position
local function holds(range, position)
  return not is_before(position, range.start) and is_before(position, range['end'])
end

--- Converts the response to `relay/compare`.
---@param answer table
---@return relay_analyzer.Changes
function M.read(answer)
  local found = { pairs = {}, changes = {}, stops = answer.stops }
  local function add(kind, before, after, details)
    table.insert(found.changes, { kind = kind, before = before, after = after, details = details or {} })
  end
  local function place(range)
    return type(range) == 'table' and range or nil
  end
  for _, compared in ipairs(answer.functions) do
    for _, pair in ipairs(compared.pairs) do
      table.insert(found.pairs, pair)
      if pair.kind ~= 'same' then
        local details = vim.tbl_map(function(change)
          return { note = change.note, before = place(change.before), after = place(change.after) }
        end, pair.changes or {})
        add(pair.kind, pair.before, pair.after, details)
      end
    end
    for _, lost in ipairs(compared.removed) do
      add('removed', lost.range, nil)
    end
    for _, lost in ipairs(compared.added) do
      add('added', nil, lost.range)
    end
  end
  return found
end

--- Marks a range of a buffer.
---@param client vim.lsp.Client
---@param buffer integer
---@param namespace integer
---@param range lsp.Range
---@param options table as in `nvim_buf_set_extmark`
local function mark(client, buffer, namespace, range, options)
  local line, column = request.place(client, buffer, range.start)
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  -- The text may have become shorter since.
  if line <= last then
    options.end_row, options.end_col = request.place(client, buffer, range['end'])
    options.strict = false
    vim.api.nvim_buf_set_extmark(buffer, namespace, line, column, options)
  end
end

--- The note of a line about its changes; added and removed expressions are shown by sign and colour only.
---@param changes relay_analyzer.Change[]
---@param side string
---@return string
local function note(changes, side)
  local texts, lines = {}, {}
  for _, change in ipairs(changes) do
    local partner = change[M.OTHER[side]]
    if change.kind == 'changed' then
      for _, detail in ipairs(change.details) do
        table.insert(texts, detail.note)
      end
    elseif partner then
      lines[change.kind] = lines[change.kind] or {}
      lines[change.kind][partner.start.line + 1] = true
    end
  end
  for kind, numbers in vim.spairs(lines) do
    local sorted = vim.tbl_keys(numbers)
    table.sort(sorted)
    table.insert(texts, ('%s: line%s %s'):format(kind, #sorted > 1 and 's' or '', table.concat(sorted, ', ')))
  end
  return table.concat(texts, '; ')
end

--- Marks the lines with changes, and adds notes.
---@param client vim.lsp.Client
---@param buffer integer
---@param side string
---@param of_line table<integer, relay_analyzer.Change[]>
local function draw_lines(client, buffer, side, of_line)
  local count = vim.api.nvim_buf_line_count(buffer)
  for number, changes in pairs(of_line) do
    if number < count then
      local line = vim.api.nvim_buf_get_lines(buffer, number, number + 1, false)[1]
      local text = columns.clip(note(changes, side), MAX_WIDTH)
      local kind, last = KINDS[changes[1].kind], changes[1][side]['end']
      for _, change in ipairs(changes) do
        last = is_before(last, change[side]['end']) and change[side]['end'] or last
      end
      -- Printed comments extend past the window, where a note after them would be invisible.
      local _, column = request.place(client, buffer, last)
      local comment = last.line == number and line:find('/*', column + 1, true)
      vim.api.nvim_buf_set_extmark(buffer, marks, number, comment and comment - 1 or 0, {
        sign_text = kind.sign,
        sign_hl_group = kind.sign_group,
        virt_text = text ~= '' and { { comment and text .. ' ' or ' ' .. text, 'RelayDiffNote' } } or nil,
        virt_text_pos = comment and 'inline' or 'eol',
        priority = PRIORITY,
      })
    end
  end
end

--- Marks the changes on one side of a comparison.
---@param client vim.lsp.Client
---@param buffer integer
---@param side string
---@param found relay_analyzer.Changes
function M.draw(client, buffer, side, found)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local of_line = {}
  for _, change in ipairs(found.changes) do
    local range = change[side]
    if range then
      local kind = KINDS[change.kind]
      mark(client, buffer, marks, range, {
        hl_group = kind.group,
        priority = change[M.OTHER[side]] and PRIORITY or PRIORITY_LONELY,
      })
      for _, detail in ipairs(change.details) do
        if detail[side] then
          mark(client, buffer, marks, detail[side], { hl_group = 'RelayDiffText', priority = PRIORITY + 1 })
        end
      end
      of_line[range.start.line] = of_line[range.start.line] or {}
      table.insert(of_line[range.start.line], change)
    end
  end
  draw_lines(client, buffer, side, of_line)
end

--- Removes the marks of a comparison.
---@param buffer integer
function M.clear(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
end

--- The partners of the innermost expression at a position, or of the first one that starts in its line.
--- There may be several, as when many expressions became one.
---@param found relay_analyzer.Changes
---@param side string
---@param position lsp.Position
---@return lsp.Range[] partners on the other side
function M.partners(found, side, position)
  local inner, first
  local function look(range)
    local is_inner = not inner or is_before(inner.start, range.start) or is_before(range['end'], inner['end'])
    if is_inner and holds(range, position) then
      inner = range
    end
    if range.start.line == position.line and (not first or is_before(range.start, first.start)) then
      first = range
    end
  end
  for _, pair in ipairs(found.pairs) do
    look(pair[side])
  end
  -- An expression without a partner does not get those of its parent.
  for _, change in ipairs(found.changes) do
    if change[side] and not change[M.OTHER[side]] then
      look(change[side])
    end
  end
  local chosen = inner or first
  local partners = {}
  for _, pair in ipairs(found.pairs) do
    if chosen and is_same(pair[side], chosen) then
      table.insert(partners, pair[M.OTHER[side]])
    end
  end
  table.sort(partners, function(a, b)
    return is_before(a.start, b.start)
  end)
  return partners
end

--- The innermost of some pairs whose expression on a side holds a position, or the first one that starts in its line.
---@generic T
---@param list T[]
---@param side string
---@param position lsp.Position
---@return T?
function M.innermost(list, side, position)
  local inner, first
  for _, pair in ipairs(list) do
    local range = pair[side]
    if holds(range, position) and (not inner or is_before(inner[side].start, range.start)) then
      inner = pair
    end
    if range.start.line == position.line and (not first or is_before(range.start, first[side].start)) then
      first = pair
    end
  end
  return inner or first
end

--- Underlines partners.
---@param client vim.lsp.Client
---@param buffer integer
---@param namespace integer
---@param ranges lsp.Range[]
function M.outline(client, buffer, namespace, ranges)
  for _, range in ipairs(ranges) do
    mark(client, buffer, namespace, range, { hl_group = 'RelayDiffPartner', priority = PRIORITY + 2 })
  end
end

--- The stops before or after a position, nearest first.
---@param found relay_analyzer.Changes
---@param side string
---@param position lsp.Position
---@param step integer 1 or -1
---@return relay_analyzer.Stop[]
function M.stops_from(found, side, position, step)
  local ahead = vim.tbl_filter(function(stop)
    local start = stop[side].start
    return step > 0 and is_before(position, start) or step < 0 and is_before(start, position)
  end, found.stops)
  table.sort(ahead, function(a, b)
    local first, second = a[side].start, b[side].start
    if step < 0 then
      first, second = second, first
    end
    return is_before(first, second)
  end)
  return ahead
end

return M
