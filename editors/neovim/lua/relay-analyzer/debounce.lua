--- Debounces changes of a buffer.
local M = {}

--- Calls `action` when the text of a buffer has not changed for `rest` milliseconds, until the buffer
--- is unloaded. A new call for a group and buffer replaces the previous one.
---@param group string
---@param buffer integer
---@param rest integer
---@param action fun()
function M.on_change(group, buffer, rest, action)
  local id = vim.api.nvim_create_augroup(('%s.%d'):format(group, buffer), {})
  local timer = assert(vim.uv.new_timer())
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = id,
    buffer = buffer,
    callback = function()
      timer:start(rest, 0, vim.schedule_wrap(function()
        if vim.api.nvim_buf_is_loaded(buffer) then
          action()
        end
      end))
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    group = id,
    buffer = buffer,
    callback = function()
      timer:close()
      vim.api.nvim_del_augroup_by_id(id)
    end,
  })
end

return M
