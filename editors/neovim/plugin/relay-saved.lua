if vim.g.loaded_relay_saved then
  return
end
vim.g.loaded_relay_saved = 1

local group = vim.api.nvim_create_augroup('relay-analyzer.saved', {})
local DOCUMENTS = 'relay-saved:///*.relay'

-- Modules that TVM saved, however they are opened: by `:edit`, from a session.
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = DOCUMENTS,
  nested = true,
  command = [[lockmarks lua require('relay-analyzer.saved').read(tonumber(vim.fn.expand('<abuf>')))]],
})

-- Programs may write such files while they are shown.
vim.api.nvim_create_autocmd({ 'BufEnter', 'FocusGained' }, {
  group = group,
  pattern = DOCUMENTS,
  callback = function(event)
    require('relay-analyzer.saved').refresh(event.buf)
  end,
})

vim.api.nvim_create_autocmd('BufReadPost', {
  group = group,
  pattern = '*.json',
  callback = function(event)
    require('relay-analyzer.saved').offer(event.buf)
  end,
})

vim.api.nvim_create_user_command('RelayOpen', function(call)
  require('relay-analyzer.saved').open(call.args, call.smods)
end, {
  nargs = '?',
  complete = 'file',
  desc = 'relay-analyzer: a module that TVM saved as JSON or in an archive, as text',
})
