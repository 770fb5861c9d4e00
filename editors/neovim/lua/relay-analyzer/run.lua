--- Running functions: `:RelayRun`, and the lens above them.
local M = {}

local NAME = 'relay://run'

--- Runs that are under way: how each is stopped.
local running = {}

---@param client vim.lsp.Client
---@return integer? id
local function request(client, params, handler, buffer)
  local sent, id
  -- The methods are called with a colon from 0.11 on.
  if vim.fn.has('nvim-0.11') == 1 then
    sent, id = client:request('workspace/executeCommand', params, handler, buffer)
  else
    sent, id = client.request('workspace/executeCommand', params, handler, buffer)
  end
  return sent and id or nil
end

local function cancel(client, id)
  if vim.fn.has('nvim-0.11') == 1 then
    client:cancel_request(id)
  else
    client.cancel_request(id)
  end
end

--- The buffer that shows results, in a window.
---@param text string
local function show(text)
  local buffer = vim.fn.bufnr('^' .. NAME .. '$')
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, NAME)
    vim.bo[buffer].bufhidden = 'hide'
    vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, '\n'))
  vim.bo[buffer].modifiable = false
  if vim.fn.bufwinid(buffer) < 0 then
    local window = vim.api.nvim_get_current_win()
    local height = math.min(vim.api.nvim_buf_line_count(buffer), math.floor(vim.o.lines / 3))
    vim.cmd(('botright %dsplit'):format(math.max(height, 5)))
    vim.api.nvim_win_set_buf(0, buffer)
    vim.wo.wrap = false
    vim.api.nvim_set_current_win(window)
  end
end

--- Runs what `argument` says, and shows the result; see `:help :RelayRun`.
---@param argument table
---@param buffer integer
function M.execute(argument, buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = require('relay-analyzer').name })[1]
  if not client then
    vim.notify('relay-analyzer: no server is attached to this buffer', vim.log.levels.ERROR)
    return
  end
  local run = {}
  local params = { command = 'relay.run', arguments = { argument } }
  run.id = request(client, params, function(problem, result)
    running[run] = nil
    if problem then
      -- A run that was stopped has no more to say.
      if problem.code ~= -32800 then
        vim.notify('relay-analyzer: ' .. problem.message, vim.log.levels.ERROR)
      end
    elseif result and result.status ~= 'cancelled' then
      show(result.text)
      -- Hints are asked for again with the next change only, before 0.11.
      if vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
        vim.lsp.inlay_hint.enable(false, { bufnr = buffer })
        vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
      end
    end
  end, buffer)
  running[run] = function()
    cancel(client, run.id)
  end
end

--- Stops all that runs.
function M.stop()
  for run, stop in pairs(running) do
    stop()
    running[run] = nil
  end
end

--- `x=image.npy n=3 seed=1`, as words.
---@param words string[]
---@return table
local function parse(words)
  local found = {}
  for _, word in ipairs(words) do
    local name, value = word:match('^%%?([^=]+)=(.*)$')
    if name == 'seed' then
      found.seed = tonumber(value)
    elseif name then
      found.inputs = found.inputs or {}
      local fine, decoded = pcall(vim.json.decode, value)
      -- `nan` and `inf` are no JSON, though some decoders take them.
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
  -- What is typed is remembered.
  found.remember = (found.inputs or found.archives or found.params or found.seed) and true or nil
  return found
end

--- `:RelayRun[!] [@f] [x=…]…`
function M.command(call)
  if call.bang then
    M.stop()
    return
  end
  local argument = parse(call.fargs)
  argument.uri = vim.uri_from_bufnr(0)
  if not argument['function'] then
    local client = vim.lsp.get_clients({ bufnr = 0, name = require('relay-analyzer').name })[1]
    local encoding = client and client.offset_encoding or 'utf-16'
    argument.position = vim.lsp.util.make_position_params(0, encoding).position
  end
  M.execute(argument, vim.api.nvim_get_current_buf())
end

--- Names of the functions of a buffer.
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
