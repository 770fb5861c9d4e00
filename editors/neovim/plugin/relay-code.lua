if vim.g.loaded_relay_code then
  return
end
vim.g.loaded_relay_code = 1

local group = vim.api.nvim_create_augroup('relay-analyzer.code', {})

-- Code views beside their files, however they are opened.
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'relay-code:///*',
  nested = true,
  command = [[lockmarks lua require('relay-analyzer.code').read(tonumber(vim.fn.expand('<abuf>')))]],
})

-- Files with large sections, whose buffers get a `BufReadCmd` before they are read. All other files never
-- meet one: Neovim reads them itself.
vim.api.nvim_create_autocmd({ 'BufNew', 'BufFilePost' }, {
  group = group,
  pattern = { '*.relay', '*.rly' },
  callback = function(event)
    require('relay-analyzer.automatic').watch(event.buf)
  end,
})

-- The files of the command line already have buffers.
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  local name = vim.api.nvim_buf_get_name(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) and (vim.endswith(name, '.relay') or vim.endswith(name, '.rly')) then
    require('relay-analyzer.automatic').watch(buffer)
  end
end

-- A session has the names of code views, and no command that reads them.
vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = group,
  nested = true,
  callback = function()
    require('relay-analyzer.automatic').restore()
  end,
})

vim.api.nvim_create_autocmd('BufReadPost', {
  group = group,
  pattern = { '*.relay', '*.rly' },
  callback = function(event)
    require('relay-analyzer.automatic').offer(event.buf)
  end,
})

vim.api.nvim_create_user_command('RelayCodeView', function(call)
  require('relay-analyzer.code').open(call.args, call.smods)
end, {
  nargs = '?',
  complete = 'file',
  desc = 'relay-analyzer: the code of a module without its metadata section',
})

vim.api.nvim_create_user_command('RelayWholeFile', function(call)
  require('relay-analyzer.automatic').show_whole(call.bang)
end, {
  bang = true,
  desc = 'relay-analyzer: the file of a code view with its metadata section',
})
