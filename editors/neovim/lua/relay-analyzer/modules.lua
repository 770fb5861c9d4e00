--- Modules of a log as buffers: `relay:///tmp/run.log#3`. The server reads them from the log, which may
--- be too large for an editor.
local request = require('relay-analyzer.request')

local M = {}

local SCHEME = 'relay://'
--- The scheme of buffers that show a module that TVM saved; see `saved.lua`.
M.SAVED_SCHEME = 'relay-saved://'
--- The scheme of code views; see `code.lua`.
M.CODE_SCHEME = 'relay-code://'
--- The scheme of reduced modules; see `reduce.lua`.
M.REDUCED_SCHEME = 'relay-reduced://'

--- The modules of the listed logs by URI, for completion and prompts.
---@type table<string, { stamp: string, modules: table[] }>
local listed = {}

--- The state of a log, which changes when the compiler writes it again.
---@param uri string
---@return string
function M.stamp(uri)
  local stat = vim.uv.fs_stat(vim.uri_to_fname(uri))
  return stat and ('%d.%d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or ''
end

--- Returns true if a buffer belongs to this plugin instead of a file.
---@param buffer integer
---@return boolean
function M.is_ours(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  -- A code view may have the name of the file.
  local schemes = { SCHEME, M.SAVED_SCHEME, M.CODE_SCHEME, M.REDUCED_SCHEME }
  return vim.b[buffer].relay_code_stamp ~= nil or vim.iter(schemes):any(function(scheme)
    return vim.startswith(name, scheme)
  end)
end

--- The log and the module in the name of a buffer: the module by its number or its pass.
---@param buffer integer
---@return string? uri
---@return (integer|string)? module
local function name_of(buffer)
  local path, module = vim.api.nvim_buf_get_name(buffer):match('^relay://(/.*)#([^#]+)$')
  if path then
    return 'file://' .. path, tonumber(module) or module
  end
end

--- The log and the module that a buffer shows, including as the base of a comparison.
---@param buffer integer
---@return string? uri
---@return (integer|string)? module
function M.origin(buffer)
  local base = vim.b[buffer].relay_origin
  if base then
    return base.log, base.module
  end
  return name_of(buffer)
end

--- The log that a buffer belongs to: the one that its module is from, or its own file. Nil if there is
--- none.
---@param buffer integer
---@return string? uri
function M.log_of(buffer)
  local log = M.origin(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if log or name == '' or vim.bo[buffer].buftype ~= '' then
    return log
  end
  return vim.uri_from_fname(name)
end

--- The log of a command, and a server for requests about it. If one of them is missing, shows a message and
--- returns no server.
---@param buffer integer
---@param file? string a log, instead of the one that the buffer belongs to
---@return string? uri
---@return vim.lsp.Client?
function M.subject(buffer, file)
  local is_named = file and file ~= ''
  local log = is_named and vim.uri_from_fname(vim.fn.fnamemodify(file, ':p')) or M.log_of(buffer)
  if not log then
    vim.notify('relay-analyzer: this buffer is neither a log nor a module of one', vim.log.levels.WARN)
    return
  end
  return log, request.any_client(buffer)
end

--- The short name of a log.
---@param uri string
---@return string
function M.short(uri)
  return vim.fs.basename(vim.uri_to_fname(uri))
end

--- `#3 FuseOps`
---@param number integer
---@param pass any the pass, if the header of the module names one
---@return string
function M.title(number, pass)
  return ('#%d%s'):format(number, type(pass) == 'string' and ' ' .. pass or '')
end

--- The name of a buffer in titles: a module by its number and pass, otherwise the name of the file.
---@param buffer integer
---@return string
function M.label(buffer)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
  return vim.b[buffer].relay_module or (name == '' and '[No Name]' or name)
end

--- The buffer of a module, which is read when it is first shown.
---@param uri string
---@param module integer
---@return integer
function M.buffer(uri, module)
  local buffer = vim.fn.bufadd(uri:gsub('^file://', SCHEME) .. '#' .. module)
  vim.bo[buffer].buflisted = true
  return buffer
end

--- Enters a window for a module: the previous one, another one with a file or module, or a new one.
function M.enter_window()
  local candidates = { vim.fn.win_getid(vim.fn.winnr('#')), unpack(vim.api.nvim_tabpage_list_wins(0)) }
  for _, candidate in ipairs(candidates) do
    if vim.api.nvim_win_is_valid(candidate) then
      local buffer = vim.api.nvim_win_get_buf(candidate)
      if vim.bo[buffer].buftype == '' or name_of(buffer) then
        vim.api.nvim_set_current_win(candidate)
        return
      end
    end
  end
  vim.cmd('aboveleft new')
  vim.bo.bufhidden = 'wipe'
end

--- Shows the current version of a module of a log in a suitable window.
---@param uri string
---@param module integer
function M.show(uri, module)
  M.enter_window()
  local buffer = M.buffer(uri, module)
  M.refresh(buffer)
  vim.api.nvim_set_current_buf(buffer)
end

--- Attaches the server to a buffer without a file.
---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  vim.bo[buffer].filetype = 'relay'
  vim.lsp.buf_attach_client(buffer, client.id)
  -- In 0.10, a wiped buffer is detached too late for semantic tokens: a pending response would cause an
  -- error.
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buffer,
    once = true,
    callback = function()
      if request.has_text(client, buffer) then
        vim.lsp.buf_detach_client(buffer, client.id)
      end
    end,
  })
end

--- The response to `relay/moduleText`, or nil after showing an error.
---@param client vim.lsp.Client
---@param uri string
---@param module integer|string
---@return { module: integer, pass: any, line: integer, text: string }?
function M.text(client, uri, module)
  local params = { textDocument = { uri = uri }, module = module }
  return request.wait(client, vim.api.nvim_get_current_buf(), 'relay/moduleText', params)
end

--- Reads a module into the buffer that is named after it.
---@param buffer integer
function M.read(buffer)
  local uri, module = name_of(buffer)
  local client = uri and request.any_client(buffer)
  local found = client and M.text(client, uri, module)
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  if not found then
    return
  end
  vim.b[buffer].relay_stamp = M.stamp(uri)
  vim.b[buffer].relay_module = M.title(found.module, found.pass)
  M.fill(client, buffer, found.text)
end

--- Sets the text of a read-only buffer.
---@param client vim.lsp.Client
---@param buffer integer
---@param text string
function M.fill(client, buffer, text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, M.lines(text))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  M.attach(client, buffer)
end

--- Reads a module again if its log has changed.
---@param buffer integer
function M.refresh(buffer)
  local uri = name_of(buffer)
  if uri and vim.api.nvim_buf_is_loaded(buffer) and vim.b[buffer].relay_stamp ~= M.stamp(uri) then
    vim.cmd(("lockmarks lua require('relay-analyzer.modules').read(%d)"):format(buffer))
  end
end

--- The lines of a text, without an empty one after the last line break.
---@param text string
---@return string[]
function M.lines(text)
  return vim.split((text:gsub('\r\n', '\n'):gsub('\n$', '')), '\n')
end

--- Lists the modules of a log, and caches them.
---@param client vim.lsp.Client
---@param buffer integer
---@param uri string
---@param costs boolean
---@param answer fun(modules: table[])
---@param failed fun() is called where there is no such log
function M.list(client, buffer, uri, costs, answer, failed)
  local params = { textDocument = { uri = uri }, costs = costs }
  request.send(client, buffer, 'relay/passes', params, function(found)
    listed[uri] = { stamp = M.stamp(uri), modules = found.modules }
    answer(found.modules)
  end, failed)
end

--- The cached modules of a log; requested from the server if the log was never listed or has
--- changed.
---@param buffer integer
---@param uri string
---@return table[]
function M.known(buffer, uri)
  if not listed[uri] or listed[uri].stamp ~= M.stamp(uri) then
    local client = request.any_client(buffer)
    local found = client and request.wait(client, buffer, 'relay/passes', { textDocument = { uri = uri } })
    listed[uri] = found and { stamp = M.stamp(uri), modules = found.modules }
  end
  return listed[uri] and listed[uri].modules or {}
end

--- The module at a line of the log (from 1), or the last one before it.
---@param modules table[]
---@param line integer
---@return integer
function M.at_line(modules, line)
  local best = 0
  for _, module in ipairs(modules) do
    if module.line <= line then
      best = module.index
    end
  end
  return best
end

--- Lets the user choose a module of a log.
---@param modules table[]
---@param prompt string
---@param choose fun(module: table)
function M.select(modules, prompt, choose)
  vim.ui.select(modules, {
    prompt = prompt,
    format_item = function(module)
      return M.title(module.index, module.pass)
    end,
  }, function(module)
    if module then
      choose(module)
    end
  end)
end

return M
