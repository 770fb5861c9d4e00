--- Code views of modules with large metadata sections. One line replaces the section; writing replaces the
--- code, and the server keeps every other byte of the file. A view is named `relay-code:///tmp/net.relay`,
--- or as the file if it was opened in its place; see `automatic.lua`.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

local SCHEME = modules.CODE_SCHEME

--- The files that are read whole, because the user asked for it.
---@type table<string, true>
M.whole = {}

--- The URI of the file of a code view, or nil for other buffers.
---@param buffer integer
---@return string?
function M.uri_of(buffer)
  local path = vim.api.nvim_buf_get_name(buffer):match('^relay%-code://(/.+)$')
  return path and 'file://' .. path or vim.b[buffer].relay_code_file
end

--- The size of a section in megabytes above which code views are offered.
---@return number
function M.limit()
  return (vim.g.relay_code_view_minimum_size or 1) * 1e6
end

--- Shows the code of a file, by default that of the current buffer.
---@param file string
---@param mods table what says where, such as `:vertical`
function M.open(file, mods)
  local name = file ~= '' and vim.fn.fnamemodify(file, ':p') or vim.api.nvim_buf_get_name(0)
  if name == '' then
    vim.notify('relay-analyzer: this buffer has no file', vim.log.levels.WARN)
    return
  elseif file == '' and M.uri_of(0) then
    return
  end
  M.whole[name] = nil
  local buffer = vim.fn.bufnr('^' .. vim.fn.fnameescape(name) .. '$')
  if buffer < 0 or not vim.b[buffer].relay_code_stamp then
    buffer = vim.fn.bufadd((vim.uri_from_fname(name):gsub('^file://', SCHEME)))
  end
  vim.fn.bufload(buffer)
  -- A failed buffer is removed.
  if not vim.b[buffer].relay_code_stamp then
    vim.cmd.bwipeout({ buffer, bang = true })
    return
  end
  vim.bo[buffer].buflisted = true
  local is_split = mods.vertical or mods.horizontal or mods.tab >= 0 or mods.split ~= ''
  vim.cmd[is_split and 'sbuffer' or 'buffer']({ buffer, mods = mods })
end

--- Reads the code of a file into the buffer that is named after it.
---@param buffer integer
function M.read(buffer)
  local uri = M.uri_of(buffer)
  local client = uri and request.any_client(buffer)
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].swapfile = false
  local found = client and request.wait(client, vim.api.nvim_get_current_buf(), 'relay/codeView', { uri = uri })
  if found then
    M.fill(buffer, uri, found)
    modules.attach(client, buffer)
  end
end

--- The lines of a text from the server, and whether they end as on Windows.
---@param text string
---@return string[]
---@return boolean
local function lines_of(text)
  local lines = vim.split((text:gsub('\n$', '')), '\n', { plain = true })
  -- The line of the section is the server's.
  local is_dos = #lines > 1 and vim.iter(ipairs(lines)):all(function(number, line)
    return number == #lines or vim.endswith(line, '\r')
  end)
  if is_dos then
    lines = vim.tbl_map(function(line)
      return (line:gsub('\r$', ''))
    end, lines)
  end
  return lines, is_dos
end

--- Replaces the lines of a code view that have changed, and keeps cursors and marks elsewhere.
---@param buffer integer
---@param text string
function M.update(buffer, text)
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local lines = lines_of(text)
  if #before ~= #lines then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
    return
  end
  for number, line in ipairs(lines) do
    if line ~= before[number] then
      vim.api.nvim_buf_set_lines(buffer, number - 1, number, false, { line })
    end
  end
end

--- Sets the text of a buffer, which then is a code view.
---@param buffer integer
---@param uri string
---@param found { text: string, stamp: string } the response to `relay/codeView`
function M.fill(buffer, uri, found)
  -- The code is never written in place of the file, not even by `:noautocmd write`, and a swap file would
  -- restore it as if it were the file.
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].swapfile = false
  local lines, is_dos = lines_of(found.text)
  local levels = vim.bo[buffer].undolevels
  -- Undo stops at the text that was read, as in a file.
  vim.bo[buffer].undolevels = -1
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].undolevels = levels
  vim.bo[buffer].fileformat = is_dos and 'dos' or 'unix'
  vim.b[buffer].relay_code_file = uri
  vim.b[buffer].relay_code_stamp = found.stamp
  vim.bo[buffer].modified = false
  M.handle_writes(buffer)
end

--- The group of the autocommands of a buffer.
---@param buffer integer
---@return string
local function group_of(buffer)
  return 'relay-analyzer.code.' .. buffer
end

--- Lets the server write a buffer.
---@param buffer integer
function M.handle_writes(buffer)
  local group = vim.api.nvim_create_augroup(group_of(buffer), {})
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    buffer = buffer,
    nested = true,
    callback = function(event)
      M.write(event.buf, event.match)
    end,
  })
  -- The document of the server has the name of the buffer. Once a copy has its new name, it is opened.
  vim.api.nvim_create_autocmd('BufFilePre', {
    group = group,
    buffer = buffer,
    callback = function(event)
      M.detach(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd('FileAppendCmd', {
    group = group,
    buffer = buffer,
    callback = function(event)
      M.write_part(event.buf, event.match, 'a')
    end,
  })
end

--- Closes the document of a buffer.
---@param buffer integer
function M.detach(buffer)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
    vim.lsp.buf_detach_client(buffer, client.id)
  end
end

--- Makes a code view an ordinary buffer again, which can be read as the file.
---@param buffer integer
function M.forget(buffer)
  pcall(vim.api.nvim_del_augroup_by_name, group_of(buffer))
  vim.b[buffer].relay_code_file = nil
  vim.b[buffer].relay_code_stamp = nil
  vim.bo[buffer].buftype = ''
  vim.bo[buffer].swapfile = vim.go.swapfile
end

--- The path of a file that is written, with links resolved.
---@param name string
---@return string
local function real(name)
  return vim.uv.fs_realpath(name) or name
end

--- Writes lines to another file, as `:1,3write other.relay` does.
---@param buffer integer
---@param target string
---@param flags string those of `writefile()`
function M.write_part(buffer, target, flags)
  local source = vim.uri_to_fname(M.uri_of(buffer))
  if vim.startswith(target, SCHEME) or real(target) == real(source) then
    local text = 'relay-analyzer: %s was not written: `:write` writes all of its code, and keeps its weights'
    vim.notify(text:format(vim.fs.basename(source)), vim.log.levels.ERROR)
    return
  end
  local lines = vim.api.nvim_buf_get_lines(buffer, vim.fn.line("'[") - 1, vim.fn.line("']"), false)
  vim.fn.writefile(lines, target, flags)
end

--- Writes the code of a buffer, to its file or to a copy. If the file has changed since it was read, the user
--- is asked.
---@param buffer integer
---@param target string the name that is written
function M.write(buffer, target)
  local uri = M.uri_of(buffer)
  local client = uri and request.any_client(buffer)
  if not client then
    return
  elseif vim.fn.line("'[") ~= 1 or vim.fn.line("']") ~= vim.fn.line('$') then
    M.write_part(buffer, target, '')
    return
  end
  local is_own = vim.startswith(target, SCHEME) or real(target) == real(vim.uri_to_fname(uri))
  vim.api.nvim_exec_autocmds('BufWritePre', { buffer = buffer, modeline = false })
  local ending = vim.bo[buffer].fileformat == 'dos' and '\r\n' or '\n'
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), ending) .. ending
  local here = vim.api.nvim_get_current_buf()
  local function save(stamp)
    local params = { uri = uri, stamp = stamp, text = text, output = not is_own and vim.uri_from_fname(target) or nil }
    return request.wait(client, here, 'relay/saveCode', params)
  end
  local saved = save(vim.b[buffer].relay_code_stamp)
  if saved and type(saved.stamp) ~= 'string' then
    local name = modules.short(uri)
    local question = ('%s has changed on disk since its code was read. Save the code anyway?'):format(name)
    if vim.fn.confirm(question, '&Yes\n&No', 2) ~= 1 then
      vim.notify(('relay-analyzer: %s was not written, because it has changed on disk'):format(name), vim.log.levels.ERROR)
      return
    end
    local current = request.wait(client, here, 'relay/codeView', { uri = uri })
    saved = current and save(current.stamp)
  end
  if not saved or type(saved.stamp) ~= 'string' then
    return
  end
  local is_named = is_own or vim.api.nvim_buf_get_name(buffer) == target
  if is_named then
    -- Constants were dropped, so that others have new numbers.
    if type(saved.text) == 'string' then
      M.update(buffer, saved.text)
    end
    -- `:saveas` has already renamed the buffer.
    vim.b[buffer].relay_code_file = is_own and uri or vim.uri_from_fname(target)
    vim.b[buffer].relay_code_stamp = saved.stamp
    vim.bo[buffer].modified = false
    if not request.has_text(client, buffer) then
      modules.attach(client, buffer)
    end
  end
  vim.api.nvim_exec_autocmds('BufWritePost', { buffer = buffer, modeline = false })
  local name = vim.startswith(target, SCHEME) and vim.uri_to_fname(uri) or target
  local lines = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_echo({ { ('"%s" %dL written'):format(vim.fn.fnamemodify(name, ':~:.'), lines) } }, false, {})
end

return M
