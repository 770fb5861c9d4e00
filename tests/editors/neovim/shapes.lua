-- What `drive.lua` does with the shape report and with the chain behind a shape.
--
-- `tools` has its `same`, `until_`, `go`, `change` and `say`.
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

  --- The text of the line that is marked as the one under the cursor.
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
    until_('the report', function()
      return line_with('%queries')
    end)
    same(vim.api.nvim_get_current_win(), source, 'the window of the cursor')
    assert(lines()[1]:find('^@attention %(line 4%)'), lines()[1])
    local row = line_with('%flat')
    assert(row:find('reshape +Tensor%[%(128, 768%), float32%]'), row)
    row = line_with('%q ')
    assert(row:find('589,824 +75,497,472 +384%.0 KiB'), row)
    assert(line_with('by operator'), 'sums by operator')
    say('report', row)

    -- A name that is none changes nothing.
    pcall(vim.cmd, 'RelayShapes nowhere')
    until_('a message', function()
      return vim.fn.execute('messages'):find('there is no function `@nowhere`', 1, true)
    end)
    assert(line_with('%queries'), 'the report before')

    -- The report follows the cursor, and the cursor the report.
    assert(marked():find('%queries', 1, true), marked())
    go('let %flat', '%flat')
    vim.cmd('doautocmd CursorMoved')
    assert(marked():find('%flat', 1, true), marked())
    local window = report()
    vim.api.nvim_set_current_win(window)
    vim.fn.search('%queries')
    vim.cmd.normal(vim.keycode('<CR>'))
    same(vim.api.nvim_get_current_win(), source, 'the window behind <CR>')
    same(vim.api.nvim_win_get_cursor(0)[1], number, 'the line behind <CR>')

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
    vim.cmd.normal('q')
    same(report(), nil, 'the report after `q`')
    vim.api.nvim_set_current_win(source)
    same(vim.fn.getcompletion('RelayShapes at', 'cmdline'), { '@attention' }, 'names of functions')
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
    vim.api.nvim_set_current_win(window)
    vim.cmd('lfirst')
    same(vim.api.nvim_win_get_cursor(0), { 10, 45 }, 'the place behind :lfirst')
    vim.cmd('lclose')
    say('why', list.title, #list.items, 'steps')
  end

  return { steps.reports_shapes, steps.writes_a_page, steps.says_why }
end
