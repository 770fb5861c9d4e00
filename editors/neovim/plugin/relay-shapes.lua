if vim.g.loaded_relay_shapes then
  return
end
vim.g.loaded_relay_shapes = 1

vim.api.nvim_create_user_command('RelayShapes', function(call)
  local shapes = require('relay-analyzer.shapes')
  if call.fargs[1] == 'html' then
    shapes.html()
  else
    shapes.show(call.fargs[1], call.smods)
  end
end, {
  nargs = '?',
  desc = 'relay-analyzer: shapes and costs of each call, of one function, or as a page (html)',
  complete = function(lead)
    return require('relay-analyzer.shapes').complete(lead)
  end,
})

vim.api.nvim_create_user_command('RelayWhy', function()
  require('relay-analyzer.why').show()
end, { desc = 'relay-analyzer: why the expression under the cursor has its shape' })

vim.api.nvim_create_user_command('RelayType', function(call)
  require('relay-analyzer.type').toggle(call.smods)
end, { desc = 'relay-analyzer: the type under the cursor in a window that follows it; again: close it' })

vim.api.nvim_create_user_command('RelayReading', function()
  require('relay-analyzer.reading').toggle()
end, { desc = 'relay-analyzer: printed comments out of sight, weights dim, chains folded; again: as before' })

vim.api.nvim_create_user_command('RelayExplain', function(call)
  require('relay-analyzer.explain').show(call.fargs[1])
end, {
  nargs = '?',
  desc = 'relay-analyzer: what the diagnostic under the cursor means, or one that is named',
  complete = function(lead)
    return require('relay-analyzer.explain').complete(lead)
  end,
})
