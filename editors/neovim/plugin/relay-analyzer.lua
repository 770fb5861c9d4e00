if vim.g.loaded_relay_analyzer then
  return
end
vim.g.loaded_relay_analyzer = 1

require('relay-analyzer.colours').setup()

local group = vim.api.nvim_create_augroup('relay-analyzer', {})

if vim.lsp.config then
  vim.lsp.enable('relay_analyzer')
end

vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'relay',
  callback = function(event)
    require('relay-analyzer.grammar').start(event.buf)
    require('relay-analyzer').attach(event.buf)
  end,
})

-- Relay within other languages.
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = { 'python', 'markdown' },
  callback = function(event)
    -- Their grammars then find that of Relay.
    require('relay-analyzer.grammar').is_installed()
    if require('relay-analyzer.embedded').has_relay(event.buf) then
      require('relay-analyzer').attach(event.buf)
    end
  end,
})

-- It may be written into a file that had none.
vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufWritePost' }, {
  group = group,
  callback = function(event)
    local relay = require('relay-analyzer')
    if
      require('relay-analyzer.embedded').has_relay(event.buf)
      and relay.is_installed()
      and #vim.lsp.get_clients({ bufnr = event.buf, name = relay.name }) == 0
    then
      relay.start(event.buf)
    end
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == require('relay-analyzer').name then
      if require('relay-analyzer.embedded').is_host(event.buf) then
        require('relay-analyzer.embedded').attached(event.buf)
        return
      end
      require('relay-analyzer.lens').follow(event.buf)
      require('relay-analyzer.values').follow(event.buf)
    end
  end,
})

-- On most systems Neovim does not watch files for a server.
vim.api.nvim_create_autocmd('BufWritePost', {
  group = group,
  pattern = 'relay.toml',
  callback = function(event)
    local change = { uri = vim.uri_from_bufnr(event.buf), type = vim.lsp.protocol.FileChangeType.Changed }
    require('relay-analyzer').tell_files_changed({ change })
  end,
})

-- For `require('relay-analyzer').statusline()`: Neovim 0.10 redraws it only after the next key. Scheduled,
-- because the buffer may be about to be deleted.
vim.api.nvim_create_autocmd('DiagnosticChanged', {
  group = group,
  callback = vim.schedule_wrap(function(event)
    if vim.api.nvim_buf_is_valid(event.buf) and vim.bo[event.buf].filetype == 'relay' then
      vim.cmd.redrawstatus({ bang = true })
    end
  end),
})

-- The commands of lenses: `vim.lsp.codelens.run()`.
vim.lsp.commands['relay.run'] = function(command, context)
  require('relay-analyzer.run').execute(command.arguments[1], context.bufnr)
end

vim.lsp.commands['relay.showReferences'] = function(command, context)
  require('relay-analyzer.references').show(command.arguments, context.bufnr)
end

vim.lsp.commands['relay.reduceToDiagnostic'] = function(command, context)
  require('relay-analyzer.reduce').execute(command.arguments, context.bufnr)
end

vim.api.nvim_create_user_command('RelayReduce', function(call)
  require('relay-analyzer.reduce').command(call)
end, {
  bang = true,
  desc = 'relay-analyzer: the smallest module that still has the diagnostic at the cursor; with !, cancel',
})

vim.api.nvim_create_user_command('RelayRun', function(call)
  require('relay-analyzer.run').command(call)
end, {
  nargs = '*',
  bang = true,
  desc = 'Run the function at the cursor or by name; with !, stop all runs',
  complete = function(lead)
    return require('relay-analyzer.run').complete(lead)
  end,
})

vim.api.nvim_create_user_command('RelayCancelRun', function()
  require('relay-analyzer.run').stop()
end, { desc = 'relay-analyzer: stop what runs' })

vim.api.nvim_create_user_command('RelayValue', function(call)
  require('relay-analyzer.run').value(call)
end, { nargs = 1, desc = 'relay-analyzer: show one of the values of the variable at the cursor' })

vim.api.nvim_create_user_command('RelayTensor', function(call)
  require('relay-analyzer.tensor').command(call)
end, { nargs = '?', desc = 'relay-analyzer: show the tensor at the cursor, of the last run or a weight' })

for name, direction in pairs({ RelayNextCall = 1, RelayPreviousCall = -1 }) do
  vim.api.nvim_create_user_command(name, function(call)
    require('relay-analyzer.run').call(direction * call.count)
  end, { count = 1, desc = 'relay-analyzer: show the values of another call of the function at the cursor' })
end

vim.api.nvim_create_user_command('RelayClearValues', function()
  require('relay-analyzer.values').clear(vim.api.nvim_get_current_buf())
end, { desc = 'relay-analyzer: take the values of the last run away' })

vim.api.nvim_create_user_command('RelayInstallGrammar', function()
  require('relay-analyzer.grammar').command()
end, { desc = 'relay-analyzer: compile the tree-sitter parser, and use it' })

local commands = {
  log = function()
    vim.cmd.tabnew(vim.fn.fnameescape(require('vim.lsp.log').get_filename()))
  end,
  restart = function()
    require('relay-analyzer').restart()
  end,
  version = function()
    local version, problem = require('relay-analyzer').version()
    if version then
      vim.notify('relay-analyzer ' .. version)
    else
      vim.notify('relay-analyzer: ' .. problem, vim.log.levels.ERROR)
    end
  end,
}

vim.api.nvim_create_user_command('Relay', function(call)
  local command = commands[call.fargs[1]]
  if command then
    command()
  else
    vim.notify(('Relay: there is no command `%s`'):format(call.fargs[1]), vim.log.levels.ERROR)
  end
end, {
  nargs = 1,
  desc = 'relay-analyzer: log, restart, version',
  complete = function(lead)
    local names = vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, vim.tbl_keys(commands))
    table.sort(names)
    return names
  end,
})
