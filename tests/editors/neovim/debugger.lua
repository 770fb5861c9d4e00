-- The setup of nvim-dap: adapter, configurations and signs. nvim-dap itself is not installed; its tables are.
return function(tools)
  local say, same = tools.say, tools.same

  local function sets_up_nvim_dap()
    package.loaded['dap'] = nil
    package.preload['dap'] = nil
    same(require('relay-analyzer').dap(), false, 'without nvim-dap')
    local dap = { adapters = {}, configurations = {} }
    package.loaded['dap'] = dap
    -- A default of nvim-dap, and a choice of the user.
    vim.fn.sign_define('DapBreakpoint', { text = 'B' })
    vim.fn.sign_define('DapStopped', { text = '>>' })
    same(require('relay-analyzer').dap(), true, 'with nvim-dap')
    local function text(name)
      return vim.trim(vim.fn.sign_getdefined(name)[1].text)
    end
    same(text('DapBreakpoint'), '●', 'the sign of a breakpoint')
    same(text('DapStopped'), '>>', 'the sign of the user')
    same(text('DapLogPoint'), '◇', 'the sign of a logpoint')
    local adapter
    dap.adapters.relay(function(found) adapter = found end)
    same({ adapter.type, adapter.args[#adapter.args] }, { 'executable', 'dap' }, 'the adapter')
    same(dap.configurations.relay[1].program, '${file}', 'a configuration')
    package.loaded['dap'] = nil
    say('nvim-dap is set up')
  end

  return { sets_up_nvim_dap }
end
