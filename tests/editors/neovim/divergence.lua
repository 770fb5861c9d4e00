-- Steps of `drive.lua`: comparisons that run both modules.
--
-- `tools` provides its `same`, `until_`, `change` and `say`.
return function(tools)
  local same, until_, change, say = tools.same, tools.until_, tools.change, tools.say
  local steps = {}

  local MODULE = {
    '#[version = "0.0.5"]',
    'def @main(%x: Tensor[(2, 4), float32]) {',
    '  %0 = tanh(%x);',
    '  %1 = exp(%0);',
    '  %2 = add(%1, %0);',
    '  nn.softmax(%2)',
    '}',
  }

  --- `line text group` for each line with a heat.
  local function heats(buffer)
    local namespace = vim.api.nvim_create_namespace('relay-analyzer.diff.heat')
    local found = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      local text, group = unpack(mark[4].virt_text[1])
      -- Without the numbers.
      table.insert(found, ('%d %s %s'):format(mark[2] + 1, text:gsub('%s[%d.e-]+$', ''), group))
    end
    return found
  end

  local function message(wanted)
    until_('the message ' .. wanted, function()
      return vim.fn.execute('messages'):find(wanted, 1, true)
    end)
  end

  local function headline(wanted)
    until_('the headline ' .. wanted, function()
      return vim.wo.winbar:find(wanted, 1, true)
    end)
  end

  --- The text of the window with values, which is closed.
  local function values()
    local window = until_('the values', function()
      for _, one in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(one).relative ~= '' then
          return one
        end
      end
    end)
    local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
    vim.api.nvim_win_close(window, true)
    return text
  end

  local function keys(typed)
    vim.api.nvim_feedkeys(vim.keycode(typed), 'xt', false)
  end

  function steps.runs_both_sides()
    local back = vim.api.nvim_get_current_win()
    local path = vim.fn.tempname() .. '.relay'
    vim.fn.writefile(MODULE, path)
    vim.cmd.new(path)
    until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    local source, buffer = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
    change('%1 =', 'exp(%0)', 'sigmoid(%0)')
    vim.cmd('RelayDiff saved')
    headline('1 expression changed')
    keys(']v')
    message('the modules were not run: :RelayDiffRun runs them')

    vim.cmd('RelayDiffRun')
    headline('first divergence: `sigmoid` in line 4')
    message('`%x` is random (seed 0)')
    local beside = vim.fn.bufnr('^relay://base/')
    local bars = { '▮▮▮▮ diverges by', '▮▮▮▮ inherits', '▮▮▮▮ inherits' }
    for _, side in ipairs({ buffer, beside }) do
      local found = heats(side)
      same(#found, 3, 'lines with a heat')
      for at, line in ipairs(found) do
        assert(vim.startswith(line, tostring(at + 3)), line)
        assert(line:find(vim.trim(bars[at]:gsub('[▮▯]', '')), 1, true), line)
        assert(line:find('RelayHeat[2-4]$'), line)
      end
    end

    -- The next divergence, with the values of both sides.
    vim.api.nvim_win_set_cursor(source, { 1, 0 })
    keys(']v')
    same(vim.api.nvim_win_get_cursor(source), { 4, 7 }, 'the divergence')
    local text = values()
    for _, wanted in ipairs({ 'sigmoid', 'has an error of its own', 'local error', 'before: (2, 4) min', 'after: (2, 4) min' }) do
      assert(text:find(wanted, 1, true), text)
    end
    keys(']v')
    message('no more divergences below')
    vim.api.nvim_win_set_cursor(source, { 6, 0 })
    vim.cmd('RelayPreviousDivergence')
    same(vim.api.nvim_win_get_cursor(source), { 4, 7 }, 'the divergence before')
    values()
    -- Those of the line under the cursor, on the other side, too.
    vim.api.nvim_set_current_win(vim.fn.bufwinid(beside))
    vim.api.nvim_win_set_cursor(0, { 5, 2 })
    vim.cmd('RelayDiffValues')
    text = values()
    assert(text:find('inherits the error of its operands', 1, true), text)
    vim.api.nvim_set_current_win(source)
    vim.cmd('RelayDiffReport')
    local report = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    assert(report:find('first divergence: `sigmoid` in `@main`', 1, true), report)
    keys('q')
    vim.api.nvim_set_current_win(source)

    -- Arguments are those of `:RelayRun`, and what is wrong with them is said.
    vim.cmd('RelayDiffRun seed=3')
    message('`%x` is random (seed 3)')
    vim.cmd('RelayDiffRun y=1')
    message('`y`')
    same(heats(buffer), {}, 'the heat of runs that failed')

    -- Values are those of the text: an edit drops them.
    vim.cmd('RelayDiffRun')
    headline('first divergence')
    change('%1 =', 'sigmoid(%0)', 'exp(%0)')
    vim.cmd('doautocmd TextChanged')
    headline('equal in structure')
    same({ heats(buffer), heats(beside) }, { {}, {} }, 'the heat of another text')
    vim.cmd('RelayDiffOff')
    same(vim.fn.maparg(']v', 'n'), '', 'the mapping of the comparison')

    -- Compared and run by one command.
    change('add(', 'add(%1, %0)', 'subtract(%1, %0)')
    vim.cmd('RelayDiff! saved')
    headline('first divergence: `subtract` in line 5')
    vim.cmd('RelayDiffOff')
    same(heats(buffer), {}, 'the heat after the comparison')
    vim.cmd.bwipeout({ buffer, bang = true })
    vim.fn.delete(path)
    vim.api.nvim_set_current_win(back)
    say('ran both sides')
  end

  function steps.lists_errors_of_passes()
    local back = vim.api.nvim_get_current_win()
    local path = vim.fn.tempname() .. '.log'
    local wrong = vim.tbl_map(function(line)
      return (line:gsub('exp', 'sigmoid'))
    end, MODULE)
    local lines = {}
    for at, module in ipairs({ MODULE, MODULE, wrong }) do
      table.insert(lines, ('[10:00:0%d] a.cc:1: PrintIR(Pass%d):'):format(at, at))
      vim.list_extend(lines, module)
    end
    vim.fn.writefile(lines, path)
    vim.cmd('RelayPasses ' .. path)
    local buffer = vim.api.nvim_get_current_buf()
    local function list()
      return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    end
    until_('the modules', function()
      return #list() == 4
    end)
    keys('e')
    message('module 2 (`Pass3`) is the first that differs from module 0')
    assert(list()[1]:find('functions  max error  changed', 1, true), list()[1])
    assert(list()[2]:find('%s0$') or list()[2]:find('%s0%s'), list()[2])
    assert(list()[4]:find('%d%.%d+e%-?%d+  @main'), list()[4])
    vim.api.nvim_win_set_cursor(0, { 4, 0 })
    keys('K')
    message('differs: max abs')
    keys('e')
    assert(not list()[1]:find('max error', 1, true), list()[1])
    keys('q')
    vim.fn.delete(path)
    vim.api.nvim_set_current_win(back)
    say('listed errors of passes')
  end

  return { steps.runs_both_sides, steps.lists_errors_of_passes }
end
