-- Steps of `drive.lua`: comparisons, lists of passes, and histories.
--
-- `tools` provides its `same`, `until_`, `go`, `change` and `say`.
return function(tools)
  local same, until_, go, change, say = tools.same, tools.until_, tools.go, tools.change, tools.say
  local steps = {}

  local MODULE = {
    '#[version = "0.0.5"]',
    'def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 4), float32]) {',
    '  %0 = tanh(%x);',
    '  %1 = nn.dense(%0, %w, units=4);',
    '  %2 = nn.softmax(%1, axis=1);',
    '  add(%2, %0)',
    '}',
  }
  --- The module with another cast and another axis.
  local CAST = {
    '#[version = "0.0.5"]',
    'def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 4), float32]) {',
    '  %0 = tanh(%x);',
    '  %1 = cast(%0, dtype="float16");',
    '  %2 = cast(%1, dtype="float32");',
    '  %3 = nn.dense(%2, %w, units=4);',
    '  %4 = nn.softmax(%3, axis=0);',
    '  add(%4, %0)',
    '}',
  }
  local FUSED = {
    '#[version = "0.0.5"]',
    'def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 4), float32]) {',
    '  %0 = tanh(%x);',
    '  %4 = fn (%p0: Tensor[(2, 4), float32], Primitive=1) {',
    '    %1 = cast(%p0, dtype="float16");',
    '    cast(%1, dtype="float32")',
    '  };',
    '  %5 = %4(%0);',
    '  %6 = nn.dense(%5, %w, units=4);',
    '  %7 = nn.softmax(%6, axis=0);',
    '  add(%7, %0)',
    '}',
  }

  --- A log of other modules, or by default of four, where the second repeats the first. A pass with a third field ran
  --- those in it.
  local function write_log(passes, path)
    local lines = {}
    passes = passes or { { 'InferType', MODULE }, { 'Nothing', MODULE }, { 'Cast', CAST }, { 'FuseOps', FUSED } }
    for at, pass in ipairs(passes) do
      table.insert(lines, ('[10:00:0%d] a.cc:1: PrintIR(%s):'):format(at, pass[1]))
      if pass[3] then
        table.insert(lines, '// nested: ' .. pass[3])
      end
      vim.list_extend(lines, pass[2])
      table.insert(lines, '')
    end
    path = path or vim.fn.tempname() .. '.log'
    vim.fn.writefile(lines, path)
    return path
  end

  --- Opens a file with `MODULE` in a new window, with a server.
  local function open_module(folder)
    local path = (folder or vim.fn.fnamemodify(vim.fn.tempname(), ':h')) .. '/compared.relay'
    vim.fn.writefile(MODULE, path)
    vim.cmd.new(path)
    until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    return path
  end

  --- The window and the buffer of the base.
  local function base()
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.startswith(vim.api.nvim_buf_get_name(buffer), 'relay://base/') then
        return window, buffer
      end
    end
  end

  local function headline(wanted)
    until_('the headline ' .. wanted, function()
      return vim.wo.winbar:find(wanted, 1, true)
    end)
  end

  --- `sign text` for each line with a sign, and the column unless it is the end of the line.
  local function marks(buffer)
    local namespace = vim.api.nvim_create_namespace('relay-analyzer.diff')
    local found = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      local details = mark[4]
      if details.sign_text then
        local text = details.virt_text and details.virt_text[1][1] or ''
        local at = details.virt_text_pos == 'inline' and ('column %d '):format(mark[3] + 1) or ''
        table.insert(found, vim.trim(('%d %s %s%s'):format(mark[2] + 1, vim.trim(details.sign_text), at, vim.trim(text))))
      end
    end
    return found
  end

  --- The highlighted texts of a group.
  local function marked(buffer, namespace, group)
    local found = {}
    namespace = vim.api.nvim_create_namespace(namespace)
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      local details = mark[4]
      if details.hl_group == group then
        local text = vim.api.nvim_buf_get_text(buffer, mark[2], mark[3], details.end_row, details.end_col, {})
        table.insert(found, table.concat(text, '\n'))
      end
    end
    return found
  end

  local function partners(buffer)
    return marked(buffer, 'relay-analyzer.diff.partners', 'RelayDiffPartner')
  end

  local function wipe_modules()
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.startswith(vim.api.nvim_buf_get_name(buffer), 'relay:///') then
        vim.cmd.bwipeout({ buffer, bang = true })
      end
    end
  end

  --- Wipes out a buffer when no request is pending: Neovim 0.10 does not forget such buffers
  --- in time, and fails when their semantic tokens arrive.
  local function wipe(buffer)
    until_('answers', function()
      for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer })) do
        for _, question in pairs(client.requests) do
          if question.bufnr == buffer then
            return false
          end
        end
      end
      return true
    end)
    vim.cmd.bwipeout({ buffer, bang = true })
  end

  local function keys(typed)
    vim.api.nvim_feedkeys(vim.keycode(typed), 'xt', false)
  end

  --- Runs a command that fails with a message.
  local function refused(command, wanted)
    -- Neovim raises errors at once.
    local _, problem = pcall(vim.cmd, command)
    until_('the message ' .. wanted, function()
      return (vim.fn.execute('messages') .. (problem or '')):find(wanted, 1, true)
    end)
  end

  local function message(wanted)
    until_('the message ' .. wanted, function()
      return vim.fn.execute('messages'):find(wanted, 1, true)
    end)
  end

  function steps.compares_with_what_is_saved()
    local back = vim.api.nvim_get_current_win()
    local path = open_module()
    local source, buffer = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
    vim.keymap.set('n', ']c', '<Cmd>let g:relay_test_jump = 1<CR>', { buffer = buffer })
    vim.wo.wrap = true
    vim.cmd('RelayDiff saved')
    same(vim.api.nvim_get_current_win(), source, 'the window of the cursor')
    headline('equal in structure')
    local window, beside = base()
    same(vim.api.nvim_buf_get_lines(beside, 0, -1, false), MODULE, 'the base')
    same({ vim.bo[beside].modifiable, vim.bo[beside].filetype }, { false, 'relay' }, 'the base')
    assert(vim.api.nvim_win_get_position(window)[2] < vim.api.nvim_win_get_position(source)[2], 'the base is on the left')
    same(marks(buffer), {}, 'marks of what is equal')

    -- It follows the text: notation makes no difference, attributes and expressions do.
    change('%2 =', '%2 = nn.softmax(%1, axis=1)', 'let %y = nn.softmax(%1, axis=0) /* ty=Tensor[(2, 4), float32] */')
    change('add(', 'add(%2, %0)', 'add(%y, exp(%0))')
    vim.cmd('doautocmd TextChanged')
    headline('1 expression changed; 1 expression added')
    same(marks(beside), { '5 ~ axis 1 → 0' }, 'marks of the base')
    -- Before a comment, which may extend beyond the window.
    same(marks(buffer), { '5 ~ column 35 axis 1 → 0', '6 +' }, 'marks of the text')
    same(marked(beside, 'relay-analyzer.diff', 'RelayDiffText'), { 'axis=1' }, 'the changed part')
    same(marked(buffer, 'relay-analyzer.diff', 'RelayDiffText'), { 'axis=0' }, 'the changed part')
    same(marked(buffer, 'relay-analyzer.diff', 'RelayDiffAdded'), { 'exp(%0)' }, 'what is added')

    -- Jumps from change to change with the counterpart in view, or the position where it would be.
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    keys(']c')
    same(vim.api.nvim_win_get_cursor(0), { 5, 11 }, 'the first change')
    same(partners(beside), { 'nn.softmax(%1, axis=1)' }, 'the partner of the first change')
    same(vim.api.nvim_win_get_cursor(window), { 5, 7 }, 'the place of the partner')
    keys(']c')
    same(vim.api.nvim_win_get_cursor(0), { 6, 10 }, 'the second change')
    same(partners(beside), {}, 'partners of what is added')
    keys(']c')
    message('no more changes below')
    keys('2[c')
    same(vim.api.nvim_win_get_cursor(0), { 5, 11 }, 'the change before')
    go('%0 = tanh', 'tanh')
    vim.cmd('doautocmd CursorMoved')
    same(partners(beside), { 'tanh(%x)' }, 'the partner of what is under the cursor')
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(0, { 4, 0 })
    vim.cmd('doautocmd CursorMoved')
    same({ partners(beside), partners(buffer) }, { {}, { 'nn.dense(%0, %w, units=4)' } }, 'partners from the base')
    keys('G[c')
    same(partners(buffer), { 'exp(%0)' }, 'what the base does not have')
    same(vim.api.nvim_win_get_cursor(source), { 6, 10 }, 'the place of what the base does not have')

    vim.cmd('RelayDiffReport')
    same(vim.bo.filetype, 'relay-report', 'the report')
    local report = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    assert(report:find('^`saved` → `compared.relay`: 1 expression changed'), report)
    keys('q')

    -- Everything is restored.
    vim.api.nvim_set_current_win(window)
    keys('q')
    same({ vim.api.nvim_get_current_win(), base() }, { source }, 'windows after `q`')
    same({ vim.wo.winbar, vim.wo.wrap, vim.wo.signcolumn }, { '', true, 'auto' }, 'options after `q`')
    same({ marks(buffer), partners(buffer) }, { {}, {} }, 'marks after `q`')
    keys(']c')
    same(vim.g.relay_test_jump, 1, 'the mapping of before')
    same(vim.fn.maparg('[c', 'n'), '', 'the mapping of the comparison')
    refused('RelayDiffOff', 'there is no comparison here')
    wipe(buffer)
    vim.fn.delete(path)
    vim.api.nvim_set_current_win(back)
    say('compared with what is saved')
  end

  function steps.compares_with_other_texts()
    local back = vim.api.nvim_get_current_win()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder)
    local path = open_module(folder)
    local function git(...)
      local who = { 'git', '-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.c' }
      same(vim.system(vim.list_extend(who, { ... })):wait().code, 0, 'git')
    end
    refused('RelayDiff HEAD', 'not a git repository')
    git('init', '-q')
    git('add', '.')
    git('commit', '-q', '-m', 'A module')
    change('%2 =', 'axis=1', 'axis=0')
    vim.cmd('silent write | RelayDiff saved')
    headline('equal in structure')
    -- A comparison replaces the previous one.
    vim.cmd('RelayDiff HEAD')
    headline('1 expression changed')
    same(#vim.api.nvim_tabpage_list_wins(0), 3, 'windows')
    vim.fn.setreg('"', table.concat(CAST, '\n'))
    vim.cmd('RelayDiff clipboard')
    headline('2 expressions removed')
    local other = folder .. '/other one.relay'
    vim.fn.writefile(FUSED, other)
    vim.cmd('RelayDiff ' .. other)
    headline('2 expressions removed')
    same(marks((vim.fn.bufnr('^relay://base/'))), { '5 -', '6 -' }, 'marks of the base')
    refused('RelayDiff nowhere.relay', 'nowhere.relay: No such file or directory')

    local offered
    local select = vim.ui.select
    vim.ui.select = function(items, options, choose)
      offered = vim.tbl_map(options.format_item, items)
      choose(items[1])
    end
    vim.cmd('RelayDiff')
    vim.ui.select = select
    headline('equal in structure')
    same(offered, { 'the saved file', 'the last commit (HEAD)', 'the clipboard', 'a file …' }, 'what is offered')
    same(vim.fn.getcompletion('RelayDiff H', 'cmdline'), { 'HEAD' }, 'completion')
    -- Syntax errors are reported.
    change('add(', 'add(%2, %0)', 'add(%2, %0')
    vim.cmd('doautocmd TextChanged')
    headline('compared.relay%*  %#WarningMsg#has syntax errors')

    -- The comparison ends with its buffer or its window.
    wipe(vim.api.nvim_get_current_buf())
    until_('the end with the buffer', function()
      return base() == nil
    end)
    vim.cmd.new(path)
    vim.cmd('RelayDiff saved')
    headline('equal in structure')
    vim.cmd.quit()
    until_('the end with the window', function()
      return base() == nil
    end)
    wipe(vim.fn.bufnr(path))
    vim.fn.delete(folder, 'rf')
    vim.api.nvim_set_current_win(back)
    say('compared with other texts')
  end

  local function passes()
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].filetype == 'relay-passes' then
        return window, buffer
      end
    end
  end

  local function list()
    local _, buffer = passes()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end

  function steps.lists_passes()
    local back = vim.api.nvim_get_current_win()
    local path = write_log()
    vim.cmd.new()
    local target = vim.api.nvim_get_current_win()
    vim.cmd('RelayPasses ' .. path)
    local window, buffer = passes()
    same(vim.api.nvim_get_current_win(), window, 'the window of the cursor')
    until_('the modules', function()
      return #list() == 5
    end)
    same(list(), {
      '  #  pass       line  functions  changed',
      '  0  InferType     2          1',
      '  1  Nothing      11          1  nothing',
      '  2  Cast         20          1  @main',
      '  3  FuseOps      31          1  @main',
    }, 'the list')
    same(marked(buffer, 'relay-analyzer.passes', 'RelayPassesSame'), { list()[3] }, 'what is dim')
    keys('c')
    until_('the costs', function()
      return list()[1]:find('calls  parameters  MACs  peak memory', 1, true)
    end)

    -- A module is a separate buffer, which the server knows.
    vim.api.nvim_win_set_cursor(window, { 4, 0 })
    keys('<CR>')
    same(vim.api.nvim_get_current_win(), target, 'the window of the module')
    local module = vim.api.nvim_get_current_buf()
    same(vim.api.nvim_buf_get_name(module), 'relay://' .. path .. '#2', 'the name of the module')
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), CAST, 'the text of the module')
    tools.hover_has('%1 = cast', 'cast', 'float16')
    same({ vim.bo.filetype, vim.bo.modifiable, vim.bo.modified }, { 'relay', false, false }, 'the module')

    -- Compares with the previous module, and with a chosen one.
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { 5, 0 })
    keys('d')
    headline('2 calls became 1 fused function; nothing else changed')
    assert(vim.wo.winbar:find('#3 FuseOps', 1, true), vim.wo.winbar)
    same(vim.api.nvim_win_get_cursor(0), { 5, 9 }, 'the place of the first change')
    local _, beside = base()
    same(marks(beside), { '4 » fused: line 5', '5 » fused: lines 6, 8' }, 'marks of the base')
    local select = vim.ui.select
    local offered
    vim.ui.select = function(items, options, choose)
      offered = vim.tbl_map(options.format_item, items)
      choose(items[1])
    end
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { 3, 0 })
    keys('D')
    vim.ui.select = select
    headline('equal in structure')
    same(offered, { '#0 InferType', '#2 Cast', '#3 FuseOps' }, 'what is offered')
    same(vim.fn.getcompletion('RelayDiff #C', 'cmdline'), { '#Cast' }, 'completion')
    vim.cmd('RelayDiff #Cast')
    headline('1 expression changed; 2 expressions removed')
    refused('RelayDiff #No', 'no module of a pass `No`')
    vim.cmd('RelayDiffOff')

    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { 2, 0 })
    keys('d')
    message('there is no previous module')

    -- The view follows the log when a compiler overwrites it.
    write_log({ { 'Cast', CAST }, { 'Nothing', CAST }, { 'Fold', MODULE } }, path)
    vim.cmd('RelayPasses ' .. path)
    until_('the modules of the new log', function()
      return #list() == 4
    end)
    -- Passes inside a pass are below it, and hidden at first.
    write_log({ { 'Cast', CAST }, { 'Nothing', CAST, 'InferType, ToANormalForm' }, { 'Fold', MODULE } }, path)
    vim.cmd('RelayPasses ' .. path)
    until_('the passes inside', function()
      return list()[3]:find('Nothing ▸ 2 inside', 1, true)
    end)
    vim.api.nvim_win_set_cursor(window, { 3, 0 })
    keys('<Tab>')
    same(
      vim.list_slice(vim.tbl_map(vim.trim, list()), 3, 6),
      {
        '1  Nothing ▾          14          1      6          16    32     96 bytes  nothing',
        'InferType',
        'ToANormalForm',
        '2  Fold               25          1      4          16    32     96 bytes  @main',
      },
      'the passes inside'
    )
    same(marked(buffer, 'relay-analyzer.passes', 'RelayPassesSame'), vim.list_slice(list(), 3, 5), 'what is dim')
    vim.api.nvim_win_set_cursor(window, { 5, 0 })
    keys('<Tab>')
    same({ #list(), vim.api.nvim_win_get_cursor(window)[1] }, { 4, 3 }, 'the list without them')
    vim.fn.search('Fold')
    keys('<CR>')
    same(vim.api.nvim_buf_get_name(0), 'relay://' .. path .. '#2', 'the name of the module')
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), MODULE, 'the text of the module now')
    same(vim.fn.getcompletion('RelayDiff #F', 'cmdline'), { '#Fold' }, 'completion')
    vim.api.nvim_set_current_win(window)
    keys('q')
    same({ passes() }, {}, 'the list after `q`')
    same(vim.fn.reg_recording(), '', 'the register that is recorded to')
    refused('RelayPasses nowhere.log', 'nowhere.log')
    until_('the end of a list of nothing', function()
      return not passes()
    end)
    vim.api.nvim_set_current_win(target)
    -- The last one closes the window.
    wipe_modules()
    vim.api.nvim_set_current_win(back)
    vim.fn.delete(path)
    say('passes')
  end

  function steps.follows_histories()
    local back = vim.api.nvim_get_current_win()
    local path = write_log()
    -- From the log itself, which is not a Relay file.
    vim.cmd.new(path)
    local target = vim.api.nvim_get_current_win()
    go('%6 = nn.dense', 'nn.dense')
    vim.cmd('RelayHistory')
    until_('the history', function()
      return vim.bo.buftype == 'quickfix'
    end)
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), {
      '#0 InferType|4 col 8-33| nn.dense(%0, %w, units=4)',
      '#1 Nothing|4 col 8-33| nn.dense(%0, %w, units=4)',
      '#2 Cast|6 col 8-33| nn.dense(%2, %w, units=4)',
      '#3 FuseOps|9 col 8-33| nn.dense(%5, %w, units=4)',
    }, 'the history')
    same(vim.fn.getqflist({ idx = 0, title = 0 }), { idx = 4, title = 'History of nn.dense(%5, %w, units=4)' }, 'the list')
    keys('3G<CR>')
    same(vim.api.nvim_get_current_win(), target, 'the window of the module')
    same(vim.api.nvim_buf_get_name(0), 'relay://' .. path .. '#2', 'the module')
    same(vim.api.nvim_win_get_cursor(0), { 6, 7 }, 'the place in the module')

    -- From a module: in which pass did this cast appear?
    go('%1 = cast', 'cast')
    vim.cmd('RelayHistory')
    until_('the history of the cast', function()
      return vim.fn.getqflist({ title = 0 }).title == 'History of cast(%0, dtype="float16")'
    end)
    same(vim.api.nvim_buf_get_lines(0, 0, 1, false), { '#2 Cast|4 col 8-33| added: cast(%0, dtype="float16")' }, 'the history')
    keys('q')

    -- From the base of a comparison, which is also a module.
    vim.api.nvim_set_current_win(target)
    vim.cmd('RelayDiff #FuseOps')
    headline('1 fused function became 2 calls')
    vim.api.nvim_set_current_win((base()))
    go('%6 = nn.dense', 'nn.dense')
    vim.cmd('RelayHistory')
    until_('the history of the base', function()
      return vim.fn.getqflist({ idx = 0, title = 0 }).idx == 4
    end)
    keys('1G<CR>')
    same(vim.api.nvim_buf_get_name(0), 'relay://' .. path .. '#0', 'the module')
    until_('the end of the comparison', function()
      return not base()
    end)
    vim.cmd.cclose()
    vim.api.nvim_set_current_win(target)
    vim.cmd.new()
    refused('RelayHistory', 'this buffer is neither a log')
    vim.cmd.bwipeout()
    wipe_modules()
    vim.cmd.bwipeout({ path, bang = true })
    vim.fn.delete(path)

    -- Entries without a position lead nowhere.
    path = write_log({ { 'Cast', CAST }, { 'Fold', MODULE } })
    vim.cmd.new(path)
    go('%1 = cast', 'cast')
    vim.cmd('RelayHistory')
    until_('the end of the cast', function()
      return vim.bo.buftype == 'quickfix'
    end)
    local shown = { '#0 Cast|4 col 8-33| cast(%0, dtype="float16")', '|| removed: #1 has no counterpart' }
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), shown, 'the history')
    keys('G<CR>')
    same(vim.bo.buftype, 'quickfix', 'the window after <CR>')
    keys('q')
    wipe_modules()
    vim.cmd.bwipeout({ path, bang = true })
    vim.api.nvim_set_current_win(back)
    vim.fn.delete(path)
    say('histories')
  end

  return {
    steps.compares_with_what_is_saved,
    steps.compares_with_other_texts,
    steps.lists_passes,
    steps.follows_histories,
  }
end
