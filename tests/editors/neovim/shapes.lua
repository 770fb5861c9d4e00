-- Steps of `drive.lua`: the shape report, and the origin of a shape.
--
-- `tools` provides its `same`, `until_`, `go`, `change` and `say`.
return function(tools)
  local same, until_, go, change, say = tools.same, tools.until_, tools.go, tools.change, tools.say
  local steps = {}

  local function report()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].filetype == 'relay-shapes' then
        return window, buffer
      end
    end
  end

  local function lines()
    local _, buffer = report()
    return buffer and vim.api.nvim_buf_get_lines(buffer, 0, -1, false) or {}
  end

  local function line_with(text)
    for _, line in ipairs(lines()) do
      if line:find(text, 1, true) then
        return line
      end
    end
  end

  --- The text of the line that is highlighted as the cursor's.
  local function marked()
    local _, buffer = report()
    local namespace = vim.api.nvim_create_namespace('relay-analyzer.shapes')
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      if mark[4].line_hl_group == 'Visual' then
        return vim.api.nvim_buf_get_lines(buffer, mark[2], mark[2] + 1, false)[1]
      end
    end
  end

  function steps.reports_shapes()
    local source = vim.api.nvim_get_current_win()
    local number = go('let %queries', '%queries')
    vim.cmd('RelayShapes attention')
    same(vim.api.nvim_get_current_win(), (report()), 'the window of the cursor')
    until_('the report', function()
      return line_with('%queries')
    end)
    assert(lines()[1]:find('^@attention %(line 4%)'), lines()[1])
    -- The selected cost is next to the operator.
    local row = line_with('%flat')
    assert(row:find('reshape +%- +Tensor%[%(128, 768%), float32%]'), row)
    row = line_with('%q ')
    assert(row:find('nn%.dense +75,497,472 +Tensor%[%(128, 768%), float32%] +589,824 +384%.0 KiB'), row)
    assert(line_with('by operator'), 'sums by operator')
    assert(line_with('by layer'), 'sums by layer')
    assert(line_with('live at the peak'), 'the results at the peak')
    say('report', row)

    vim.api.nvim_set_current_win(source)

    -- An unknown name changes nothing.
    pcall(vim.cmd, 'RelayShapes nowhere')
    until_('a message', function()
      return vim.fn.execute('messages'):find('there is no function `@nowhere`', 1, true)
    end)
    assert(line_with('%queries'), 'the report before')
    vim.api.nvim_set_current_win(source)

    -- The report follows the cursor, and the cursor the report.
    assert(marked():find('%queries', 1, true), marked())
    go('let %flat', '%flat')
    vim.cmd('doautocmd CursorMoved')
    assert(marked():find('%flat', 1, true), marked())
    local window = report()
    vim.api.nvim_set_current_win(window)
    vim.fn.search('%queries')
    vim.cmd.normal(vim.keycode('<CR>'))
    same(vim.api.nvim_get_current_win(), source, 'the window after <CR>')
    same(vim.api.nvim_win_get_cursor(0)[1], number, 'the line after <CR>')

    -- And the text.
    change('let %flat', 'newshape=[128, 768]', 'newshape=[64, 1536]')
    vim.cmd('doautocmd TextChanged')
    until_('the new shape in the report', function()
      return line_with('(64, 1536)')
    end)
    vim.cmd('silent undo')
    vim.cmd('doautocmd TextChanged')
    until_('the old shape in the report', function()
      return not line_with('(64, 1536)')
    end)

    vim.api.nvim_set_current_win((report()))
    vim.api.nvim_feedkeys('q', 'xt', false)
    same(report(), nil, 'the report after `q`')
    same(vim.fn.reg_recording(), '', 'the register that is recorded to')
    vim.api.nvim_set_current_win(source)
    same(vim.fn.getcompletion('RelayShapes at', 'cmdline'), { '@attention' }, 'names of functions')
  end

  --- The names of the calls, in the order of the report.
  local function names()
    local found = {}
    for _, line in ipairs(lines()) do
      table.insert(found, line:match('^ +%d+  (%S+)'))
    end
    return found
  end

  function steps.chooses_costs()
    local source = vim.api.nvim_get_current_win()
    vim.cmd.new()
    vim.api.nvim_buf_set_name(0, vim.fn.tempname() .. '.relay')
    local wide = table.concat(vim.fn['repeat']({ '%s' }, 12), ', ')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, {
      'def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(16, 8), float32]) {',
      '  let %r = nn.relu(%x);',
      '  let %s = nn.dense(%r, %w, units=16);',
      '  let %t = @wide((' .. wide .. '));',
      '  %t.0',
      '}',
      'def @wide(%p: (' .. wide:gsub('%%s', 'Tensor[(4, 16), float32]') .. ')) { %p }',
    })
    vim.bo.filetype = 'relay'
    until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    local text = vim.api.nvim_get_current_win()
    vim.cmd('RelayShapes main')
    until_('the report', function()
      return line_with('%t ')
    end)
    same(names(), { '%r', '%s', '%t' }, 'the calls in the order of the text')
    -- A tuple is truncated between fields, and `K` shows all of it.
    local row = line_with('%t ')
    assert(row:find('(Tensor[(4, 16), float32], … 11 more)', 1, true), row)
    vim.fn.search('%t ')
    vim.api.nvim_feedkeys('K', 'xt', false)
    local float = until_('the whole type', function()
      for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= '' then
          return window
        end
      end
    end)
    same(#vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false), 13, 'lines of the whole type')
    vim.api.nvim_win_close(float, true)

    vim.api.nvim_feedkeys('s', 'xt', false)
    same(names(), { '%s', '%r', '%t' }, 'the calls by MACs')
    vim.api.nvim_feedkeys('cc', 'xt', false)
    assert(line_with('operator'):find('operator +bytes +output'), line_with('operator'))
    same(names(), { '%t', '%s', '%r' }, 'the calls by bytes')
    assert(vim.wo.winbar:find('bytes, most expensive first', 1, true), vim.wo.winbar)
    same(vim.wo.wrap, false, "'wrap' of the report")
    -- <CR> finds a call in any sort order.
    vim.fn.search('%s ')
    vim.cmd.normal(vim.keycode('<CR>'))
    same({ vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0)[1] }, { text, 3 }, 'the place after <CR>')
    vim.api.nvim_win_close((report()), true)
    vim.cmd.bwipeout({ bang = true })
    vim.api.nvim_set_current_win(source)
    say('costs', row)
  end

  --- A module with this many calls, as many as in the largest known network.
  local CALLS = 14506

  --- The CPU time of Neovim and its servers so far, in milliseconds. Unlike wall-clock time,
  --- it does not depend on the load of the machine.
  local function busy()
    local sum = os.clock() * 1000
    for _, child in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
      local file = io.open(('/proc/%d/stat'):format(child))
      if file then
        -- After the name of the program: `utime` and `stime` are the 12th and the 13th field.
        local fields = vim.split(file:read('*a'):match('%) (.*)'), ' ')
        file:close()
        sum = sum + (tonumber(fields[12]) + tonumber(fields[13])) * 10
      end
    end
    return sum
  end

  --- Opens the report of a module with a number of calls. Returns the work and the waiting time, in milliseconds.
  local function report_of(calls)
    local source = vim.api.nvim_get_current_win()
    vim.cmd.new()
    vim.api.nvim_buf_set_name(0, vim.fn.tempname() .. '.relay')
    local chain = { 'def @main(%x: Tensor[(1, 128), float32], %a: Tensor[(1, 128), float32]) {', '  %0 = add(%x, %a);' }
    for at = 1, calls - 1 do
      table.insert(chain, ('  %%%d = add(%%%d, %%a);'):format(at, at - 1))
    end
    vim.list_extend(chain, { '  %' .. (calls - 1), '}' })
    vim.api.nvim_buf_set_lines(0, 0, -1, false, chain)
    vim.bo.filetype = 'relay'
    local buffer = vim.api.nvim_get_current_buf()
    local client = until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    -- The file has been analysed, as when a user has looked at it.
    local request = require('relay-analyzer.request')
    local analysed = false
    local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
    request.send(client, buffer, 'textDocument/codeLens', params, function()
      analysed = true
    end)
    until_('the analysis', function()
      return analysed
    end)
    local before, start = busy(), vim.uv.hrtime()
    vim.cmd('RelayShapes')
    until_('the report', function()
      return #lines() > calls
    end)
    vim.cmd.redraw()
    local milliseconds, waited = busy() - before, (vim.uv.hrtime() - start) / 1e6
    vim.api.nvim_feedkeys('q', 'xt', false)
    vim.cmd.bwipeout({ bang = true })
    vim.api.nvim_set_current_win(source)
    return milliseconds, waited
  end

  --- The work of formatting and showing as many lines as a report, without the server, in milliseconds: what this
  --- machine needs for it at least.
  local function lines_of(calls)
    local buffer = vim.api.nvim_create_buf(false, true)
    local start = os.clock()
    local out = {}
    for at = 1, calls do
      local cells = {}
      for cell = 1, 9 do
        cells[cell] = ('%-24s'):format('Tensor[(1, ' .. at + cell .. '), float32]')
      end
      out[at] = table.concat(cells, '  '):gsub('%s+$', '')
    end
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, out)
    local milliseconds = (os.clock() - start) * 1000
    vim.api.nvim_buf_delete(buffer, { force = true })
    return milliseconds
  end

  --- The work is linear in the calls: one that is quadratic takes 16 times the work of a quarter of the calls. It is
  --- also a multiple of that of the lines alone, which depends on the machine in the same way. The times are compared
  --- if `RELAY_FIGURES` is set.
  function steps.opens_large_reports()
    local alone = lines_of(CALLS)
    local quarter = report_of(math.floor(CALLS / 4))
    local whole, waited = report_of(CALLS)
    assert(not vim.env.RELAY_FIGURES or whole < 8 * quarter, ('%d calls take %d ms, a quarter of them %d ms'):format(CALLS, whole, quarter))
    say('large report', CALLS, 'calls,', math.floor(whole), 'ms of work,', math.floor(waited), 'ms;')
    say('a quarter', math.floor(quarter), 'ms, the lines alone', math.floor(alone), 'ms')
  end

  function steps.writes_a_page()
    local opened
    local open = vim.ui.open
    vim.ui.open = function(path)
      opened = path
    end
    vim.cmd('RelayShapes html')
    vim.ui.open = open
    local text = table.concat(vim.fn.readfile(assert(opened, 'a page')), '\n')
    assert(text:find('<!doctype html>', 1, true) and text:find('@attention', 1, true), text:sub(1, 200))
    say('page', #text, 'bytes')
  end

  function steps.says_why()
    local window = vim.api.nvim_get_current_win()
    go('let %keys', '%keys')
    vim.cmd('RelayWhy')
    local list = until_('the location list', function()
      local list = vim.fn.getloclist(window, { items = 0, title = 0 })
      return #list.items > 0 and list
    end)
    same(list.title, 'Why this call of `transpose`: Tensor[(12, 64, 128), float32]', 'the title')
    same(list.items[1].text, 'axis 0 is 12: `newshape` sets axis 1 to 12', 'the first step')
    same({ list.items[1].lnum, list.items[1].col }, { 10, 46 }, 'the place of the first step')
    same(vim.bo.buftype, 'quickfix', 'the window of the cursor')
    vim.api.nvim_feedkeys('q', 'xt', false)
    same({ vim.api.nvim_get_current_win(), vim.fn.reg_recording() }, { window, '' }, 'the window after `q`')
    vim.cmd('lfirst')
    same(vim.api.nvim_win_get_cursor(0), { 10, 45 }, 'the place after :lfirst')
    say('why', list.title, #list.items, 'steps')
  end

  return {
    steps.reports_shapes,
    steps.chooses_costs,
    steps.opens_large_reports,
    steps.writes_a_page,
    steps.says_why,
  }
end
