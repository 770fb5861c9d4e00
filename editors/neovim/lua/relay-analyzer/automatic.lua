--- Large files that open as their code. Which files these are is known before they are read, so that Neovim
--- reads all others itself.
local code = require('relay-analyzer.code')
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

--- The start of a metadata section, and the start of the line that replaces it.
local SECTION, FOLDED = '#[metadata]', '#[metadata] folded:'
--- The number of bytes that are searched at once.
local CHUNK = 1024 * 1024

--- The buffers that show the code of their files once they are read.
---@type table<integer, true>
local watched = {}
--- The files for which a code view was offered.
---@type table<string, true>
local offered = {}

--- Returns true if large files open as their code by themselves.
---@return boolean
local function is_automatic()
  local setting = vim.g.relay_code_view_automatic
  return setting ~= false and setting ~= 0
end

--- Returns the size of the metadata section of a file if it is larger than the setting says. The server is
--- precise: the text of the section may be within a comment, or code may follow it.
---@param name string
---@return integer?
function M.large_section(name)
  local stat = vim.uv.fs_stat(name)
  local limit = code.limit()
  if not stat or stat.type ~= 'file' or stat.size <= limit then
    return nil
  end
  local file = io.open(name, 'rb')
  if not file then
    return nil
  end
  local start, tail, found = 0, '\n', nil
  while not found and start < stat.size - limit do
    local chunk = file:read(CHUNK)
    if not chunk then
      break
    end
    -- The text may begin in the previous chunk.
    local text = tail .. chunk
    local at = text:find('\n' .. SECTION, 1, true)
    -- The whole line is there, unless it is at the end of the chunk.
    if at and #text - at > #FOLDED then
      found = stat.size - (start + at - #tail)
      if text:sub(at + 1, at + #FOLDED) == FOLDED then
        break
      end
    else
      tail = text:sub(-(#FOLDED + 1))
      start = start + #chunk
    end
  end
  file:close()
  return found and found > limit and found or nil
end

--- Lets a buffer show the code of its file, if the file has a large section.
---@param buffer integer
function M.watch(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local group = vim.api.nvim_create_augroup('relay-analyzer.code.read.' .. buffer, {})
  watched[buffer] = nil
  if not is_automatic() or code.whole[name] or not M.large_section(name) then
    return
  end
  watched[buffer] = true
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = group,
    buffer = buffer,
    nested = true,
    callback = function(event)
      M.read(event.buf)
    end,
  })
end

--- Reads a file as Neovim does.
---@param buffer integer
local function read_whole(buffer)
  pcall(vim.api.nvim_del_augroup_by_name, 'relay-analyzer.code.read.' .. buffer)
  watched[buffer] = nil
  code.forget(buffer)
  vim.cmd('keepalt edit! ' .. vim.v.cmdarg)
end

--- Asks the server for the code of a file. Returns nil and a reason if there is none.
---@param buffer integer
---@param uri string
---@return vim.lsp.Client?
---@return any the response to `relay/codeView`, or a reason
local function request_code(buffer, uri)
  local client = request.any_client(buffer)
  if not client then
    return nil, 'the server does not start'
  end
  local found, problem = request.try(client, buffer, 'relay/codeView', { uri = uri })
  return found and client, found or (problem and problem.message)
end

--- Reads the code of a file into its buffer, or the whole file if the server cannot do that. The buffer is
--- never left empty, because it could be saved in place of the file.
---@param buffer integer
function M.read(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local is_wanted = is_automatic() and not code.whole[name] and M.large_section(name)
  if is_wanted and require('relay-analyzer').is_installed() then
    local uri = vim.uri_from_fname(name)
    -- Neovim may fail in a callback of another buffer meanwhile.
    local fine, client, found = pcall(request_code, buffer, uri)
    local problem = fine and found or client
    if fine and client then
      fine, problem = pcall(M.show, buffer, uri, client, found)
      if fine then
        return
      end
    end
    offered[name] = true
    local text = ('relay-analyzer: all of %s is read: %s'):format(vim.fs.basename(name), problem)
    require('relay-analyzer').tell(text, vim.log.levels.WARN)
  end
  read_whole(buffer)
end

--- Shows code in the buffer of its file, with the events of reading a file.
---@param buffer integer
---@param uri string
---@param client vim.lsp.Client
---@param found { text: string, stamp: string, sectionBytes: { value: integer, text: string } }
function M.show(buffer, uri, client, found)
  local name = vim.api.nvim_buf_get_name(buffer)
  vim.api.nvim_exec_autocmds('BufReadPre', { buffer = buffer, modeline = false })
  code.fill(buffer, uri, found)
  -- With `-R` and `:view` it is set already.
  vim.bo[buffer].readonly = vim.bo[buffer].readonly or vim.fn.filewritable(name) == 0
  vim.api.nvim_exec_autocmds('BufReadPost', { buffer = buffer, modeline = false })
  if not request.has_text(client, buffer) then
    modules.attach(client, buffer)
  end
  local text = ('%s of weights are not read (:RelayWholeFile)'):format(found.sectionBytes.text)
  local named = vim.fs.basename(name) .. ': ' .. text
  -- A message that is longer than the line would ask for ENTER.
  require('relay-analyzer').tell(#named <= vim.v.echospace and named or text, vim.log.levels.INFO)
end

--- Reads the code views that a session shows, whose buffers are still empty.
function M.restore()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    local name = vim.api.nvim_buf_get_name(buffer)
    local is_empty = vim.api.nvim_buf_line_count(buffer) == 1 and vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] == ''
    if is_empty and (vim.startswith(name, modules.CODE_SCHEME) or watched[buffer]) then
      vim.api.nvim_buf_call(buffer, function()
        vim.cmd('edit!')
      end)
    end
  end
end

--- Offers a code view for a file with a large metadata section that Neovim has read, once.
---@param buffer integer
function M.offer(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if offered[name] or code.whole[name] or code.uri_of(buffer) or not M.large_section(name) then
    return
  end
  offered[name] = true
  local text = 'relay-analyzer: %s has a large metadata section. `:RelayCodeView` shows its code alone.'
  require('relay-analyzer').tell(text:format(vim.fs.basename(name)), vim.log.levels.INFO)
end

--- Shows the file of a code view with its section.
---@param discards boolean whether changes are discarded
function M.show_whole(discards)
  local buffer = vim.api.nvim_get_current_buf()
  local uri = code.uri_of(buffer)
  if not uri then
    vim.notify('relay-analyzer: this buffer is not a code view', vim.log.levels.WARN)
    return
  elseif vim.bo[buffer].modified and not discards then
    vim.notify('relay-analyzer: the code is not saved (add ! to discard it)', vim.log.levels.ERROR)
    return
  end
  local path = vim.uri_to_fname(uri)
  code.whole[path] = true
  vim.bo[buffer].modified = false
  if vim.startswith(vim.api.nvim_buf_get_name(buffer), modules.CODE_SCHEME) then
    vim.cmd.edit(vim.fn.fnameescape(path))
    return
  end
  code.detach(buffer)
  read_whole(buffer)
end

return M
