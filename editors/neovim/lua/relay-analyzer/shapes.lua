--- `:RelayShapes`: what each call computes and what it costs, in a buffer beside the text.
local columns = require('relay-analyzer.columns')
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.shapes')
--- How long the text must rest before it is reported anew, in milliseconds.
local REST = 300

local COLUMNS = { 'line', '', 'operator', 'output', 'parameters', 'MACs', 'bytes', 'live', 'source' }
local RIGHT = { [1] = true, [5] = true, [6] = true, [7] = true, [8] = true }

--- A number of the report: a number, or a table with its text where dimensions are unknown.
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

local function text(value)
  return type(value) == 'string' and value or ''
end

--- How a call is called: its variable, else its number.
local function name_of(row, at)
  return type(row.binding) == 'string' and row.binding or '#' .. (at - 1)
end

--- The report as lines. `places` has the call of a line, `heads` the lines that are titles.
---@param functions table[]
---@return { lines: string[], places: table<integer, table>, heads: integer[] }
function M.render(functions)
  local out = { lines = {}, places = {}, heads = {} }
  local function add(line)
    table.insert(out.lines, line)
    return #out.lines
  end
  local function groups(what, list)
    if #list > 0 then
      local rows = { { 'by ' .. what, 'calls', 'MACs', 'bytes' } }
      for _, group in ipairs(list) do
        table.insert(rows, { group.name, count(group.count), count(group.macs), memory(group.bytes) })
      end
      vim.list_extend(out.lines, columns.aligned(rows, { [2] = true, [3] = true, [4] = true }))
    end
  end
  local function one(report)
    if #out.lines > 0 then
      add('')
    end
    table.insert(out.heads, add(('%s (line %d)'):format(report.name, report.range.start.line + 1)))
    out.places[#out.lines] = { range = report.range, is_function = true }
    local rows = { COLUMNS }
    for at, row in ipairs(report.rows) do
      table.insert(rows, {
        tostring(row.range.start.line + 1),
        name_of(row, at),
        row.operator,
        row.type,
        count(row.parameters),
        count(row.macs),
        memory(row.bytes),
        memory(row.liveBytes),
        text(row.span),
      })
    end
    for at, line in ipairs(columns.aligned(rows, RIGHT)) do
      add(line)
      out.places[#out.lines] = report.rows[at - 1]
    end
    local total = report.total
    local peak = type(total.peakRow) == 'number'
        and ('; peak memory %s at %s'):format(
          memory(total.peakBytes),
          name_of(report.rows[total.peakRow + 1], total.peakRow + 1)
        )
      or ''
    local sums = '%s parameters (%s), %s MACs, %s calls%s'
    add(
      sums:format(
        count(total.parameters),
        memory(total.parameterBytes),
        count(total.macs),
        count(total.calls),
        peak
      )
    )
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
    add('No function of this file computes anything.')
  end
  return out
end

--- What is shown, by the buffer that it is about.
---@type table<integer, { buffer: integer, name: string?, places: table<integer, table>, timer: uv.uv_timer_t? }>
local shown = {}

local function holds(range, line, column)
  local from, to = range.start, range['end']
  return (from.line < line or (from.line == line and from.character <= column))
    and (line < to.line or (line == to.line and column <= to.character))
end

local function is_inside(inner, outer)
  return holds(outer, inner.start.line, inner.start.character)
    and holds(outer, inner['end'].line, inner['end'].character)
end

--- Marks the call that the cursor of the text is in: the innermost, else the last of its line.
local function mark(source)
  local view = shown[source]
  local window = vim.fn.bufwinid(source)
  if not view or window < 0 or not vim.api.nvim_buf_is_valid(view.buffer) then
    return
  end
  local line, column = unpack(vim.api.nvim_win_get_cursor(window))
  line = line - 1
  local best, range, of_line
  for at = 1, vim.api.nvim_buf_line_count(view.buffer) do
    local row = view.places[at]
    if row and not row.is_function then
      if holds(row.range, line, column) and (not range or is_inside(row.range, range)) then
        best, range = at, row.range
      end
      if row.range.start.line == line then
        of_line = at
      end
    end
  end
  vim.api.nvim_buf_clear_namespace(view.buffer, marks, 0, -1)
  for _, head in ipairs(view.heads) do
    vim.api.nvim_buf_set_extmark(view.buffer, marks, head - 1, 0, { line_hl_group = 'Title' })
  end
  local at = best or of_line
  if at then
    vim.api.nvim_buf_set_extmark(view.buffer, marks, at - 1, 0, { line_hl_group = 'Visual' })
    local beside = vim.fn.bufwinid(view.buffer)
    if beside >= 0 and beside ~= vim.api.nvim_get_current_win() then
      vim.api.nvim_win_set_cursor(beside, { at, 0 })
    end
  end
  view.marked = at
end

--- Goes to the call of the line under the cursor.
local function jump(source)
  local view = shown[source]
  local place = view and view.places[vim.api.nvim_win_get_cursor(0)[1]]
  local client = place and request.client(source)
  if not client then
    return
  end
  local line, column = request.place(client, source, place.range.start)
  local window = vim.fn.bufwinid(source)
  if window >= 0 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('aboveleft sbuffer ' .. source)
  end
  vim.cmd("normal! m'")
  local last = vim.api.nvim_buf_line_count(source)
  vim.api.nvim_win_set_cursor(0, { math.min(line + 1, last), column })
end

--- Asks for the report and writes it; opens a window the first time.
---@param source integer
---@param open fun()
---@param otherwise? string the function that was shown before, should there be none of the new name
local function update(source, open, otherwise)
  local view = shown[source]
  local client = request.client(source)
  if not client then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(source), ['function'] = view.name }
  request.send(client, source, 'relay/shapes', params, function(report)
    if shown[source] ~= view then
      return
    end
    if view.name and #report.functions == 0 then
      vim.notify(('relay-analyzer: there is no function `%s`'):format(view.name), vim.log.levels.ERROR)
      view.name = otherwise
      if not vim.api.nvim_buf_is_valid(view.buffer) then
        shown[source] = nil
      end
      return
    end
    open()
    local out = M.render(report.functions)
    view.places, view.heads = out.places, out.heads
    vim.bo[view.buffer].modifiable = true
    vim.api.nvim_buf_set_lines(view.buffer, 0, -1, false, out.lines)
    vim.bo[view.buffer].modifiable = false
    mark(source)
  end)
end

--- Keeps a report in step with the text that it is about, until it is closed.
local function follow(source, view)
  local group = vim.api.nvim_create_augroup('relay-analyzer.shapes.' .. source, {})
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
    group = group,
    buffer = source,
    callback = function()
      mark(source)
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = group,
    buffer = source,
    callback = function()
      view.timer:start(REST, 0, vim.schedule_wrap(function()
        if shown[source] == view and vim.api.nvim_buf_is_valid(source) then
          update(source, function() end)
        end
      end))
    end,
  })
  local function forget()
    if shown[source] == view then
      shown[source] = nil
      vim.api.nvim_del_augroup_by_id(group)
      view.timer:close()
      -- A report about nothing is closed.
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(view.buffer) then
          vim.api.nvim_buf_delete(view.buffer, { force = true })
        end
      end)
    end
  end
  for _, buffer in ipairs({ source, view.buffer }) do
    vim.api.nvim_create_autocmd('BufWipeout', { group = group, buffer = buffer, callback = forget })
  end
end

--- Opens the report of the current buffer, or of one function in it.
---@param name? string `@main` or `main`
---@param mods? table as in `nvim_create_user_command`: `:vertical RelayShapes`
function M.show(name, mods)
  local source = vim.api.nvim_get_current_buf()
  if not request.client(source) then
    return
  end
  if name then
    name = '@' .. name:gsub('^@', '')
  end
  local view = shown[source]
  local is_new = not view
  if not view then
    view = { buffer = -1, places = {}, heads = {}, timer = assert(vim.uv.new_timer()) }
    shown[source] = view
  end
  local before = view.name
  view.name = name
  update(source, function()
    if is_new then
      is_new = false
      view.buffer = vim.api.nvim_create_buf(false, true)
      vim.bo[view.buffer].bufhidden = 'wipe'
      vim.bo[view.buffer].filetype = 'relay-shapes'
      pcall(vim.api.nvim_buf_set_name, view.buffer, ('relay-shapes://%d'):format(source))
      local map = function(key, run, what)
        vim.keymap.set('n', key, run, { buffer = view.buffer, desc = what, nowait = true })
      end
      map('<CR>', function()
        jump(source)
      end, 'Go to the call')
      map('q', '<Cmd>close<CR>', 'Close the report')
      follow(source, view)
    end
    if vim.fn.bufwinid(view.buffer) < 0 then
      local back = vim.api.nvim_get_current_win()
      local how = vim.tbl_extend('force', { split = 'botright' }, mods or {})
      if how.split == '' then
        how.split = 'botright'
      end
      vim.cmd({ cmd = 'sbuffer', args = { tostring(view.buffer) }, mods = how })
      vim.wo.wrap = false
      vim.wo.number = false
      vim.wo.relativenumber = false
      vim.wo.signcolumn = 'no'
      vim.api.nvim_set_current_win(back)
    end
  end, before)
end

--- Writes the report as a page, and opens it with what opens pages.
---@return string? path
function M.html()
  local relay = require('relay-analyzer')
  local program = vim.fn.exepath(relay.cmd()[1])
  if program == '' then
    relay.tell_missing()
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local input = table.concat(lines, '\n') .. '\n'
  -- It ends with 1 where the module has errors, and reports the rest of it.
  local ran = vim.system({ program, 'shapes', '--format', 'html', '-' }, { stdin = input, text = true }):wait()
  if ran.code > 1 or (ran.stdout or '') == '' then
    vim.notify('relay-analyzer: ' .. vim.trim(ran.stderr or 'no report'), vim.log.levels.ERROR)
    return nil
  end
  local path = vim.fn.tempname() .. '.html'
  local file = assert(io.open(path, 'wb'))
  file:write(ran.stdout)
  file:close()
  local _, problem = vim.ui.open(path)
  if problem then
    vim.notify(('relay-analyzer: the report is in %s (%s)'):format(path, problem), vim.log.levels.WARN)
  end
  return path
end

--- The names that `:RelayShapes` takes.
---@param lead string
---@return string[]
function M.complete(lead)
  local names = { 'html' }
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    -- A line may have 180,000 characters, and a name has a few.
    local name = line:sub(1, 300):match('^%s*def%s+(@[%w_./]+)')
    table.insert(names, name)
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead) or vim.startswith(name, '@' .. lead)
  end, names)
end

return M
