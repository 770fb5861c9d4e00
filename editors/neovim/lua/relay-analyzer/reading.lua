--- `:RelayReading`: hides printed comments and shows their types abbreviated on the right, dims weights,
--- and folds chains. The file is not changed.
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.reading')
--- The debounce of edits before the view is updated, in milliseconds.
local REST = 200

--- The original options of windows, by buffer.
---@type table<integer, { group: integer, timer: uv.uv_timer_t, windows: table<integer, table>, folds: table<integer, string>, texts: table<integer, string> }>
local reading = {}

--- Options of a window with this buffer. Concealed lines are short, except for headers, which should not
--- wrap over the whole screen.
local OPTIONS = {
  conceallevel = 2,
  concealcursor = '',
  foldmethod = 'manual',
  foldenable = true,
  foldtext = "v:lua.require'relay-analyzer.reading'.foldtext()",
  wrap = false,
}

--- The text of a folded chain: its first line, and a summary of the others.
---@return { [1]: string, [2]: string }[]
function M.foldtext()
  local state = reading[vim.api.nvim_get_current_buf()]
  local first, last = vim.v.foldstart, vim.v.foldend
  local text = state and state.texts[first] or vim.fn.getline(first)
  local summary = state and state.folds[first]
  if not summary then
    return { { ('%s … %d lines'):format(text, last - first), 'Folded' } }
  end
  return { { text, 'Normal' }, { '  … ' .. summary, 'Folded' } }
end

local function draw(buffer, client, view)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local function place(range, what)
    local line, start = request.place(client, buffer, { line = range[1], character = range[2] })
    local _, stop = request.place(client, buffer, { line = range[1], character = range[3] })
    what.end_row, what.end_col = line, stop
    -- The text may have changed since.
    pcall(vim.api.nvim_buf_set_extmark, buffer, marks, line, start, what)
  end
  for _, range in ipairs(view.hidden) do
    place(range, { conceal = '' })
  end
  local last = vim.api.nvim_buf_line_count(buffer)
  for _, shape in ipairs(view.shapes) do
    local line, text = unpack(shape)
    if line < last then
      vim.api.nvim_buf_set_extmark(buffer, marks, line, 0, {
        virt_text = { { text, 'relayValue' } },
        virt_text_pos = 'right_align',
        hl_mode = 'combine',
      })
    end
  end
  for _, range in ipairs(view.dimmed) do
    place(range, { hl_group = 'relayWeight', priority = 200 })
  end
end

--- Stores the texts of folded chains without their hidden parts, which a fold would show.
local function remember(buffer, client, view)
  local state = reading[buffer]
  state.folds, state.texts = {}, {}
  local hidden = {}
  for _, range in ipairs(view.hidden) do
    hidden[range[1]] = hidden[range[1]] or {}
    table.insert(hidden[range[1]], range)
  end
  for at, chain in ipairs(view.chains) do
    local first = chain[1]
    local text = vim.api.nvim_buf_get_lines(buffer, first, first + 1, false)[1] or ''
    for number = #(hidden[first] or {}), 1, -1 do
      local range = hidden[first][number]
      local _, start = request.place(client, buffer, { line = first, character = range[2] })
      local _, stop = request.place(client, buffer, { line = first, character = range[3] })
      text = text:sub(1, start) .. text:sub(stop + 1)
    end
    state.folds[first + 1], state.texts[first + 1] = view.summaries[at], text
  end
end

---@param buffer integer
---@param shown? fun(view: table) after the first answer
local function update(buffer, shown)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = require('relay-analyzer').name })[1]
  if not client or not reading[buffer] then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  request.send(client, buffer, 'relay/readingView', params, function(view)
    if reading[buffer] and vim.api.nvim_buf_is_valid(buffer) then
      draw(buffer, client, view)
      remember(buffer, client, view)
      if shown then
        shown(view)
      end
    end
  end)
end

--- Sets the options of a window on the buffer, and folds its chains.
local function enter(buffer, window, view)
  local before = {}
  local chars = vim.wo[window].fillchars
  -- Dots after a fold would overlap the shape on the right.
  local more = { fillchars = (chars == '' and '' or chars .. ',') .. 'fold: ' }
  for name, value in pairs(vim.tbl_extend('error', OPTIONS, more)) do
    before[name] = vim.wo[window][0][name]
    vim.wo[window][0][name] = value
  end
  reading[buffer].windows[window] = before
  vim.api.nvim_win_call(window, function()
    vim.cmd('normal! zE')
    for _, chain in ipairs(view.chains) do
      pcall(vim.cmd, ('%d,%dfold'):format(chain[1] + 1, chain[2] + 1))
    end
  end)
end

local function leave(buffer)
  local state = reading[buffer]
  reading[buffer] = nil
  vim.api.nvim_del_augroup_by_id(state.group)
  state.timer:close()
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  end
  for window, before in pairs(state.windows) do
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == buffer then
      vim.api.nvim_win_call(window, function()
        vim.cmd('normal! zE')
      end)
      for name, value in pairs(before) do
        vim.wo[window][0][name] = value
      end
    end
  end
end

--- Toggles the view of the current buffer.
function M.toggle()
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  if reading[buffer] then
    leave(buffer)
    return
  end
  if not request.client(buffer) then
    return
  end
  local group = vim.api.nvim_create_augroup('relay-analyzer.reading.' .. buffer, {})
  local timer = assert(vim.uv.new_timer())
  reading[buffer] = { group = group, timer = timer, windows = {}, folds = {}, texts = {} }
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = group,
    buffer = buffer,
    callback = function()
      timer:start(REST, 0, vim.schedule_wrap(function()
        update(buffer)
      end))
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buffer,
    callback = function()
      vim.schedule(function()
        if reading[buffer] then
          leave(buffer)
        end
      end)
    end,
  })
  update(buffer, function(view)
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == buffer then
      enter(buffer, window, view)
    end
  end)
end

return M
