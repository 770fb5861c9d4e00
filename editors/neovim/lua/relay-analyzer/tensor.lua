--- `:RelayTensor`: the tensor under the cursor in a buffer: its statistics, the distribution and elements of a slice.
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local NAME = 'relay://tensor'
local KEYS = ' %#Title#tensor%*  <Tab> next slice · <S-Tab> previous · s slice · + next value · - previous · y copy as numpy · q close'

---@class relay_analyzer.TensorBuffer
---@field buffer integer
---@field source integer the buffer with the text
---@field value { position: lsp.Position, number: integer } the value that is shown
---@field answer? table what the server has answered
---@field asked integer the number of the last request: older answers are late

---@type relay_analyzer.TensorBuffer?
local view

---@param lines string[]
local function write(lines)
  window.write(view.buffer, lines)
  local shown = vim.fn.bufwinid(view.buffer)
  if shown < 0 then
    shown = window.open(view.buffer, { split = 'botright' }, window.height(#lines))
    vim.wo[shown][0].winbar = KEYS
  end
  vim.api.nvim_win_set_cursor(shown, { 1, 0 })
end

--- Asks for a slice of a value. A problem leaves the last view.
---@param slice? string
---@param number? integer the number of the value among those of the variable
local function ask(slice, number)
  local client = request.client(view.source)
  if not client then
    return
  end
  view.asked = view.asked + 1
  local asked, of = view.asked, view
  local value = { position = view.value.position, number = number or view.value.number }
  local argument = { uri = vim.uri_from_bufnr(view.source), value = value, view = { slice = slice, listing = true } }
  local params = { command = 'relay.run', arguments = { argument } }
  request.send(client, view.source, 'workspace/executeCommand', params, function(result)
    if view ~= of or asked ~= of.asked or not vim.api.nvim_buf_is_valid(of.buffer) then
      return
    elseif not result or not result.view then
      vim.notify('relay-analyzer: ' .. (result and result.title or 'there is no answer'), vim.log.levels.WARN)
      return
    end
    of.value, of.answer = value, result.view
    local lines = vim.list_slice(result.view.tensor.listing.lines)
    if result.view.count > 1 then
      table.insert(lines, 2, ('  value %d of %d'):format(result.view.number, result.view.count))
    end
    write(lines)
  end)
end

--- Shows the slice after or before the one that is shown.
---@param field 'next'|'previous'
local function step(field)
  local slice = view and view.answer and view.answer.tensor.listing[field]
  if slice then
    ask(slice)
  else
    vim.notify(('relay-analyzer: there is no %s slice'):format(field))
  end
end

--- Shows the value after or before the one that is shown, of several in the last run.
---@param by integer
local function move(by)
  if view and view.answer then
    ask(view.answer.tensor.slice, view.value.number + by)
  end
end

local function type_slice()
  if not view or not view.answer then
    return
  end
  vim.ui.input({ prompt = 'Slice: ', default = view.answer.tensor.slice }, function(slice)
    if slice and view then
      ask(slice)
    end
  end)
end

local function copy()
  local numpy = view and view.answer and view.answer.tensor.numpy
  if numpy then
    vim.fn.setreg(vim.v.register, numpy)
    vim.notify('relay-analyzer: copied the slice as numpy')
  else
    vim.notify('relay-analyzer: the slice is too large to be copied', vim.log.levels.WARN)
  end
end

--- `:RelayTensor [slice]`: shows the variable of the last run or the weight under the cursor.
---@param call { args: string }
function M.command(call)
  local source, position = request.at_cursor()
  if not source then
    return
  end
  local buffer = view and view.buffer
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    buffer = window.buffer({
      name = NAME,
      filetype = 'relay-tensor',
      hidden = true,
      keys = {
        ['<Tab>'] = { function() step('next') end, desc = 'the next slice' },
        ['<S-Tab>'] = { function() step('previous') end, desc = 'the previous slice' },
        s = { type_slice, desc = 'another slice' },
        ['+'] = { function() move(1) end, desc = 'the next value' },
        ['-'] = { function() move(-1) end, desc = 'the previous value' },
        y = { copy, desc = 'copy the slice as numpy' },
      },
    })
  end
  view = { buffer = buffer, source = source, value = { position = position, number = 1 }, asked = view and view.asked or 0 }
  ask(call.args ~= '' and call.args or nil)
end

return M
