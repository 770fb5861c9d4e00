--- `:RelayType`: the type under the cursor in a buffer that follows it.
local columns = require('relay-analyzer.columns')
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.type')
--- The debounce of cursor moves before a request, in milliseconds.
local REST = 80
local NAME = 'relay://type'

--- The open view, or nil: its buffer, the targets of its lines, and the number of requests.
---@type { buffer: integer, group: integer, timer: uv.uv_timer_t, places: table<integer, table>, asked: integer }?
local view

local function text(value)
  return type(value) == 'string' and value or nil
end

--- How many bars a histogram has, and how many lines high it is.
local BARS, LINES = 32, 5
local BLOCKS = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }

--- The picture of a histogram as lines of block characters, with the ends of the range below.
---@param distribution table
---@return string[]
function M.picture(distribution)
  local counts, most = {}, 1
  local each = math.max(1, math.floor(#distribution.histogram / BARS))
  for at, count in ipairs(distribution.histogram) do
    local bar = math.ceil(at / each)
    counts[bar] = (counts[bar] or 0) + count
    most = math.max(most, counts[bar])
  end
  local lines = {}
  for row = LINES, 1, -1 do
    local line = {}
    for bar, count in ipairs(counts) do
      -- The least count that is there is seen.
      local height = count == 0 and 0 or math.max(1, math.floor(count / most * LINES * #BLOCKS + 0.5))
      local part = math.min(#BLOCKS, height - (row - 1) * #BLOCKS)
      line[bar] = part <= 0 and ' ' or BLOCKS[part]
    end
    table.insert(lines, (table.concat(line):gsub(' +$', '')))
  end
  local low, high = distribution.low, distribution.high
  table.insert(lines, ('‾'):rep(#counts))
  table.insert(lines, low .. (' '):rep(math.max(1, #counts - #low - #high)) .. high)
  return lines
end

--- The answer of the server as lines; `places` has what a line leads to, `heads` the titles, `code`
--- the lines of the type, `bars` those of a histogram.
---@param info table
---@return { lines: string[], places: table<integer, table>, heads: integer[], code: integer[], bars: integer[] }
function M.render(info)
  local out = { lines = {}, places = {}, heads = {}, code = {}, bars = {} }
  local function add(line, place)
    table.insert(out.lines, line)
    out.places[#out.lines] = place
    return #out.lines
  end
  local function head(title)
    add('')
    table.insert(out.heads, add(title))
  end
  table.insert(out.heads, add(('%s (%s)'):format(info.source, info.kind)))
  for _, line in ipairs(info.type) do
    table.insert(out.code, add('  ' .. line))
  end
  if type(info.elements) == 'table' then
    head('Elements')
    if type(info.elements.distribution) == 'table' then
      for _, line in ipairs(M.picture(info.elements.distribution)) do
        table.insert(out.bars, add('  ' .. line))
      end
    end
    if info.elements.facts ~= '' then
      add('  ' .. info.elements.facts)
    end
    add('  ' .. info.elements.first)
  end
  for _, tensor in ipairs(info.tensors) do
    if #tensor.dimensions > 0 then
      local amount = text(tensor.amount)
      head((tensor.part == '' and 'Dimensions' or tensor.part .. ': ' .. tensor.type) .. (amount and ', ' .. amount or ''))
      local rows, places = {}, {}
      for at, axis in ipairs(tensor.dimensions) do
        local source = type(axis.source) == 'table' and axis.source
        local origin = type(axis.origin) == 'table' and axis.origin
        local from = source and '← ' .. source.message or ''
        rows[at] = { tostring(axis.axis), text(axis.letter) or '', axis.size, from .. (origin and ' ← ' .. origin.message or '') }
        places[at] = source and source.location or nil
      end
      for at, line in ipairs(columns.aligned(rows)) do
        add(line, places[at])
      end
      if tensor.isCut then
        add('  …')
      end
    end
  end
  if type(info.expected) == 'table' then
    head('Expected by ' .. info.expected.place)
    if text(info.expected.type) then
      table.insert(out.code, add('  ' .. info.expected.type))
    end
    if text(info.expected.note) then
      add('  ' .. info.expected.note)
    end
  end
  if #info.context > 0 then
    head('Context')
    local rows = vim.tbl_map(function(variable)
      return { variable.name, ': ' .. variable.type }
    end, info.context)
    for at, line in ipairs(columns.aligned(rows)) do
      add(line, info.context[at].location)
    end
  end
  return out
end

---@param info table
local function show(info)
  if not view or not vim.api.nvim_buf_is_valid(view.buffer) then
    return
  end
  local shown = M.render(info)
  view.places = shown.places
  -- A message may contain line breaks, which a line of a buffer must not.
  local lines = vim.tbl_map(function(line)
    return (line:gsub('%s*\n%s*', ' '))
  end, shown.lines)
  window.write(view.buffer, lines)
  vim.api.nvim_buf_clear_namespace(view.buffer, marks, 0, -1)
  local groups = { heads = 'Title', code = 'Type', bars = 'Number' }
  for kind, group in pairs(groups) do
    for _, line in ipairs(shown[kind]) do
      vim.api.nvim_buf_set_extmark(view.buffer, marks, line - 1, 0, {
        end_row = line - 1,
        end_col = #lines[line],
        hl_group = group,
      })
    end
  end
  local beside = vim.fn.bufwinid(view.buffer)
  if beside >= 0 then
    vim.api.nvim_win_set_cursor(beside, { 1, 0 })
  end
end

--- Requests the type at the cursor of a Relay window. The previous type stays if there is none, or if the
--- cursor has moved since.
local function ask()
  local buffer = vim.api.nvim_get_current_buf()
  local name = require('relay-analyzer').name
  local client = vim.lsp.get_clients({ bufnr = buffer, name = name })[1]
  if not view or not client then
    return
  end
  view.asked = view.asked + 1
  local number = view.asked
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  request.send(client, buffer, 'relay/typeAt', params, function(info)
    if view and view.asked == number and type(info) == 'table' then
      show(info)
    end
  end)
end

local function close()
  if view then
    local closed = view
    view = nil
    vim.api.nvim_del_augroup_by_id(closed.group)
    closed.timer:close()
    -- The last window cannot be closed, and shows an empty buffer.
    if vim.api.nvim_buf_is_valid(closed.buffer) then
      vim.api.nvim_buf_delete(closed.buffer, { force = true })
    end
  end
end

--- Goes to the origin of the size under the cursor, or to the binding of the variable.
local function jump()
  local place = view and view.places[vim.api.nvim_win_get_cursor(0)[1]]
  if not place then
    return
  end
  local buffer = vim.uri_to_bufnr(place.uri)
  local client = request.client(buffer)
  if not client then
    return
  end
  local line, column = request.place(client, buffer, place.range.start)
  local there = vim.fn.bufwinid(buffer)
  if there >= 0 then
    vim.api.nvim_set_current_win(there)
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(there, { line + 1, column })
  end
end

--- Opens the view, or closes it if it is open.
---@param mods? table as in `nvim_create_user_command`: `:botright RelayType`
function M.toggle(mods)
  if view then
    -- The buffer was deleted with its window.
    local is_open = vim.api.nvim_buf_is_valid(view.buffer)
    close()
    if is_open then
      return
    end
  end
  if not request.client(vim.api.nvim_get_current_buf()) then
    return
  end
  local buffer = window.buffer({
    name = NAME,
    filetype = 'relay-type',
    keys = {
      ['<CR>'] = { jump, desc = 'go to the target of the line' },
      q = { close, desc = 'close the view' },
    },
  })
  local group = vim.api.nvim_create_augroup('relay-analyzer.type', {})
  view = { buffer = buffer, group = group, timer = assert(vim.uv.new_timer()), places = {}, asked = 0 }
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'TextChanged', 'TextChangedI', 'BufEnter' }, {
    group = group,
    callback = function(event)
      if view and vim.bo[event.buf].filetype == 'relay' then
        view.timer:start(REST, 0, vim.schedule_wrap(ask))
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = buffer,
    callback = function()
      local wiped = view
      vim.schedule(function()
        if view == wiped then
          close()
        end
      end)
    end,
  })
  local back = vim.api.nvim_get_current_win()
  local how = vim.tbl_extend('force', { split = 'botright', vertical = true }, {})
  if mods and (mods.split ~= '' or mods.vertical) then
    how = { split = mods.split, vertical = mods.vertical }
  end
  window.open(buffer, how)
  vim.api.nvim_set_current_win(back)
  ask()
end

return M
