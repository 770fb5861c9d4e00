-- Steps of `drive.lua`: each value and each hint is shown once, whatever happens to the buffer.
--
-- `tools` provides its `same`, `until_` and `say`.
return function(tools)
  local same, until_, say = tools.same, tools.until_, tools.say

  --- The texts that a line shows in addition to its own, by line: those of the plugin and of Neovim.
  local function shown()
    -- Neovim puts its hints into the buffer when it draws.
    vim.cmd.redraw()
    local found = {}
    for _, namespace in ipairs({ 'relay-analyzer.values', 'vim_lsp_inlayhint', 'nvim.lsp.inlayhint' }) do
      local id = vim.api.nvim_create_namespace(namespace)
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, id, 0, -1, { details = true })) do
        local line = found[mark[2] + 1] or {}
        for _, chunk in ipairs(mark[4].virt_text or {}) do
          for value in vim.gsplit(vim.trim(chunk[1]), '  ', { plain = true, trimempty = true }) do
            line[#line + 1] = value
          end
        end
        table.sort(line)
        found[mark[2] + 1] = line
      end
    end
    return found
  end

  local function wait_for(what, wanted)
    local are, message = pcall(until_, what, function()
      return vim.deep_equal(shown(), wanted)
    end)
    if not are then
      error(('%s\nwanted %s\nfound %s'):format(message, vim.inspect(wanted), vim.inspect(shown())), 2)
    end
    -- It stays so: nothing is on its way that shows a value twice.
    vim.wait(500)
    same(shown(), wanted, what .. ', later')
  end

  --- The lines of `wanted`, moved down.
  local function moved(wanted, by)
    local found = {}
    for line, values in pairs(wanted) do
      found[line + by] = values
    end
    return found
  end

  local function run(source)
    vim.cmd('RelayRun @main n=82')
    until_('a result', function()
      local buffer = vim.fn.bufnr('^relay://run$')
      return buffer >= 0 and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n'):find('42 (int32)', 1, true)
    end)
    vim.api.nvim_buf_delete(vim.fn.bufnr('^relay://run$'), { force = true })
    vim.api.nvim_set_current_win(source)
  end

  local function changed()
    vim.cmd('doautocmd TextChanged')
  end

  local function shows_once()
    vim.cmd.new()
    local file = vim.fn.tempname() .. '.relay'
    vim.fn.writefile({
      '#[version = "0.0.5"]',
      'def @half(%n: int32) -> int32 { %n / 2 }',
      'def @main(%n: int32) -> int32 {',
      '  let %m = @half(%n);',
      '  %m + 1',
      '}',
    }, file)
    vim.cmd.edit(file)
    vim.bo.filetype = 'relay'
    local source = vim.api.nvim_get_current_win()
    until_('a client', function()
      local client = vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
      return client and client.initialized
    end)
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    local values = { [2] = { '= 82' }, [3] = { '= 82' }, [4] = { '= 41' } }
    run(source)
    wait_for('values of the run', values)
    run(source)
    wait_for('values of the second run', values)
    -- Lines above move them.
    vim.api.nvim_buf_set_lines(0, 1, 1, false, { '', '' })
    changed()
    wait_for('values that have moved', moved(values, 2))
    vim.cmd('silent undo')
    changed()
    wait_for('values after an undo', values)
    -- An edit of a line removes those that are no longer true; its undo brings them back.
    vim.cmd('let &undolevels = &undolevels')
    vim.api.nvim_buf_set_text(0, 4, 7, 4, 8, { '2' })
    changed()
    wait_for('values of what is unchanged', { [2] = { '= 82' } })
    vim.cmd('silent undo')
    changed()
    wait_for('values after the second undo', values)
    -- Among hints there are the same values, and each hint once.
    local hints = vim.deepcopy(values)
    vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
    hints[4] = { ': int32', '= 41' }
    wait_for('hints', hints)
    vim.api.nvim_buf_set_lines(0, 1, 1, false, { '' })
    changed()
    wait_for('hints that have moved', moved(hints, 1))
    vim.cmd('silent undo')
    changed()
    wait_for('hints after an undo', hints)
    run(source)
    wait_for('hints of another run', hints)
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    wait_for('values without hints', values)
    vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
    wait_for('hints again', hints)
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    wait_for('values again', values)
    -- Two windows show one buffer, and the marks are those of the buffer.
    vim.cmd.split()
    run(vim.api.nvim_get_current_win())
    wait_for('values in two windows', values)
    vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
    wait_for('hints in two windows', hints)
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    wait_for('values in two windows again', values)
    vim.cmd.close()
    -- The file that is read again was not run.
    vim.cmd('edit!')
    wait_for('values of a file that was read again', {})
    run(vim.api.nvim_get_current_win())
    wait_for('values of a run after that', values)
    vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
    wait_for('hints after that', hints)
    vim.cmd('edit!')
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    wait_for('no values', {})
    vim.cmd.bwipeout({ bang = true })
    say('values and hints are shown once')
  end

  return { shows_once }
end
