if vim.g.loaded_relay_code then
  return
end
vim.g.loaded_relay_code = 1

local group = vim.api.nvim_create_augroup('relay-analyzer.code', {})
local DOCUMENTS = 'relay-code:///*'

-- Code views of modules with large metadata sections, however they are opened.
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = DOCUMENTS,
  nested = true,
  command = [[lockmarks lua require('relay-analyzer.code').read(tonumber(vim.fn.expand('<abuf>')))]],
})

vim.api.nvim_create_autocmd('BufWriteCmd', {
  group = group,
  pattern = DOCUMENTS,
  callback = function(event)
    require('relay-analyzer.code').write(event.buf)
  end,
})

vim.api.nvim_create_autocmd('BufReadPost', {
  group = group,
  pattern = { '*.relay', '*.rly' },
  callback = function(event)
    require('relay-analyzer.code').offer(event.buf)
  end,
})

vim.api.nvim_create_user_command('RelayCodeView', function(call)
  require('relay-analyzer.code').open(call.args, call.smods)
end, {
  nargs = '?',
  complete = 'file',
  desc = 'relay-analyzer: the code of a module without its metadata section',
})
