if vim.g.loaded_relay_diff then
  return
end
vim.g.loaded_relay_diff = 1

-- Modules of logs, however they are opened: by `:edit`, from the quickfix list, from a session. Line numbers
-- in the quickfix list are relative to the module, so they do not change when its text is loaded.
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('relay-analyzer.modules', {}),
  pattern = 'relay:///*#*',
  -- Scheduled functions run while the text is awaited, such as the end of a comparison.
  nested = true,
  command = [[lockmarks lua require('relay-analyzer.modules').read(tonumber(vim.fn.expand('<abuf>')))]],
})

vim.api.nvim_create_user_command('RelayDiff', function(call)
  require('relay-analyzer.diff').command(call.args, call.bang and {} or nil)
end, {
  nargs = '?',
  bang = true,
  desc = 'relay-analyzer: compare by structure: with a file, a module of the log, saved, HEAD, clipboard; with !, run both',
  complete = function(lead)
    return require('relay-analyzer.base').complete(lead)
  end,
})

vim.api.nvim_create_user_command('RelayDiffOff', function()
  require('relay-analyzer.diff').off()
end, { desc = 'relay-analyzer: end the comparison' })

vim.api.nvim_create_user_command('RelayDiffRun', function(call)
  require('relay-analyzer.diff').run(call)
end, { nargs = '*', bang = true, desc = 'relay-analyzer: run both sides of the comparison; with !, cancel that' })

vim.api.nvim_create_user_command('RelayDiffValues', function()
  require('relay-analyzer.diff').values()
end, { desc = 'relay-analyzer: the values of the calls under the cursor on both sides' })

vim.api.nvim_create_user_command('RelayNextDivergence', function()
  require('relay-analyzer.diff').diverge(1)
end, { desc = 'relay-analyzer: the next call with an error of its own' })

vim.api.nvim_create_user_command('RelayPreviousDivergence', function()
  require('relay-analyzer.diff').diverge(-1)
end, { desc = 'relay-analyzer: the previous call with an error of its own' })

vim.api.nvim_create_user_command('RelayDiffReport', function(call)
  require('relay-analyzer.diff').report(call.smods)
end, { desc = 'relay-analyzer: all that the comparison has found' })

vim.api.nvim_create_user_command('RelayPasses', function(call)
  require('relay-analyzer.passes').show(call.args, call.smods)
end, {
  nargs = '?',
  complete = 'file',
  desc = 'relay-analyzer: the modules of a log, and what each pass changed',
})

vim.api.nvim_create_user_command('RelayHistory', function()
  require('relay-analyzer.history').show()
end, { desc = 'relay-analyzer: where the expression under the cursor came from, and what became of it' })
