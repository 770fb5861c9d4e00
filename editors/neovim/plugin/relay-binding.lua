if vim.g.loaded_relay_binding then
  return
end
vim.g.loaded_relay_binding = 1

-- The code actions of the server: it announces them to clients that have these.
vim.lsp.commands['relay.bindParameters'] = function()
  require('relay-analyzer.binding').ask()
end

vim.lsp.commands['relay.liftConstants'] = function()
  require('relay-analyzer.binding').lift()
end

vim.api.nvim_create_user_command('RelayBind', function(call)
  require('relay-analyzer.binding').bind(call.fargs)
end, {
  nargs = '+',
  complete = 'file',
  desc = 'relay-analyzer: bind parameters to the arrays of files',
})

vim.api.nvim_create_user_command('RelayLift', function()
  require('relay-analyzer.binding').lift()
end, { desc = 'relay-analyzer: lift constants to parameters' })
