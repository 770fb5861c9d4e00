-- A Neovim that is set up as documented finds the error of the example that it is
-- opened with, and documents each command in its help.

local function fail(what)
  io.stdout:write('FAILED ', what, '\n', vim.fn.execute('messages'), '\n')
  vim.cmd.cquit()
end

local function check()
  local function errors()
    return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
  end
  if not vim.wait(60000, function()
    return #errors() > 0
  end, 20) then
    fail('no error is found')
  end
  for _, found in ipairs(errors()) do
    io.stdout:write('error ', found.code, '\n')
  end

  vim.cmd('help relay-analyzer')
  if vim.fn.expand('%:t') ~= 'relay-analyzer.txt' then
    fail('there is no help')
  end
  vim.cmd.bwipeout({ bang = true })

  local function is_attached()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('is attached to %d buffer')
  end
  vim.cmd('checkhealth relay-analyzer')
  if not is_attached() then
    fail('no client is attached')
  end
  local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  if health:find('ERROR') then
    fail(health)
  end
  vim.cmd.bwipeout({ bang = true })

  local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
  local plugin = here .. '/../../../editors/neovim/'
  local page = table.concat(vim.fn.readfile(plugin .. 'README.md'), '\n')
  local help = table.concat(vim.fn.readfile(plugin .. 'doc/relay-analyzer.txt'), '\n')
  for name in pairs(vim.api.nvim_get_commands({})) do
    if vim.startswith(name, 'Relay') then
      if not help:find(('*:%s*'):format(name), 1, true) then
        fail('the help has no :' .. name)
      elseif not page:find('`:' .. name, 1, true) then
        fail('the page has no :' .. name)
      end
    end
  end
  for name in page:gmatch('`:(Relay%a*)') do
    if vim.fn.exists(':' .. name) ~= 2 then
      fail('there is no :' .. name)
    end
  end

  if vim.g.relay_test_status then
    local status = vim.api.nvim_eval_statusline(vim.o.statusline, {}).str
    if not status:find('relay: 1 error', 1, true) then
      fail('the status line is ' .. status)
    end
  end
  io.stdout:write('OK\n')
end

local fine, problem = xpcall(check, debug.traceback)
if not fine then
  fail(problem)
end
vim.cmd('qall!')
