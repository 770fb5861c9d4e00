--- `:RelayPasses`: the modules of a log, and the changes of each pass.
local columns = require('relay-analyzer.columns')
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local marks = vim.api.nvim_create_namespace('relay-analyzer.passes')
--- The width of the names of changed functions, in columns.
local CHANGED_WIDTH = 60
--- The costs of a module, by field of the response.
local COSTS = {
  { field = 'calls', title = 'calls' },
  { field = 'params', title = 'parameters' },
  { field = 'macs', title = 'MACs' },
  { field = 'peak', title = 'peak memory' },
}

---@class relay_analyzer.PassesView
---@field log string
---@field buffer integer
---@field modules table[]
---@field has_costs boolean
---@field errors table? the response to `relay/passErrors`
---@field stamp string? the state of the log that it is about
---@field stop fun()? cancels the runs for it
---@field asked integer how often the server was asked
---@field start integer the module that the cursor is put on when they are there
---@field open table<integer, true> the modules whose nested passes are shown
---@field rows table[] the module of each line below the titles

--- The open views by the URI of the log.
---@type table<string, relay_analyzer.PassesView>
local shown = {}

local KEYS = ' %%#Title#%s%%*%%<  <CR> open · <Tab> passes inside · d with the one before · D with … · c costs · e errors · q close'

--- The description of the changes of a pass.
---@param module table
---@return string
local function changed(module)
  local text = columns.clip(table.concat(module.changed, ', '), CHANGED_WIDTH)
  if module.cut then
    text = (text == '' and '' or text .. ' ') .. '(the log ends within it)'
  elseif module.before then
    text = (text == '' and '' or text .. ' ') .. '(before the pass)'
  elseif text == '' then
    text = module.index == 0 and '' or 'nothing'
  end
  return text
end

--- The lines of the view: titles first, then one line for each module, and for each pass inside an open one.
---@param list table[]
---@param has_costs boolean
---@param open? table<integer, true> the modules whose nested passes are shown
---@param errors? table<integer, table> the error of each module that was run
---@return string[] lines
---@return table[] modules the module of each line below the titles
function M.render(list, has_costs, open, errors)
  local head = { '#', 'pass', 'line', 'functions', 'changed' }
  local right = { [1] = true, [3] = true, [4] = true }
  if has_costs then
    for at, cost in ipairs(COSTS) do
      table.insert(head, 4 + at, cost.title)
      right[4 + at] = true
    end
  end
  if errors then
    table.insert(head, #head, 'max error')
    right[#head - 1] = true
  end
  local rows = { head }
  local shown_modules = {}
  for _, module in ipairs(list) do
    local pass = type(module.pass) == 'string' and module.pass or ''
    local nested = module.nested or {}
    local is_open = open ~= nil and open[module.index] == true
    if #nested > 0 then
      pass = ('%s %s'):format(pass, is_open and '▾' or ('▸ %d inside'):format(#nested))
    end
    local row = { tostring(module.index), pass, tostring(module.line), tostring(module.functions), changed(module) }
    if has_costs then
      for at, cost in ipairs(COSTS) do
        table.insert(row, 4 + at, module.cost and module.cost[cost.field].text or '?')
      end
    end
    if errors then
      local error = errors[module.index]
      table.insert(row, #row, error and error.text or '')
    end
    table.insert(rows, row)
    table.insert(shown_modules, module)
    for _, name in ipairs(is_open and nested or {}) do
      local inner = vim.fn['repeat']({ '' }, #head)
      inner[2] = '  ' .. name
      table.insert(rows, inner)
      table.insert(shown_modules, module)
    end
  end
  return columns.aligned(rows, right), shown_modules
end

--- Writes the list, in which modules without changes are dimmed.
---@param view relay_analyzer.PassesView
local function draw(view)
  local lines, errors
  if view.errors then
    errors = {}
    for _, module in ipairs(view.errors.modules) do
      errors[module.index] = module
    end
  end
  lines, view.rows = M.render(view.modules, view.has_costs, view.open, errors)
  window.write(view.buffer, lines)
  vim.api.nvim_buf_clear_namespace(view.buffer, marks, 0, -1)
  vim.api.nvim_buf_set_extmark(view.buffer, marks, 0, 0, { line_hl_group = 'Title' })
  for at, module in ipairs(view.rows) do
    local is_nested = view.rows[at - 1] == module
    if is_nested or (module.index > 0 and #module.changed == 0 and not module.cut) then
      vim.api.nvim_buf_set_extmark(view.buffer, marks, at, 0, {
        end_col = #lines[at + 1],
        hl_group = 'RelayPassesSame',
      })
    end
  end
  for at, module in ipairs(view.rows) do
    local error = errors and errors[module.index]
    if error and error.state == 'differs' then
      -- What follows inherits the error.
      vim.api.nvim_buf_set_extmark(view.buffer, marks, at, 0, { end_col = #lines[at + 1], hl_group = 'RelayPassesDiffers' })
      break
    end
  end
end

--- The module of the line under the cursor.
---@param view relay_analyzer.PassesView
---@return table?
local function module_here(view)
  return view.rows[vim.api.nvim_win_get_cursor(0)[1] - 1]
end

--- Shows or hides the passes inside that of the line.
---@param view relay_analyzer.PassesView
---@param module table
local function toggle(view, module)
  if #(module.nested or {}) == 0 then
    return
  end
  view.open[module.index] = not view.open[module.index] or nil
  draw(view)
  for at, row in ipairs(view.rows) do
    if row == module then
      vim.api.nvim_win_set_cursor(0, { at + 1, 0 })
      break
    end
  end
end

--- Compares the module of the line with another one.
---@param view relay_analyzer.PassesView
---@param module table
---@param other table
local function compare(view, module, other)
  modules.show(view.log, module.index)
  require('relay-analyzer.diff').command('#' .. other.index)
end

--- Requests the modules and shows them.
---@param view relay_analyzer.PassesView
---@param client vim.lsp.Client
local function update(view, client)
  view.asked = view.asked + 1
  local number = view.asked
  if view.stamp ~= modules.stamp(view.log) then
    view.errors = nil
  end
  modules.list(client, view.buffer, view.log, view.has_costs, function(list)
    if view.asked ~= number or not vim.api.nvim_buf_is_valid(view.buffer) then
      return
    end
    view.modules = list
    draw(view)
    local there = vim.fn.bufwinid(view.buffer)
    if there >= 0 then
      vim.api.nvim_win_set_height(there, window.height(#view.rows + 2))
      if vim.api.nvim_win_get_cursor(there)[1] == 1 and #list > 0 then
        vim.api.nvim_win_set_cursor(there, { math.min(view.start, #view.rows - 1) + 2, 0 })
      end
    end
  end, function()
    if #view.modules == 0 and vim.api.nvim_buf_is_valid(view.buffer) then
      vim.api.nvim_buf_delete(view.buffer, { force = true })
    end
  end)
end

--- Runs the modules of the log, and shows the error of each; or hides the errors, or cancels the runs.
---@param view relay_analyzer.PassesView
---@param client vim.lsp.Client
local function toggle_errors(view, client)
  if view.stop then
    view.stop()
    view.stop = nil
    vim.notify('relay-analyzer: the runs were cancelled')
    return
  elseif view.errors then
    view.errors = nil
    draw(view)
    return
  end
  vim.notify('relay-analyzer: running the modules …')
  local stop
  view.stamp = modules.stamp(view.log)
  local params = { textDocument = { uri = view.log } }
  stop = request.start(client, view.buffer, 'relay/passErrors', params, function(problem, errors)
    if view.stop ~= stop or not vim.api.nvim_buf_is_valid(view.buffer) then
      return
    end
    view.stop = nil
    if problem then
      vim.notify('relay-analyzer: ' .. problem.message, vim.log.levels.ERROR)
      return
    end
    view.errors = errors
    draw(view)
    vim.notify('relay-analyzer: ' .. errors.summary)
  end)
  view.stop = stop
end

--- Creates a view of a log, not yet in a window.
---@param log string
---@param client vim.lsp.Client
---@return relay_analyzer.PassesView
local function create(log, client)
  local view = { log = log, modules = {}, has_costs = false, asked = 0, start = 0, open = {}, rows = {} }
  local function on_module(action)
    return function()
      local module = module_here(view)
      if module then
        action(module)
      end
    end
  end
  view.buffer = window.buffer({
    name = 'relay://passes' .. vim.uri_to_fname(log),
    filetype = 'relay-passes',
    keys = {
      ['<CR>'] = {
        on_module(function(module)
          modules.show(view.log, module.index)
        end),
        desc = 'open the module',
      },
      ['<Tab>'] = {
        on_module(function(module)
          toggle(view, module)
        end),
        desc = 'show the passes inside the pass',
      },
      d = {
        on_module(function(module)
          local other = view.modules[module.index]
          if other then
            compare(view, module, other)
          else
            vim.notify('relay-analyzer: there is no previous module')
          end
        end),
        desc = 'compare with the previous module',
      },
      D = {
        on_module(function(module)
          local others = vim.tbl_filter(function(other)
            return other ~= module
          end, view.modules)
          modules.select(others, ('Compare #%d with:'):format(module.index), function(other)
            compare(view, module, other)
          end)
        end),
        desc = 'compare with another module',
      },
      c = {
        function()
          view.has_costs = not view.has_costs
          update(view, client)
        end,
        desc = 'show the cost of each module',
      },
      e = {
        function()
          toggle_errors(view, client)
        end,
        desc = 'run the modules, and show the error of each',
      },
      K = {
        on_module(function(module)
          for _, error in ipairs(view.errors and view.errors.modules or {}) do
            if error.index == module.index then
              vim.notify(error.detail)
            end
          end
        end),
        desc = 'show the error in full',
      },
    },
  })
  window.write(view.buffer, { 'Reading the log …' })
  shown[log] = view
  return view
end

--- Lists the modules of a log: of a file, or of the log in the current buffer or that it belongs to.
---@param file string
---@param mods? table as in `nvim_create_user_command`
function M.show(file, mods)
  local buffer = vim.api.nvim_get_current_buf()
  local log, client = modules.subject(buffer, file)
  if not client then
    return
  end
  local view = shown[log]
  if not view or not vim.api.nvim_buf_is_valid(view.buffer) then
    view = create(log, client)
    local _, module = modules.origin(buffer)
    view.start = tonumber(module) or 0
  end
  local there = vim.fn.bufwinid(view.buffer)
  if there >= 0 then
    vim.api.nvim_set_current_win(there)
  else
    there = window.open(view.buffer, mods and mods.split ~= '' and mods or { split = 'botright' }, window.height(1))
    vim.wo[there][0].cursorline = true
  end
  vim.wo[there][0].winbar = KEYS:format((modules.short(log):gsub('%%', '%%%%')))
  update(view, client)
end

return M
