--- The values of a comparison: a heat beside each call on both sides, and the values of a pair. The server runs the
--- modules, and says what each line shows.
local changes = require('relay-analyzer.changes')
local request = require('relay-analyzer.request')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.diff.heat')
--- Above notes on changes, which keep their place at the end of the line.
local PRIORITY = 120
--- The error codes of cancelled requests, from the client and from the server.
local CANCELLED = { [-32800] = true, [-32802] = true }
--- The size of the window with values, in columns and lines.
local WIDTH, HEIGHT = 100, 20

--- The highlight group of a pair.
---@param pair table
---@return string
local function group(pair)
  return pair.category == 'notRun' and 'RelayHeatNone' or 'RelayHeat' .. pair.heat
end

--- Draws the heat of one side.
---@param buffer integer
---@param side string
---@param values table the response to `relay/compareValues`
local function draw(buffer, side, values)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local count = vim.api.nvim_buf_line_count(buffer)
  for _, mark in ipairs(values[side]) do
    local pair = values.pairs[mark.pair + 1]
    -- The text may have become shorter since.
    if mark.line < count then
      local bar = ('▮'):rep(pair.heat) .. ('▯'):rep(values.maxHeat - pair.heat)
      vim.api.nvim_buf_set_extmark(buffer, marks, mark.line, 0, {
        number_hl_group = group(pair),
        virt_text = { { ('%s %s'):format(bar, pair.note), group(pair) } },
        virt_text_pos = 'eol',
        priority = PRIORITY,
      })
    end
  end
end

--- Drops the values of a comparison, and cancels the runs.
---@param view relay_analyzer.Comparison
function M.drop(view)
  if view.stop then
    view.stop()
  end
  view.values, view.stop = nil, nil
  for _, buffer in pairs(view.buffers) do
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    end
  end
end

--- Runs both sides, and draws the heat.
---@param view relay_analyzer.Comparison
---@param params table those of `relay/compareValues`
---@param changed fun() called when the runs begin and when they end
function M.run(view, params, changed)
  M.drop(view)
  local stop
  stop = request.start(view.client, view.buffers.after, 'relay/compareValues', params, function(problem, values)
    -- Dropped, or replaced by other runs.
    if view.stop ~= stop then
      return
    end
    view.stop = nil
    if problem then
      local is_cancelled = CANCELLED[problem.code]
      local text = is_cancelled and 'the runs were cancelled' or problem.message
      vim.notify('relay-analyzer: ' .. text, vim.log.levels[is_cancelled and 'INFO' or 'ERROR'])
    else
      view.values = values
      for side, buffer in pairs(view.buffers) do
        draw(buffer, side, values)
      end
      for _, note in ipairs(values.notes) do
        vim.notify('relay-analyzer: ' .. note)
      end
    end
    changed()
  end)
  view.stop = stop
  changed()
end

--- The values of a comparison. Shows a message if it was not run.
---@param view relay_analyzer.Comparison
---@return table?
local function values_of(view)
  if not view.values then
    local what = view.stop and 'the modules still run' or 'the modules were not run: :RelayDiffRun runs them'
    vim.notify('relay-analyzer: ' .. what)
  end
  return view.values
end

--- The next or previous call with an error of its own from a position on. Shows a message if there is none.
---@param view relay_analyzer.Comparison
---@param side string
---@param position lsp.Position
---@param step integer 1 or -1
---@return table?
function M.next(view, side, position, step)
  local values = values_of(view)
  if not values then
    return
  end
  local stops = vim.tbl_map(function(number)
    return values.pairs[number + 1]
  end, values.divergences)
  local ahead = changes.stops_from({ pairs = {}, changes = {}, stops = stops }, side, position, step)
  if #ahead == 0 then
    local none = #stops == 0 and 'no call has an error of its own'
    vim.notify('relay-analyzer: ' .. (none or 'no more divergences ' .. (step > 0 and 'below' or 'above')))
  end
  return ahead[math.min(vim.v.count1, #ahead)]
end

--- Shows the errors and values of a pair at the cursor.
---@param pair table
function M.show(pair)
  vim.lsp.util.open_floating_preview(vim.split(pair.hover, '\n'), 'markdown', {
    border = 'rounded',
    focus_id = 'relay-analyzer.values',
    max_width = WIDTH,
    max_height = HEIGHT,
  })
end

--- Shows those of the calls at a position.
---@param view relay_analyzer.Comparison
---@param side string
---@param position lsp.Position
function M.show_at(view, side, position)
  local values = values_of(view)
  local pair = values and changes.innermost(values.pairs, side, position)
  if pair then
    M.show(pair)
  elseif values then
    vim.notify('relay-analyzer: no compared call is here')
  end
end

return M
