--- Windows of the plugin: scratch buffers that `q` closes.
local M = {}

--- Window-local options for reports; windows that are split from them keep their own.
local OPTIONS = {
  wrap = false,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  list = false,
  spell = false,
}

--- Closes the current window, and goes back to the previous one. The last window cannot be closed and
--- shows an empty buffer instead.
function M.close()
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  if not pcall(vim.api.nvim_win_close, 0, true) then
    vim.cmd.enew()
  elseif vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
end

--- Maps keys of a buffer in normal mode; `q` closes the window unless `keys` overrides it. The mappings
--- do not wait for longer ones, and `q` never records a macro.
---@param buffer integer
---@param keys? table<string, { [1]: fun(), desc: string }>
function M.map(buffer, keys)
  local close = { M.close, desc = 'close' }
  for key, action in pairs(vim.tbl_extend('force', { q = close }, keys or {})) do
    vim.keymap.set('n', key, action[1], { buffer = buffer, nowait = true, desc = 'Relay: ' .. action.desc })
  end
end

---@class relay_analyzer.WindowOptions
---@field name string the name of the buffer, a URI with a scheme of this plugin
---@field filetype string
---@field hidden? boolean keep the buffer when its window closes
---@field keys? table<string, { [1]: fun(), desc: string }>

--- Creates a scratch buffer, not yet in a window.
---@param options relay_analyzer.WindowOptions
---@return integer
function M.buffer(options)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, options.name)
  vim.bo[buffer].bufhidden = options.hidden and 'hide' or 'wipe'
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = options.filetype
  M.map(buffer, options.keys)
  return buffer
end

--- Shows a buffer in a new window, and goes there.
---@param buffer integer
---@param mods table as in `nvim_cmd`: `{ split = 'botright' }`
---@param height? integer
---@return integer window
function M.open(buffer, mods, height)
  vim.cmd({ cmd = 'sbuffer', args = { tostring(buffer) }, mods = mods })
  local window = vim.api.nvim_get_current_win()
  for name, value in pairs(OPTIONS) do
    vim.wo[window][0][name] = value
  end
  if height then
    vim.api.nvim_win_set_height(window, height)
  end
  return window
end

--- The height for `lines` lines, limited to a third of the screen.
---@param lines integer
---@return integer
function M.height(lines)
  return math.max(math.min(lines, math.floor(vim.o.lines / 3)), 5)
end

--- Sets the lines of a scratch buffer.
---@param buffer integer
---@param lines string[]
function M.write(buffer, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
end

return M
