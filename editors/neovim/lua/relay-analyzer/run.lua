--- Runs functions: `:RelayRun`, and the lens above them.
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

local NAME = 'relay://run'
--- The error codes of cancelled requests, from the client and from the server.
local CANCELLED = { [-32800] = true, [-32802] = true }

--- The active runs, with functions that cancel them. A run that is stopped is none any more: what the server still
--- answers is ignored.
---@type table<{ name: string }, fun()>
local running = {}

--- The number of active runs.
---@return integer
function M.count()
  return vim.tbl_count(running)
end

--- The position of the user: a result takes focus only if the user has not moved since.
local function place()
  local here = vim.api.nvim_get_current_win()
  return { vim.fn.mode(), here, vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(here) }
end

--- Shows a result in the buffer for results.
---@param text string
---@param focus boolean
local function show(text, focus)
  local buffer = vim.fn.bufnr('^' .. NAME .. '$')
  if buffer < 0 then
    buffer = window.buffer({ name = NAME, filetype = 'relay-run', hidden = true })
  end
  local lines = vim.split(text, '\n')
  window.write(buffer, lines)
  local back = vim.api.nvim_get_current_win()
  local shown = vim.fn.bufwinid(buffer)
  if shown < 0 then
    shown = window.open(buffer, { split = 'botright' }, window.height(#lines))
  end
  vim.api.nvim_win_set_cursor(shown, { 1, 0 })
  vim.api.nvim_set_current_win(focus and shown or back)
end

--- Refreshes the values and lenses after a run.
---@param buffer integer
local function refresh(buffer)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  require('relay-analyzer.values').refresh(buffer)
  require('relay-analyzer.lens').refresh(buffer)
end

--- Says that a run was cancelled.
---@param run { name: string }
local function tell_cancelled(run)
  vim.notify(('relay-analyzer: %s was cancelled'):format(run.name))
end

--- Runs the function of `argument`, and shows the result; see `:help :RelayRun`.
---@param argument table
---@param buffer integer
function M.execute(argument, buffer)
  local client = request.client(buffer)
  if not client then
    return
  end
  local named = argument['function']
  local run, from = { name = named and '@' .. named:gsub('^@', '') or 'the run' }, place()
  local params = { command = 'relay.run', arguments = { argument } }
  local stop = request.start(client, buffer, 'workspace/executeCommand', params, function(problem, result)
    if not running[run] then
      return
    end
    running[run] = nil
    vim.cmd.redrawstatus({ bang = true })
    if problem and CANCELLED[problem.code] then
      tell_cancelled(run)
    elseif problem then
      vim.notify('relay-analyzer: ' .. problem.message, vim.log.levels.ERROR)
    elseif result and result.status == 'cancelled' then
      vim.notify('relay-analyzer: ' .. result.title)
    elseif result and argument.call then
      vim.notify('relay-analyzer: ' .. result.title, result.status == 'done' and vim.log.levels.INFO or vim.log.levels.WARN)
      refresh(buffer)
    elseif result then
      show(result.text, vim.deep_equal(from, place()))
      refresh(buffer)
    end
  end)
  if stop then
    running[run] = stop
    vim.cmd.redrawstatus({ bang = true })
  end
end

--- Stops all runs.
function M.stop()
  if M.count() == 0 then
    vim.notify('relay-analyzer: nothing is running')
  end
  for run, stop in pairs(running) do
    running[run] = nil
    stop()
    -- Neovim drops the answer to a request that it cancels.
    tell_cancelled(run)
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- Parses the words `x=image.npy n=3 seed=1`.
---@param words string[]
---@return table
function M.parse(words)
  local found = {}
  for _, word in ipairs(words) do
    local name, value = word:match('^%%?([^=]+)=(.*)$')
    if name == 'seed' then
      found.seed = tonumber(value)
    elseif name then
      found.inputs = found.inputs or {}
      local fine, decoded = pcall(vim.json.decode, value)
      -- `nan` and `inf` are not JSON, though some decoders accept them.
      local odd = type(decoded) == 'number' and decoded - decoded ~= 0
      found.inputs[name] = fine and decoded ~= nil and not odd and decoded or value
    elseif word:match('%.npz$') then
      found.archives = vim.list_extend(found.archives or {}, { word })
    elseif word:match('%.params$') then
      found.params = vim.list_extend(found.params or {}, { word })
    else
      found['function'] = word
    end
  end
  -- Typed arguments are saved.
  found.remember = (found.inputs or found.archives or found.params or found.seed) and true or nil
  return found
end

--- `:RelayRun[!] [@f] [x=…]…`
function M.command(call)
  if call.bang then
    M.stop()
    return
  end
  local argument = M.parse(call.fargs)
  argument.uri = vim.uri_from_bufnr(0)
  if not argument['function'] then
    local client = request.client(vim.api.nvim_get_current_buf())
    if not client then
      return
    end
    argument.position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
  end
  M.execute(argument, vim.api.nvim_get_current_buf())
end

--- `:RelayValue {n}`: shows one of several values of the variable at the cursor.
function M.value(call)
  local number = tonumber(call.args)
  if not number or number < 1 or number % 1 ~= 0 then
    vim.notify('relay-analyzer: :RelayValue takes the number of a value, from 1', vim.log.levels.WARN)
    return
  end
  local buffer, position = request.at_cursor()
  if not buffer then
    return
  end
  M.execute({ uri = vim.uri_from_bufnr(buffer), value = { position = position, number = number } }, buffer)
end

--- `:RelayNextCall`, `:RelayPreviousCall`: shows the values of the call that is a number of calls after the one that is
--- shown, of the function at the cursor.
---@param step integer
function M.call(step)
  local buffer, position = request.at_cursor()
  if not buffer then
    return
  end
  M.execute({ uri = vim.uri_from_bufnr(buffer), call = { position = position, step = step } }, buffer)
end

--- Completes the names of the functions of a buffer.
function M.complete(lead)
  local names = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local name = line:match('^%s*def%s+(@[%w_./:]+)')
    if name and vim.startswith(name, lead) then
      names[#names + 1] = name
    end
  end
  return names
end

return M
