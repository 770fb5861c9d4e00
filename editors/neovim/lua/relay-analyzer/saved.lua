--- Modules that TVM saved as JSON or in archives as buffers: `relay-saved:///tmp/net.json.relay`. The server
--- reads them from the file. The extension `.relay` prevents Neovim's handling of archives.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

local SCHEME = modules.SAVED_SCHEME
local ENDING = '.relay'

--- The number of bytes that distinguish a module from other JSON.
local HEAD = 2000
--- The number of lines that are searched.
local LINES = 200
--- The members at the start of the output of `tvm.ir.save_json`.
local MARKERS = { '"root"', '"nodes"', '"type_key"' }

--- The files for which the text was offered.
---@type table<string, true>
local offered = {}

--- The URI of the file that a buffer shows as text, or nil for other buffers.
---@param buffer integer
---@return string?
local function uri_of(buffer)
  local path = vim.api.nvim_buf_get_name(buffer):match('^relay%-saved://(/.+)%.relay$')
  return path and 'file://' .. path
end

--- Returns true if a buffer looks like a saved graph of TVM. The server is precise, and reads all of it.
---@param buffer integer
---@return boolean
function M.is_saved(buffer)
  local head = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, LINES, false), '\n'):sub(1, HEAD)
  return vim.iter(MARKERS):all(function(marker)
    return head:find(marker, 1, true) ~= nil
  end)
end

--- Offers the text of a file that TVM saved, once.
---@param buffer integer
function M.offer(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if offered[name] or not M.is_saved(buffer) then
    return
  end
  offered[name] = true
  local text = 'relay-analyzer: %s is a module that TVM saved. `:RelayOpen` shows it as text.'
  require('relay-analyzer').tell(text:format(vim.fs.basename(name)), vim.log.levels.INFO)
end

--- Shows the text of a file, by default that of the current buffer; reads it again if it is open.
---@param file string
---@param mods table what says where, such as `:vertical`
function M.open(file, mods)
  local name = file ~= '' and vim.fn.fnamemodify(file, ':p') or vim.api.nvim_buf_get_name(0)
  if name == '' then
    vim.notify('relay-analyzer: this buffer has no file', vim.log.levels.WARN)
    return
  elseif file == '' and uri_of(0) then
    vim.cmd.edit()
    return
  end
  local buffer = vim.fn.bufadd((vim.uri_from_fname(name):gsub('^file://', SCHEME)) .. ENDING)
  M.refresh(buffer)
  vim.fn.bufload(buffer)
  -- A failed buffer is removed.
  if vim.bo[buffer].filetype ~= 'relay' then
    vim.cmd.bwipeout({ buffer, bang = true })
    return
  end
  vim.bo[buffer].buflisted = true
  local is_split = mods.vertical or mods.horizontal or mods.tab >= 0 or mods.split ~= ''
  vim.cmd[is_split and 'sbuffer' or 'buffer']({ buffer, mods = mods })
end

--- Reads a saved module into the buffer that is named after it.
---@param buffer integer
function M.read(buffer)
  local uri = uri_of(buffer)
  local client = uri and request.any_client(buffer)
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  if not client then
    return
  end
  -- An error is shown once, and the file is read again after it changes.
  vim.b[buffer].relay_stamp = modules.stamp(uri)
  local found = request.wait(client, vim.api.nvim_get_current_buf(), 'relay/convertFile', { uri = uri })
  if found then
    modules.fill(client, buffer, found.text)
  end
end

--- Reads a file again if it has changed.
---@param buffer integer
function M.refresh(buffer)
  local uri = uri_of(buffer)
  if uri and vim.api.nvim_buf_is_loaded(buffer) and vim.b[buffer].relay_stamp ~= modules.stamp(uri) then
    vim.cmd(("lockmarks lua require('relay-analyzer.saved').read(%d)"):format(buffer))
  end
end

return M
