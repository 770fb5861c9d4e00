--- `:RelayDiff`: structural comparison of a buffer with a base. The comparison follows edits, and the
--- partner of the expression under the cursor follows the cursor.
local base = require('relay-analyzer.base')
local changes = require('relay-analyzer.changes')
local heat = require('relay-analyzer.heat')
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local partners = vim.api.nvim_create_namespace('relay-analyzer.diff.partners')
--- The debounce of edits before buffers are compared again, in milliseconds.
local REST = 200
--- Options of both windows; those of the buffer's window are restored afterwards.
local OPTIONS = { wrap = false, signcolumn = 'yes:1', foldenable = false }

---@class relay_analyzer.Comparison
---@field buffers { before: integer, after: integer } the base, and the buffer that is compared with it
---@field client vim.lsp.Client
---@field label string what the base is called
---@field arguments table? those with which both sides are run at first, if they are
---@field found relay_analyzer.Changes
---@field answer table? what the server said last
---@field asked integer how often it was asked
---@field timer uv.uv_timer_t
---@field group integer
---@field window integer the window of the buffer
---@field options table<string, any> what its window had before
---@field maps table[] mappings of the buffer that ours stand in for
---@field values table? what both sides compute, until the text changes
---@field stop fun()? cancels the runs
---@field pinned integer[]? where `]c` has put the cursor, while the other side shows its change

--- The mappings of both sides.
local KEYS = { ']c', '[c', ']v', '[v' }
--- The active comparisons by buffer.
---@type table<integer, relay_analyzer.Comparison>
local views = {}
--- The number of bases so far, for unique names.
local count = 0

--- The comparison with a buffer as one of its sides, and the side.
---@param buffer integer
---@return relay_analyzer.Comparison?
---@return string? side
local function of(buffer)
  for _, view in pairs(views) do
    for side, one in pairs(view.buffers) do
      if one == buffer then
        return view, side
      end
    end
  end
end

--- The comparison of the current buffer, or the only one. Shows a message if there is none.
---@return relay_analyzer.Comparison?
local function here()
  local view = of(vim.api.nvim_get_current_buf())
  local source, only = next(views)
  view = view or (source and next(views, source) == nil and only or nil)
  if not view then
    vim.notify('relay-analyzer: there is no comparison here', vim.log.levels.WARN)
  end
  return view
end

--- Sets window-local options.
---@param win integer
---@param options table<string, any>
local function set_options(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
end

--- Restores the options of the buffer's window.
---@param view relay_analyzer.Comparison
local function restore_window(view)
  local source = view.buffers.after
  if vim.api.nvim_win_is_valid(view.window) then
    set_options(view.window, view.options)
  end
  if vim.api.nvim_buf_is_valid(source) and vim.fn.bufwinid(source) ~= view.window then
    -- Neovim stores options with a buffer that has left its window, and restores them with the buffer.
    vim.api.nvim_create_autocmd('BufWinEnter', {
      buffer = source,
      once = true,
      callback = function()
        set_options(0, view.options)
      end,
    })
  end
end

--- Ends a comparison: closes the base and restores the buffer.
---@param view relay_analyzer.Comparison
local function finish(view)
  local source, beside = view.buffers.after, view.buffers.before
  if views[source] ~= view then
    return
  end
  views[source] = nil
  heat.drop(view)
  vim.api.nvim_del_augroup_by_id(view.group)
  view.timer:close()
  restore_window(view)
  if vim.api.nvim_buf_is_valid(source) then
    changes.clear(source)
    vim.api.nvim_buf_clear_namespace(source, partners, 0, -1)
    for _, key in ipairs(KEYS) do
      pcall(vim.keymap.del, 'n', key, { buffer = source })
    end
    vim.api.nvim_buf_call(source, function()
      for _, map in ipairs(view.maps) do
        vim.fn.mapset('n', false, map)
      end
    end)
  end
  if vim.api.nvim_buf_is_valid(beside) then
    vim.api.nvim_buf_delete(beside, { force = true })
  end
end

---@param text string
local function escaped(text)
  return (text:gsub('%%', '%%%%'))
end

--- Shows the names of the sides and a summary above the windows.
---@param view relay_analyzer.Comparison
local function title(view)
  local answer = view.answer
  local outcome = view.stop and 'running …' or view.values and view.values.summary or answer and answer.headline
  local said = { before = ']c [c changes · ]v [v divergences · q end', after = outcome or 'comparing …' }
  local names = { before = view.label, after = modules.label(view.buffers.after) }
  local bars = {}
  for side, name in pairs(names) do
    local is_broken = answer and vim.tbl_contains(answer.broken, name)
    local warning = is_broken and '  %#WarningMsg#has syntax errors%*' or ''
    bars[side] = (' %%#Title#%s%%*%s  %s%%<'):format(escaped(name), warning, escaped(said[side]))
  end
  for side, buffer in pairs(view.buffers) do
    for _, one in ipairs(vim.fn.win_findbuf(buffer)) do
      if side == 'before' or one == view.window then
        set_options(one, { winbar = bars[side] })
      end
    end
  end
end

--- The window of a side in this tab page.
---@param view relay_analyzer.Comparison
---@param side string
---@return integer?
local function window_of(view, side)
  local found = vim.fn.bufwinid(view.buffers[side])
  return found >= 0 and found or nil
end

--- Scrolls the other side so that a range is at the height of the cursor, and underlines partners.
---@param view relay_analyzer.Comparison
---@param side string where the place is
---@param range lsp.Range
---@param outlined lsp.Range[]
local function reveal(view, side, range, outlined)
  local buffer, there = view.buffers[side], window_of(view, side)
  changes.outline(view.client, buffer, partners, outlined)
  if not there or there == vim.api.nvim_get_current_win() then
    return
  end
  local height = vim.fn.winline()
  local line, column = request.place(view.client, buffer, range.start)
  local last = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_win_call(there, function()
    local lnum = math.min(line + 1, last)
    vim.fn.winrestview({ lnum = lnum, col = column, topline = math.max(lnum - height + 1, 1), leftcol = 0 })
  end)
end

--- The position of the cursor of a window, in the encoding of the server.
---@param view relay_analyzer.Comparison
---@param win integer
---@return lsp.Position
local function position_of(view, win)
  return vim.lsp.util.make_position_params(win, view.client.offset_encoding).position
end

--- Reveals the partner of the expression under the cursor.
---@param view relay_analyzer.Comparison
---@param side string the side of the cursor
local function follow(view, side)
  local cursor = vim.api.nvim_win_get_cursor(0)
  if view.pinned and vim.deep_equal(view.pinned, cursor) then
    return
  end
  view.pinned = nil
  for _, buffer in pairs(view.buffers) do
    vim.api.nvim_buf_clear_namespace(buffer, partners, 0, -1)
  end
  local found = changes.partners(view.found, side, position_of(view, 0))
  if #found > 0 then
    reveal(view, changes.OTHER[side], found[1], found)
  end
end

--- Goes to the next or previous change.
---@param view relay_analyzer.Comparison
---@param side string
---@param step integer 1 or -1
local function jump(view, side, step)
  local ahead = changes.stops_from(view.found, side, position_of(view, 0), step)
  local stop = ahead[math.min(vim.v.count1, #ahead)]
  if not stop then
    local where = step > 0 and 'below' or 'above'
    vim.notify(#view.found.stops == 0 and 'relay-analyzer: there are no changes' or 'relay-analyzer: no more changes ' .. where)
    return
  end
  local line, column = request.place(view.client, view.buffers[side], stop[side].start)
  local last = vim.api.nvim_buf_line_count(0)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(line + 1, last), column })
  vim.cmd('normal! zv')
  follow(view, side)
  if stop.without == side then
    -- The change is on the other side only.
    for _, buffer in pairs(view.buffers) do
      vim.api.nvim_buf_clear_namespace(buffer, partners, 0, -1)
    end
    local other = changes.OTHER[side]
    reveal(view, other, stop[other], { stop[other] })
    view.pinned = vim.api.nvim_win_get_cursor(0)
  end
end

--- Goes to the next or previous call with an error of its own, and shows its values.
---@param view relay_analyzer.Comparison
---@param side string
---@param step integer 1 or -1
local function diverge(view, side, step)
  local pair = heat.next(view, side, position_of(view, 0), step)
  if pair then
    local line, column = request.place(view.client, view.buffers[side], pair[side].start)
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { math.min(line + 1, vim.api.nvim_buf_line_count(0)), column })
    vim.cmd('normal! zv')
    follow(view, side)
    heat.show(pair)
  end
end

--- A side as a parameter of `relay/compare`.
---@param view relay_analyzer.Comparison
---@param side string
local function side_of(view, side)
  local buffer = view.buffers[side]
  local told = { uri = vim.uri_from_bufnr(buffer), name = side == 'before' and view.label or modules.label(buffer) }
  if not request.has_text(view.client, buffer) then
    told.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
  end
  return told
end

--- Runs both sides on the same arguments.
---@param view relay_analyzer.Comparison
---@param arguments table as in `run.parse`
local function run(view, arguments)
  local params = { before = side_of(view, 'before'), after = side_of(view, 'after') }
  heat.run(view, vim.tbl_extend('error', params, arguments), function()
    title(view)
  end)
end

--- Compares the current texts of the buffers.
---@param view relay_analyzer.Comparison
local function compare(view)
  local source = view.buffers.after
  -- The values are those of another text.
  heat.drop(view)
  view.asked = view.asked + 1
  local number = view.asked
  local params = { before = side_of(view, 'before'), after = side_of(view, 'after') }
  request.send(view.client, source, 'relay/compare', params, function(answer)
    if views[source] ~= view or view.asked ~= number then
      return
    end
    local is_first = not view.answer
    view.answer = answer
    view.found = changes.read(answer)
    for side, buffer in pairs(view.buffers) do
      changes.draw(view.client, buffer, side, view.found)
    end
    title(view)
    local current, side = of(vim.api.nvim_get_current_buf())
    if current == view then
      view.pinned = nil
      follow(view, side)
      -- A new comparison starts at the first change.
      if is_first and #view.found.changes > 0 and vim.deep_equal(vim.api.nvim_win_get_cursor(0), { 1, 0 }) then
        jump(view, side, 1)
      end
    end
    if is_first and view.arguments then
      run(view, view.arguments)
    end
  end, function()
    -- A comparison that failed at its start is closed.
    if not view.answer then
      finish(view)
    end
  end)
end

--- Updates a comparison after edits and cursor moves, until one of its sides is closed.
---@param view relay_analyzer.Comparison
local function watch(view)
  local source = view.buffers.after
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    group = view.group,
    buffer = source,
    callback = function()
      view.timer:start(REST, 0, vim.schedule_wrap(function()
        if views[source] == view and vim.api.nvim_buf_is_loaded(source) then
          compare(view)
        end
      end))
    end,
  })
  for side, buffer in pairs(view.buffers) do
    vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
      group = view.group,
      buffer = buffer,
      callback = function()
        follow(view, side)
      end,
    })
    -- A window cannot be closed while a buffer leaves it.
    vim.api.nvim_create_autocmd({ 'BufWipeout', 'BufWinLeave' }, {
      group = view.group,
      buffer = buffer,
      callback = vim.schedule_wrap(function()
        if not vim.api.nvim_buf_is_valid(buffer) or #vim.fn.win_findbuf(buffer) == 0 then
          finish(view)
        end
      end),
    })
    for key, step in pairs({ [']c'] = 1, ['[c'] = -1 }) do
      vim.keymap.set('n', key, function()
        jump(view, side, step)
      end, { buffer = buffer, desc = ('Relay: the %s change'):format(step > 0 and 'next' or 'previous') })
    end
    for key, step in pairs({ [']v'] = 1, ['[v'] = -1 }) do
      vim.keymap.set('n', key, function()
        diverge(view, side, step)
      end, { buffer = buffer, desc = ('Relay: the %s divergence'):format(step > 0 and 'next' or 'previous') })
    end
  end
end

--- The mappings of a buffer that the comparison overrides.
---@param buffer integer
---@return table[]
local function maps_of(buffer)
  return vim.api.nvim_buf_call(buffer, function()
    local found = {}
    for _, key in ipairs(KEYS) do
      local map = vim.fn.maparg(key, 'n', false, true)
      if map.buffer == 1 then
        table.insert(found, map)
      end
    end
    return found
  end)
end

--- Creates a read-only buffer with the base.
---@param client vim.lsp.Client
---@param found relay_analyzer.Base
---@return integer
local function base_buffer(client, found)
  count = count + 1
  local name = ('relay://base/%d/%s'):format(count, (found.label:gsub('.*/', '')))
  local buffer = window.buffer({
    name = name,
    filetype = '',
    keys = { q = { M.off, desc = 'end the comparison' } },
  })
  window.write(buffer, modules.lines(found.text))
  vim.b[buffer].relay_origin = found.origin
  -- Diagnostics of the base are not of interest.
  vim.diagnostic.enable(false, { bufnr = buffer })
  modules.attach(client, buffer)
  return buffer
end

--- Compares the current buffer with a base.
---@param found relay_analyzer.Base
---@param arguments table? those with which both are run, if they are
local function open(found, arguments)
  local source = vim.api.nvim_get_current_buf()
  local client = request.any_client(source)
  if not client then
    return
  end
  -- A comparison whose buffer has just left the window ends before new windows open, not after.
  for _, view in pairs(vim.tbl_values(views)) do
    if view.buffers.after == source or #vim.fn.win_findbuf(view.buffers.after) == 0 then
      finish(view)
    end
  end
  local after = vim.api.nvim_get_current_win()
  local options = { winbar = vim.api.nvim_get_option_value('winbar', { scope = 'local', win = after }) }
  for name in pairs(OPTIONS) do
    options[name] = vim.api.nvim_get_option_value(name, { scope = 'local', win = after })
  end
  local before = base_buffer(client, found)
  vim.cmd({ cmd = 'sbuffer', args = { tostring(before) }, mods = { vertical = true, split = 'leftabove' } })
  set_options(0, OPTIONS)
  set_options(after, OPTIONS)
  vim.api.nvim_set_current_win(after)
  local view = {
    buffers = { before = before, after = source },
    client = client,
    label = found.label,
    found = { pairs = {}, changes = {} },
    arguments = arguments,
    asked = 0,
    timer = assert(vim.uv.new_timer()),
    group = vim.api.nvim_create_augroup('relay-analyzer.diff.' .. source, {}),
    window = after,
    options = options,
    maps = maps_of(source),
  }
  views[source] = view
  watch(view)
  title(view)
  compare(view)
end

--- Compares the current buffer with the base that an argument of `:RelayDiff` names.
---@param argument string
---@param arguments table? those with which both are run, if they are
local function with(argument, arguments)
  local found, problem = base.of(vim.api.nvim_get_current_buf(), argument)
  if found then
    open(found, arguments)
  elseif problem then
    vim.notify('relay-analyzer: ' .. problem, vim.log.levels.ERROR)
  end
end

--- If the current buffer is a log, shows the module under the cursor, since logs are not compared whole.
---@param argument string
local function enter_module(argument)
  local buffer = vim.api.nvim_get_current_buf()
  local log = modules.log_of(buffer)
  local is_whole = vim.bo[buffer].filetype == 'relay' and not vim.startswith(argument, '#')
  if modules.is_ours(buffer) or is_whole or not log then
    return
  end
  local known = modules.known(buffer, log)
  if #known > 1 then
    local number = modules.at_line(known, vim.api.nvim_win_get_cursor(0)[1])
    vim.api.nvim_set_current_buf(modules.buffer(log, number))
  end
end

--- Runs `:RelayDiff`; without an argument, it asks for one.
---@param argument string
---@param arguments table? those with which both are run, if they are
function M.command(argument, arguments)
  local current, side = of(vim.api.nvim_get_current_buf())
  local there = current and side == 'before' and window_of(current, 'after')
  if there then
    vim.api.nvim_set_current_win(there)
  end
  enter_module(argument)
  if argument ~= '' then
    with(argument, arguments)
    return
  end
  local win = vim.api.nvim_get_current_win()
  base.select(vim.api.nvim_get_current_buf(), function(chosen)
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_set_current_win(win)
      with(chosen, arguments)
    end
  end)
end

--- Ends the comparison, and goes to the buffer that was compared.
function M.off()
  local view = here()
  if view then
    vim.api.nvim_set_current_win(window_of(view, 'after') or vim.api.nvim_get_current_win())
    finish(view)
  end
end

--- `:RelayDiffRun[!] [@f] [x=…]…`: runs both sides of the comparison, or cancels that.
---@param call table
function M.run(call)
  local view = here()
  if not view then
    return
  elseif not call.bang then
    run(view, require('relay-analyzer.run').parse(call.fargs))
  elseif view.stop then
    heat.drop(view)
    title(view)
    vim.notify('relay-analyzer: the runs were cancelled')
  else
    vim.notify('relay-analyzer: nothing is running')
  end
end

--- Calls `action` with the comparison and the side of the current buffer.
---@param action fun(view: relay_analyzer.Comparison, side: string)
local function on_side(action)
  local view, side = of(vim.api.nvim_get_current_buf())
  if view and side then
    action(view, side)
  else
    vim.notify('relay-analyzer: this buffer is not compared', vim.log.levels.WARN)
  end
end

--- Shows the values of the calls at the cursor on both sides.
function M.values()
  on_side(function(view, side)
    heat.show_at(view, side, position_of(view, 0))
  end)
end

--- Goes to the next (1) or previous (-1) divergence.
---@param step integer
function M.diverge(step)
  on_side(function(view, side)
    diverge(view, side, step)
  end)
end

--- Shows the full report of the comparison, as printed by the command line.
---@param mods? table as in `nvim_create_user_command`
function M.report(mods)
  local view = here()
  if not view then
    return
  elseif not view.answer then
    vim.notify('relay-analyzer: the comparison is not finished')
    return
  end
  local name = 'relay://report'
  local buffer = vim.fn.bufnr('^' .. name .. '$')
  if buffer < 0 then
    buffer = window.buffer({ name = name, filetype = 'relay-report' })
  end
  local values = view.values and '\n' .. view.values.report or ''
  local lines = modules.lines(view.answer.report .. values)
  window.write(buffer, lines)
  local shown = vim.fn.bufwinid(buffer)
  if shown >= 0 then
    vim.api.nvim_set_current_win(shown)
    return
  end
  local how = mods and mods.split ~= '' and mods or { split = 'botright' }
  window.open(buffer, how, window.height(#lines))
end

return M
