--- `:RelayShapes`: the result and cost of each call, in a buffer beside the text.
local columns = require('relay-analyzer.columns')
local report = require('relay-analyzer.report')
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.shapes')
--- Titles and the selected cost, which are independent of the cursor.
local titles = vim.api.nvim_create_namespace('relay-analyzer.shapes.titles')
--- The debounce of edits before the report is updated, in milliseconds.
local REST = 300

---@class relay_analyzer.ShapesView
---@field buffer integer
---@field name string? the function that is shown alone
---@field functions table[] the report as the server gave it
---@field places table<integer, table> the call of a line
---@field cost integer the chosen cost, among `report.COSTS`
---@field is_sorted boolean
---@field is_deep boolean the layers inside of others are shown, too
---@field timer uv.uv_timer_t

--- The open reports by the buffer of the text.
---@type table<integer, relay_analyzer.ShapesView>
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

--- Marks the call at the cursor of the text: the innermost, or the last of its line.
---@param source integer
local function mark(source)
  local view = shown[source]
  local from = vim.fn.bufwinid(source)
  if not view or from < 0 or not vim.api.nvim_buf_is_valid(view.buffer) then
    return
  end
  local line, column = unpack(vim.api.nvim_win_get_cursor(from))
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
  local at = best or of_line
  if at then
    vim.api.nvim_buf_set_extmark(view.buffer, marks, at - 1, 0, { line_hl_group = 'Visual' })
    local beside = vim.fn.bufwinid(view.buffer)
    if beside >= 0 and beside ~= vim.api.nvim_get_current_win() then
      vim.api.nvim_win_set_cursor(beside, { at, 0 })
    end
  end
end

--- The call of the line under the cursor.
---@param source integer
local function place_here(source)
  local view = shown[source]
  return view and view.places[vim.api.nvim_win_get_cursor(0)[1]]
end

--- Goes to the call of the line under the cursor.
---@param source integer
local function jump(source)
  local place = place_here(source)
  local client = place and request.client(source)
  if not client then
    return
  end
  local line, column = request.place(client, source, place.range.start)
  local there = vim.fn.bufwinid(source)
  if there >= 0 then
    vim.api.nvim_set_current_win(there)
  else
    vim.cmd('aboveleft sbuffer ' .. source)
  end
  vim.cmd("normal! m'")
  local last = vim.api.nvim_buf_line_count(source)
  vim.api.nvim_win_set_cursor(0, { math.min(line + 1, last), column })
end

--- Shows the whole type of the call under the cursor, with one field of a tuple per line.
---@param source integer
local function tell(source)
  local place = place_here(source)
  if place and not place.is_function then
    local lines = { place.operator, unpack(columns.fields(place.type)) }
    vim.lsp.util.open_floating_preview(lines, '', { focus_id = 'relay-shapes', border = 'single' })
  end
end

--- Shows the keys above the report.
---@param view relay_analyzer.ShapesView
local function hint(view)
  local beside = vim.fn.bufwinid(view.buffer)
  if beside >= 0 then
    local cost = report.COSTS[view.cost].title
    local order = view.is_sorted and 'most expensive first' or 'in the order of the text'
    local keys = ' %%#Title#%s, %s%%*  c other cost · s sort · o layers · <CR> go to the call · K whole type · q close'
    vim.wo[beside][0].winbar = keys:format(cost, order)
  end
end

--- Writes the report.
---@param source integer
local function draw(source)
  local view = shown[source]
  local out = report.render(view.functions, view.cost, view.is_sorted, view.is_deep)
  view.places = out.places
  window.write(view.buffer, out.lines)
  vim.api.nvim_buf_clear_namespace(view.buffer, titles, 0, -1)
  for group, lines in pairs({ Title = out.heads, Comment = out.titles }) do
    for _, line in ipairs(lines) do
      vim.api.nvim_buf_set_extmark(view.buffer, titles, line - 1, 0, { line_hl_group = group })
    end
  end
  hint(view)
  mark(source)
end

--- Removes the state of a closed report.
---@param source integer
---@param view relay_analyzer.ShapesView
local function forget(source, view)
  if shown[source] ~= view then
    return
  end
  shown[source] = nil
  vim.api.nvim_del_augroup_by_name('relay-analyzer.shapes.' .. source)
  view.timer:close()
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(view.buffer) then
      vim.api.nvim_buf_delete(view.buffer, { force = true })
    end
  end)
end

--- Requests the report and writes it.
---@param source integer
---@param otherwise? { name: string? } the previous name, restored if there is no function of the new name
local function update(source, otherwise)
  local view = shown[source]
  local client = request.client(source)
  if not client then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(source), ['function'] = view.name }
  request.send(client, source, 'relay/shapes', params, function(answer)
    if shown[source] ~= view then
      return
    end
    if view.name and #answer.functions == 0 then
      vim.notify(('relay-analyzer: there is no function `%s`'):format(view.name), vim.log.levels.ERROR)
      if otherwise then
        view.name = otherwise.name
      else
        forget(source, view)
      end
      return
    end
    view.functions = answer.functions
    draw(source)
  end)
end

--- Updates a report after edits until it is closed.
---@param source integer
---@param view relay_analyzer.ShapesView
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
          update(source, { name = view.name })
        end
      end))
    end,
  })
  for _, buffer in ipairs({ source, view.buffer }) do
    vim.api.nvim_create_autocmd('BufWipeout', {
      group = group,
      buffer = buffer,
      callback = function()
        forget(source, view)
      end,
    })
  end
end

--- Creates a report of a buffer, not yet in a window.
---@param source integer
---@return relay_analyzer.ShapesView
local function create(source)
  local view = { functions = {}, places = {}, cost = 1, is_sorted = false, is_deep = false, timer = assert(vim.uv.new_timer()) }
  local function change(what)
    return function()
      what()
      draw(source)
    end
  end
  local function on_source(what)
    return function()
      what(source)
    end
  end
  view.buffer = window.buffer({
    name = ('relay-shapes://%d'):format(source),
    filetype = 'relay-shapes',
    keys = {
      ['<CR>'] = { on_source(jump), desc = 'go to the call' },
      K = { on_source(tell), desc = 'show the whole type' },
      c = {
        change(function()
          view.cost = view.cost % #report.COSTS + 1
        end),
        desc = 'choose another cost',
      },
      s = {
        change(function()
          view.is_sorted = not view.is_sorted
        end),
        desc = 'sort by cost',
      },
      o = {
        change(function()
          view.is_deep = not view.is_deep
        end),
        desc = 'show or hide the layers inside of layers',
      },
    },
  })
  window.write(view.buffer, { 'Computing shapes …' })
  shown[source] = view
  follow(source, view)
  return view
end

--- Opens the report of the current buffer, or of one function in it, and goes there.
---@param name? string `@main` or `main`
---@param mods? table as in `nvim_create_user_command`: `:vertical RelayShapes`
function M.show(name, mods)
  local source = vim.api.nvim_get_current_buf()
  if not request.client(source) then
    return
  end
  local before = shown[source] and { name = shown[source].name }
  local view = shown[source] or create(source)
  view.name = name and '@' .. name:gsub('^@', '') or nil
  local beside = vim.fn.bufwinid(view.buffer)
  if beside < 0 then
    local how = vim.tbl_extend('force', { split = 'botright' }, mods or {})
    if how.split == '' then
      how.split = 'botright'
    end
    window.open(view.buffer, how)
    hint(view)
  else
    vim.api.nvim_set_current_win(beside)
  end
  update(source, before)
end

--- Writes the report to an HTML page, and opens it with the default application.
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
  -- The exit code is 1 if the module has errors, but the report is still written.
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

--- Completes the names of functions for `:RelayShapes`.
---@param lead string
---@return string[]
function M.complete(lead)
  local names = { 'html' }
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    -- A line may have 180,000 characters, but names are short.
    local name = line:sub(1, 300):match('^%s*def%s+(@[%w_./]+)')
    table.insert(names, name)
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead) or vim.startswith(name, '@' .. lead)
  end, names)
end

return M
