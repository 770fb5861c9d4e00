-- Steps of `drive.lua`: runs by command and by lens, their values, and cancellation.
--
-- `tools` provides its `same`, `until_`, `go`, `change`, `say` and `hover_has`.
return function(tools)
  local same, until_, go, change, say = tools.same, tools.until_, tools.go, tools.change, tools.say
  local steps = {}

  --- Opens a new buffer with a module, and waits for the server.
  local function open(lines)
    vim.cmd.new()
    vim.api.nvim_buf_set_name(0, vim.fn.tempname() .. '.relay')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.bo.filetype = 'relay'
    until_('a client', function()
      local client = vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
      return client and client.initialized
    end)
    return vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  end

  local function halves()
    return open({
      '#[version = "0.0.5"]',
      'def @half(%n: int32) -> int32 { %n / 2 }',
      'def @main(%n: int32) -> int32 {',
      '  let %m = @half(%n);',
      '  %m + 1',
      '}',
    })
  end

  local function result(wanted)
    return until_('a result with ' .. wanted, function()
      local buffer = vim.fn.bufnr('^relay://run$')
      local text = buffer >= 0 and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') or ''
      return text:find(wanted, 1, true) and vim.fn.bufwinid(buffer) >= 0 and text
    end)
  end

  local function forget_result()
    vim.api.nvim_buf_delete(vim.fn.bufnr('^relay://run$'), { force = true })
  end

  --- The titles of the displayed lenses, in order.
  local function lenses()
    return vim.tbl_map(function(lens)
      return (lens.lens or lens).command.title
    end, vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = 0 } or 0))
  end

  --- The virtual text at the ends of lines, by line.
  local function values()
    local namespace = vim.api.nvim_create_namespace('relay-analyzer.values')
    local found = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
      same(mark[4].virt_text_pos, 'eol', 'the place of a value')
      found[mark[2] + 1] = vim.trim(mark[4].virt_text[1][1])
    end
    return found
  end

  local function wait_for_values(wanted)
    until_('values ' .. vim.inspect(wanted), function()
      return vim.deep_equal(values(), wanted)
    end)
  end

  function steps.runs_by_command()
    local window, buffer = halves()
    -- Reading the buffer again starts no other server.
    vim.bo.filetype = 'relay'
    same(#vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' }), 1, 'servers of a buffer')
    go('def @main', '@main')
    vim.cmd('RelayRun @main n=82')
    say('run', (result('42 (int32)'):gsub('\n', ' ')))
    -- The focus is in the result, and `q` leads back.
    same(vim.api.nvim_buf_get_name(0), 'relay://run', 'the buffer after a run')
    vim.api.nvim_feedkeys('q', 'xt', false)
    same({ vim.api.nvim_get_current_win(), vim.fn.reg_recording() }, { window, '' }, 'the window after `q`')
    local memory = vim.fs.dirname(vim.api.nvim_buf_get_name(buffer)) .. '/.relay/run.json'
    local function remembered()
      local all = vim.json.decode(table.concat(vim.fn.readfile(memory), '\n'))
      return all[vim.fs.basename(vim.api.nvim_buf_get_name(buffer))]
    end
    same(remembered(), { ['@main'] = { inputs = { n = 82 } } }, 'the arguments that are remembered')
    -- They apply to the next run; invalid ones are reported and not stored.
    forget_result()
    vim.cmd('RelayRun @main n=nan')
    result('`nan` is not a valid int32')
    vim.api.nvim_set_current_win(window)
    -- Before the first function, `@main` is run, as by the command line.
    forget_result()
    vim.cmd.normal('gg')
    vim.cmd('RelayRun')
    result('@main of ')
    forget_result()
    vim.api.nvim_set_current_win(window)
    go('  %m + 1', '%m')
    vim.cmd('RelayRun')
    -- The cursor stays if it has moved meanwhile.
    vim.cmd.normal('gg')
    result('42 (int32)')
    same(vim.api.nvim_get_current_win(), window, 'the window of who has gone on')
    same(remembered(), { ['@main'] = { inputs = { n = 82 } } }, 'the arguments after a mistake')
    forget_result()
    vim.cmd.bwipeout({ bang = true })
    say('runs by command')
  end

  function steps.shows_values()
    local window = halves()
    vim.cmd('RelayRun @main n=82')
    result('42 (int32)')
    vim.api.nvim_set_current_win(window)
    wait_for_values({ [2] = '= 82', [3] = '= 82', [4] = '= 41' })
    tools.hover_has('%m + 1', '%m', 'in the last run: `41`')
    -- Values are only displayed among inlay hints.
    vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
    until_('values in hints', function()
      return #vim.tbl_filter(function(hint)
        local label = hint.inlay_hint.label
        return type(label) == 'string' and vim.startswith(label, '= ')
      end, vim.lsp.inlay_hint.get({ bufnr = 0 })) == 3
    end)
    forget_result()
    vim.cmd('RelayRun @main')
    result('42 (int32)')
    vim.api.nvim_set_current_win(window)
    wait_for_values({})
    vim.lsp.inlay_hint.enable(false, { bufnr = 0 })
    -- A function that has changed loses them.
    forget_result()
    vim.cmd('RelayRun @main')
    result('42 (int32)')
    vim.api.nvim_set_current_win(window)
    wait_for_values({ [2] = '= 82', [3] = '= 82', [4] = '= 41' })
    change('let %m', '%n', '(%n + 1)')
    vim.cmd('doautocmd TextChanged')
    wait_for_values({ [2] = '= 82' })
    vim.cmd('RelayClearValues')
    same(values(), {}, 'the values after :RelayClearValues')
    -- The answer to a request that waits longer after a change than one for values.
    local answered = tools.next_answer('textDocument/codeLens')
    change('let %m', '(%n + 1)', '%n')
    vim.cmd('doautocmd TextChanged')
    answered()
    same(values(), {}, 'the values after a change')
    forget_result()
    vim.cmd.bwipeout({ bang = true })
    say('values at the ends of lines')
  end

  function steps.shows_one_value()
    local window = open({
      '#[version = "0.0.5"]',
      'def @down(%n: int32) -> int32 { if (%n == 0) { 7 } else { @down(%n - 1) } }',
    })
    vim.cmd('RelayRun @down n=199')
    result('7 (int32)')
    forget_result()
    vim.api.nvim_set_current_win(window)
    go('def @down', '%n')
    tools.hover_has('def @down', '%n', 'not kept: 65 to 199')
    vim.cmd('RelayValue 100')
    result('%n, value 100 of 200 in the run of @down')
    result('100 (int32)')
    forget_result()
    vim.api.nvim_set_current_win(window)
    wait_for_values({ [2] = '= 199 (1 of 200)' })
    vim.cmd('RelayValue x')
    assert(vim.fn.execute('messages'):find(':RelayValue takes the number of a value', 1, true))
    vim.cmd.bwipeout({ bang = true })
    say('one of several values')
  end

  function steps.shows_tensors()
    local window = open({
      '#[version = "0.0.5"]',
      'def @main(%x: Tensor[(2, 2, 3), float32]) {',
      '  let %y = nn.relu(%x);',
      '  %y',
      '}',
    })
    local function shown(wanted)
      return until_('a tensor with ' .. wanted, function()
        local buffer = vim.fn.bufnr('^relay://tensor$')
        local text = buffer >= 0 and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') or ''
        return text:find(wanted, 1, true) and text
      end)
    end
    vim.cmd('RelayRun @main x=[[[0,1,2],[3,4,5]],[[6,7,8],[9,10,-11]]]')
    result('Tensor[(2, 2, 3), float32]')
    forget_result()
    vim.api.nvim_set_current_win(window)
    go('let %y', '%y')
    vim.cmd('RelayTensor')
    local text = shown('%y[0, :, :]')
    assert(text:find('%y: Tensor[(2, 2, 3), float32]', 1, true) and text:find('[3. 4. 5.]', 1, true), text)
    same(vim.api.nvim_buf_get_name(0), 'relay://tensor', 'the buffer of a tensor')
    -- The next slice, the one before, and a slice that is typed.
    vim.api.nvim_feedkeys(vim.keycode('<Tab>'), 'xt', false)
    shown('[ 9. 10.  0.]')
    vim.api.nvim_feedkeys(vim.keycode('<Tab>'), 'xt', false)
    assert(vim.fn.execute('messages'):find('there is no next slice', 1, true))
    vim.api.nvim_feedkeys('y', 'xt', false)
    same(vim.fn.getreg('"'), 'np.array([[6.0, 7.0, 8.0],\n [9.0, 10.0, 0.0]], dtype=np.float32)', 'the register')
    vim.api.nvim_feedkeys(vim.keycode('<S-Tab>'), 'xt', false)
    shown('%y[0, :, :]')
    local input = vim.ui.input
    vim.ui.input = function(_, typed)
      typed('[:, 1, 2]')
    end
    vim.api.nvim_feedkeys('s', 'xt', false)
    vim.ui.input = input
    shown('[5. 0.]')
    vim.api.nvim_feedkeys('q', 'xt', false)
    same(vim.api.nvim_get_current_win(), window, 'the window after `q`')
    vim.api.nvim_buf_delete(vim.fn.bufnr('^relay://tensor$'), { force = true })
    vim.cmd.bwipeout({ bang = true })
    say('a tensor')
  end

  function steps.keeps_lenses()
    local window = halves()
    local function runs()
      return #vim.tbl_filter(function(title)
        return vim.startswith(title, '▶ Run')
      end, lenses())
    end
    -- They are off by default.
    until_('lenses', function()
      return runs() == 2
    end)
    -- A lens does the same as the command.
    go('def @main', '@main')
    local select = vim.ui.select
    vim.ui.select = function(items, _, choose)
      for index, item in ipairs(items) do
        local command = (item.lens or item).command
        if vim.startswith(command.title, '▶ Run') and command.arguments[1]['function'] == '@main' then
          choose(item, index)
        end
      end
    end
    vim.lsp.codelens.run()
    result('(int32)')
    vim.ui.select = select
    vim.api.nvim_set_current_win(window)
    forget_result()
    -- They follow the text.
    vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'def @more(%n: int32) -> int32 { %n }' })
    vim.cmd('doautocmd TextChanged')
    until_('a lens more', function()
      return runs() == 3
    end)
    vim.cmd.bwipeout({ bang = true })
    say('lenses follow the text')
  end

  function steps.stops_runs()
    local window = open({
      '#[version = "0.0.5"]',
      'def @forever(%n: int32) -> int32 { @forever(%n + 1) }',
    })
    go('def @forever', '@forever')
    same(require('relay-analyzer').statusline(), 'relay: OK', 'the status of a file')
    vim.cmd('RelayRun')
    same(require('relay-analyzer').statusline(), 'relay: running · OK', 'the status of a run')
    same(require('relay-analyzer.run').count(), 1, 'runs')
    local answered = tools.next_answer('workspace/executeCommand')
    vim.cmd('RelayCancelRun')
    same(require('relay-analyzer.run').count(), 0, 'runs')
    answered()
    same(vim.fn.bufnr('^relay://run$'), -1, 'the result of a run that was stopped')
    same(values(), {}, 'the values of a run that was stopped')
    local said = vim.fn.execute('messages')
    assert(said:find('relay-analyzer: the run was cancelled', 1, true), said)
    -- By name if it was named, and likewise with `!`.
    vim.cmd('RelayRun @forever n=1')
    vim.cmd('RelayRun!')
    said = vim.fn.execute('messages')
    assert(said:find('relay-analyzer: @forever was cancelled', 1, true), said)
    same(vim.api.nvim_get_current_win(), window, 'the window')
    vim.cmd('RelayCancelRun')
    assert(vim.fn.execute('messages'):find('nothing is running', 1, true), vim.fn.execute('messages'))
    vim.cmd.bwipeout({ bang = true })
    say('runs are stopped')
  end

  return { steps.runs_by_command, steps.shows_values, steps.shows_one_value, steps.shows_tensors, steps.keeps_lenses, steps.stops_runs }
end
