--- Code views of modules with large metadata sections: `relay-code:///tmp/net.relay`. One line replaces
--- the section; writing replaces the code, and the server keeps every other byte of the file.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')

local M = {}

local SCHEME = modules.CODE_SCHEME
--- The start of a metadata section, and the start of the line that replaces it.
local SECTION, FOLDED = '#[metadata]', '#[metadata] folded:'

--- The files for which a code view was offered.
---@type table<string, true>
local offered = {}

--- The URI of the file of a code view, or nil for other buffers.
---@param buffer integer
---@return string?
local function uri_of(buffer)
  local path = vim.api.nvim_buf_get_name(buffer):match('^relay%-code://(/.+)$')
  return path and 'file://' .. path
end

--- Offers a code view for a file with a large metadata section, once.
---@param buffer integer
function M.offer(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local size = vim.fn.getfsize(name)
  local limit = (vim.g.relay_code_view_minimum_size or 1) * 1e6
  -- -2 means a size that exceeds a number.
  if offered[name] or (size >= 0 and size <= limit) or size == -1 then
    return
  end
  local code = 0
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    if vim.startswith(line, SECTION) then
      if size - code <= limit or vim.startswith(line, FOLDED) then
        return
      end
      offered[name] = true
      local text = 'relay-analyzer: %s has a large metadata section. `:RelayCodeView` shows its code alone.'
      require('relay-analyzer').tell(text:format(vim.fs.basename(name)), vim.log.levels.INFO)
      return
    end
    code = code + #line + 1
  end
end

--- Shows the code of a file, by default that of the current buffer.
---@param file string
---@param mods table what says where, such as `:vertical`
function M.open(file, mods)
  local name = file ~= '' and vim.fn.fnamemodify(file, ':p') or vim.api.nvim_buf_get_name(0)
  if name == '' then
    vim.notify('relay-analyzer: this buffer has no file', vim.log.levels.WARN)
    return
  elseif vim.startswith(name, SCHEME) then
    return
  end
  local buffer = vim.fn.bufadd((vim.uri_from_fname(name):gsub('^file://', SCHEME)))
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
  local uri = uri_of(buffer)
  local client = uri and request.any_client(buffer)
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].swapfile = false
  local found = client and request.wait(client, vim.api.nvim_get_current_buf(), 'relay/codeView', { uri = uri })
  if not found then
    return
  end
  local levels = vim.bo[buffer].undolevels
  -- Undo stops at the text that was read, as in a file.
  vim.bo[buffer].undolevels = -1
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(found.text:gsub('\n$', ''), '\n', { plain = true }))
  vim.bo[buffer].undolevels = levels
  vim.b[buffer].relay_code_stamp = found.stamp
  vim.bo[buffer].modified = false
  modules.attach(client, buffer)
end

--- Writes the code of a buffer. If the file has changed since it was read, the user is asked.
---@param buffer integer
function M.write(buffer)
  local uri = uri_of(buffer)
  local client = uri and request.any_client(buffer)
  if not client then
    return
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
  local here = vim.api.nvim_get_current_buf()
  local function save(stamp)
    return request.wait(client, here, 'relay/saveCode', { uri = uri, stamp = stamp, text = text })
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
  if saved and type(saved.stamp) == 'string' then
    vim.b[buffer].relay_code_stamp = saved.stamp
    vim.bo[buffer].modified = false
  end
end

return M
