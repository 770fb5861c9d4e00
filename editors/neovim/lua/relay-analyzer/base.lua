--- The base of a comparison: a file, a module of a log, the saved file, the committed file, or the
--- clipboard.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

---@class relay_analyzer.Base
---@field label string what it is called
---@field text string
---@field origin { log: string, module: integer }? the log that it is from

--- The timeout of Git, in milliseconds.
local GIT = 10000

--- The file of a buffer, or nil; for a module, the file of its log.
---@param buffer integer
---@return string?
local function file_of(buffer)
  local uri = modules.log_of(buffer)
  return uri and vim.uri_to_fname(uri) or nil
end

---@param path string
---@param label string
---@return relay_analyzer.Base?, string?
local function of_file(path, label)
  local file, problem = io.open(path, 'rb')
  if not file then
    return nil, problem
  end
  local text = file:read('*a')
  file:close()
  -- A folder cannot be compared.
  if not text then
    return nil, path .. ' is no file'
  end
  return { label = label, text = text }
end

---@param buffer integer
---@return relay_analyzer.Base?, string?
local function saved(buffer)
  local path = file_of(buffer)
  if not path or modules.origin(buffer) then
    return nil, 'this buffer has no file'
  end
  return of_file(path, 'saved')
end

---@param buffer integer
---@return relay_analyzer.Base?, string?
local function head(buffer)
  local path = file_of(buffer)
  if not path or modules.origin(buffer) then
    return nil, 'this buffer has no file'
  elseif vim.fn.executable('git') == 0 then
    return nil, 'there is no program `git`'
  end
  local folder, name = vim.fs.dirname(path), vim.fs.basename(path)
  local command = { 'git', '-C', folder, 'show', 'HEAD:./' .. name }
  local ran = vim.system(command, { timeout = GIT }):wait()
  if ran.code ~= 0 then
    return nil, vim.trim(ran.stderr or 'git does not respond'):gsub('^fatal: ', '')
  end
  return { label = 'HEAD', text = ran.stdout }
end

--- The clipboard, or the unnamed register if there is none.
---@return relay_analyzer.Base?, string?
local function clipboard()
  local text = vim.fn.has('clipboard') == 1 and vim.fn.getreg('+') or ''
  text = text ~= '' and text or vim.fn.getreg('"')
  if vim.trim(text) == '' then
    return nil, 'the clipboard is empty'
  end
  return { label = 'clipboard', text = text }
end

---@param buffer integer
---@param uri string
---@param module string a number or a pass
---@param log string what the log is called; nothing where it is the one that the buffer is from
---@return relay_analyzer.Base?
local function of_module(buffer, uri, module, log)
  local client = request.any_client(buffer)
  local found = client and modules.text(client, uri, tonumber(module) or module)
  if not found then
    return nil
  end
  local origin = { log = uri, module = found.module }
  return { label = log .. modules.title(found.module, found.pass), text = found.text, origin = origin }
end

local NAMED = { saved = saved, HEAD = head, clipboard = clipboard }

--- The base that an argument of `:RelayDiff` names. Returns nil and a reason if there is none, or nil
--- alone if a message was shown.
---@param buffer integer
---@param argument string
---@return relay_analyzer.Base?, string?
function M.of(buffer, argument)
  if NAMED[argument] then
    return NAMED[argument](buffer)
  end
  local own = argument:match('^#(.+)$')
  if own then
    local log = modules.log_of(buffer)
    if not log then
      return nil, 'this buffer is neither a log nor a module of one'
    end
    return of_module(buffer, log, own, '')
  end
  local path = vim.fn.fnamemodify(vim.fn.expand(vim.fn.escape(argument, '#%')), ':p')
  local log, module = path:match('^(.*)#([^#]+)$')
  if log and not vim.uv.fs_stat(path) then
    return of_module(buffer, vim.uri_from_fname(log), module, vim.fs.basename(log))
  end
  return of_file(path, argument)
end

--- Completes the argument of `:RelayDiff`: names, files, and after `#` modules of the log by number and pass.
---@param lead string
---@return string[]
function M.complete(lead)
  local buffer = vim.api.nvim_get_current_buf()
  local found = {}
  local file = lead:match('^(.*)#')
  local log = file and (file == '' and modules.log_of(buffer) or vim.uri_from_fname(vim.fn.fnamemodify(file, ':p')))
  if log then
    for _, module in ipairs(modules.known(buffer, log)) do
      table.insert(found, ('%s#%d'):format(file, module.index))
    end
    for _, module in ipairs(modules.known(buffer, log)) do
      local name = type(module.pass) == 'string' and ('%s#%s'):format(file, module.pass)
      if name and not vim.tbl_contains(found, name) then
        table.insert(found, name)
      end
    end
  else
    found = { 'saved', 'HEAD', 'clipboard' }
  end
  found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, found)
  return log and found or vim.list_extend(found, vim.fn.getcompletion(lead, 'file'))
end

--- Lets the user choose the base for a buffer.
---@param buffer integer
---@param choose fun(argument: string)
function M.select(buffer, choose)
  local choices = {}
  local function add(title, pick)
    table.insert(choices, { title = title, pick = pick })
  end
  local function take(argument)
    return function()
      choose(argument)
    end
  end
  local log, own = modules.origin(buffer)
  if log then
    add('another module of ' .. modules.short(log), function()
      local others = vim.tbl_filter(function(module)
        return module.index ~= own
      end, modules.known(buffer, log))
      modules.select(others, 'Compare with module:', function(module)
        choose('#' .. module.index)
      end)
    end)
  elseif file_of(buffer) then
    if saved(buffer) then
      add('the saved file', take('saved'))
    end
    if head(buffer) then
      add('the last commit (HEAD)', take('HEAD'))
    end
  end
  if clipboard() then
    add('the clipboard', take('clipboard'))
  end
  add('a file …', function()
    vim.ui.input({ prompt = 'Compare with file: ', completion = 'file' }, function(path)
      if path and path ~= '' then
        choose(path)
      end
    end)
  end)
  vim.ui.select(choices, {
    prompt = 'Compare with:',
    format_item = function(choice)
      return choice.title
    end,
  }, function(choice)
    if choice then
      -- The next prompt goes below the first one, not in its line.
      vim.schedule(choice.pick)
    end
  end)
end

return M
