--- `:RelayBind` and `:RelayLift`: parameters that become constants, and constants that become parameters.
--- The server writes a new module beside the file, which is shown.
local code = require('relay-analyzer.code')
local request = require('relay-analyzer.request')

local M = {}

--- The file of a buffer without its ending, or the name of one without a file in the current folder.
---@param buffer integer
---@return string
local function stem(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local path = name:match('^relay%-code://(/.+)$') or name:match('^relay%-saved://(/.+)%.relay$')
  path = path and vim.uri_to_fname('file://' .. path) or name
  if path == '' or path:match('^%a[%w+.-]+://') then
    path = vim.fs.joinpath(vim.fn.getcwd(), 'module')
  end
  return (vim.fn.fnamemodify(path, ':p:r'))
end

--- Whether files may be written: those that are there are asked about.
---@param paths string[]
---@return boolean
local function may_write(paths)
  local there = vim.tbl_filter(function(path)
    return vim.uv.fs_stat(path) ~= nil
  end, paths)
  if #there == 0 then
    return true
  end
  local names = table.concat(vim.tbl_map(vim.fs.basename, there), ', ')
  return vim.fn.confirm(('Overwrite %s?'):format(names), '&Yes\n&No', 2) == 1
end

---@param count integer
---@param one string
---@param several string
local function counted(count, one, several)
  return ('%d %s'):format(count, count == 1 and one or several)
end

--- Sends a request, and shows the module that the server has written.
---@param buffer integer
---@param method string
---@param params table
---@param output string
---@param say fun(names: string[]): string
local function write(buffer, method, params, output, say)
  local client = request.client(buffer)
  if not client then
    return
  end
  params = vim.tbl_extend('error', params, { uri = vim.uri_from_bufnr(buffer), output = vim.uri_from_fname(output) })
  request.send(client, buffer, method, params, function(result)
    local limit = (vim.g.relay_code_view_minimum_size or 1) * 1e6
    if vim.fn.getfsize(output) > limit then
      code.open(output, { vertical = false, horizontal = false, tab = -1, split = '' })
    else
      vim.cmd.edit(vim.fn.fnameescape(output))
    end
    vim.notify('relay-analyzer: ' .. say(result.names))
  end)
end

--- Binds parameters to the arrays of files.
---@param files string[]
function M.bind(files)
  local buffer = vim.api.nvim_get_current_buf()
  local output = stem(buffer) .. '.bound.relay'
  if not may_write({ output }) then
    return
  end
  local uris = vim.tbl_map(function(file)
    return vim.uri_from_fname(vim.fn.fnamemodify(vim.fn.expand(file), ':p'))
  end, files)
  write(buffer, 'relay/bindParameters', { files = uris }, output, function(names)
    local bound = counted(#names, 'parameter is a constant', 'parameters are constants')
    return ('%s of %s'):format(bound, vim.fs.basename(output))
  end)
end

--- Asks for a file of arrays, and binds parameters to them.
function M.ask()
  vim.ui.input({ prompt = 'Arrays to bind (.params, .npz): ', completion = 'file' }, function(file)
    if file and file ~= '' then
      M.bind({ file })
    end
  end)
end

--- Lifts constants to parameters, and writes the tensors to an archive.
function M.lift()
  local buffer = vim.api.nvim_get_current_buf()
  local output, arrays = stem(buffer) .. '.lifted.relay', stem(buffer) .. '.lifted.npz'
  if not may_write({ output, arrays }) then
    return
  end
  write(buffer, 'relay/liftConstants', { params = vim.uri_from_fname(arrays) }, output, function(names)
    local lifted = counted(#names, 'constant is a parameter', 'constants are parameters')
    local text = '%s of %s; the tensors are in %s'
    return text:format(lifted, vim.fs.basename(output), vim.fs.basename(arrays))
  end)
end

return M
