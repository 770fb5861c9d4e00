-- Steps of `drive.lua`: the view of the type at the cursor, and the lens of references.
--
-- `tools` provides its `same`, `until_`, `go`, `change` and `say`.
return function(tools)
  local same, until_, go, change, say = tools.same, tools.until_, tools.go, tools.change, tools.say
  local steps = {}

  local function view()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].filetype == 'relay-type' then
        return window, buffer
      end
    end
  end

  local function shown()
    local _, buffer = view()
    return buffer and vim.api.nvim_buf_get_lines(buffer, 0, -1, false) or {}
  end

  local function shows(first)
    return until_('the view of ' .. first, function()
      return (shown()[1] or ''):find(first, 1, true) and shown()
    end)
  end

  --- Moves the cursor and triggers its autocommands.
  local function move(line, text)
    local number, column = go(line, text)
    vim.cmd('doautocmd CursorMoved')
    return number, column
  end

  function steps.follows_the_cursor()
    local source = vim.api.nvim_get_current_win()
    go('let %keys', '%keys')
    vim.cmd('RelayType')
    same(vim.api.nvim_get_current_win(), source, 'the window of the cursor')
    local lines = shows('%keys (`let` variable)')
    same(lines[2], '  Tensor[(12, 64, 128), float32]', 'the type')
    same(lines[4], 'Dimensions, 98,304 elements, 384.0 KiB', 'the title')
    same(lines[5], '  0    12   ← `newshape` sets axis 1 to 12', 'the first axis')
    assert(table.concat(lines, '\n'):find('\n\nContext\n  %k  : Tensor[(128, 768), float32]', 1, true), vim.inspect(lines))

    -- It follows the cursor and the text, and stays between names.
    move('let %flat', '%flat')
    shows('%flat (`let` variable)')
    local answered = tools.next_answer('relay/typeAt')
    move('let %flat', ' let')
    answered()
    shows('%flat (`let` variable)')
    move('let %scores', '%keys')
    lines = shows('%keys (`let` variable)')
    assert(table.concat(lines, '\n'):find('Expected by `tensor_b` of `nn.batch_matmul`', 1, true), vim.inspect(lines))
    move('let %flat', '%flat')
    shows('%flat')
    change('let %flat', 'newshape=[128, 768]', 'newshape=[64, 1536]')
    vim.cmd('doautocmd TextChanged')
    until_('the new type', function()
      return (shown()[2] or ''):find('(64, 1536)', 1, true)
    end)
    vim.cmd('silent undo')
    vim.cmd('doautocmd TextChanged')
    until_('the old type', function()
      return (shown()[2] or ''):find('(128, 768)', 1, true)
    end)

    -- <CR> jumps to the subject of a line.
    local number = move('let %keys', '%keys')
    shows('%keys')
    vim.api.nvim_set_current_win((view()))
    vim.fn.search('newshape')
    vim.cmd.normal(vim.keycode('<CR>'))
    same(vim.api.nvim_get_current_win(), source, 'the window after <CR>')
    same(vim.api.nvim_win_get_cursor(0), { number, 45 }, 'the place after <CR>')
    say('type', table.concat(shown(), ' | '))

    -- `q` closes, and so does the command.
    vim.api.nvim_set_current_win((view()))
    vim.cmd.normal('q')
    same(view(), nil, 'the view after `q`')
    vim.api.nvim_set_current_win(source)
    move('let %flat', '%flat')
    vim.cmd('RelayType')
    shows('%flat')
    vim.cmd('RelayType')
    same(view(), nil, 'the view after the command')
    vim.cmd('topleft RelayType')
    shows('%flat')
    vim.cmd(vim.api.nvim_win_get_number((view())) .. 'close')
    until_('an end', function()
      return vim.fn.bufnr('^relay://type$') < 0
    end)
    vim.cmd('RelayType')
    shows('%flat')
    vim.cmd('RelayType')
  end

  function steps.lists_references()
    local source = vim.api.nvim_get_current_win()
    vim.cmd.new()
    vim.api.nvim_buf_set_name(0, vim.fn.tempname() .. '.relay')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, {
      'def @half(%n: int32) -> int32 { %n / 2 }',
      'def @main(%n: int32) -> int32 { add(@half(%n), @half(3)) }',
    })
    vim.bo.filetype = 'relay'
    local buffer = vim.api.nvim_get_current_buf()
    until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    local function lens()
      for _, found in ipairs(vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = 0 } or 0)) do
        found = found.lens or found
        if found.command and found.command.title == '2 references' then
          return found
        end
      end
    end
    same(until_('a lens', lens).command.command, 'relay.showReferences', 'the command of the lens')
    go('def @half', '@half')
    local select = vim.ui.select
    vim.ui.select = function(items, _, choose)
      for index, item in ipairs(items) do
        if (item.lens or item).command.title == '2 references' then
          choose(item, index)
        end
      end
    end
    vim.lsp.codelens.run()
    local list = until_('the quickfix list', function()
      local list = vim.fn.getqflist({ items = 0, title = 0 })
      return #list.items > 0 and list
    end)
    vim.ui.select = select
    same(list.title, 'References', 'the title')
    local places = vim.tbl_map(function(item)
      return { item.bufnr == buffer, item.lnum, item.col }
    end, list.items)
    same(places, { { true, 2, 37 }, { true, 2, 48 } }, 'the places')
    same(vim.bo.buftype, 'quickfix', 'the list is open')
    vim.cmd.cclose()
    vim.api.nvim_buf_delete(buffer, { force = true })
    vim.api.nvim_set_current_win(source)
    say('references', #list.items)
  end

  function steps.reads()
    local source = vim.api.nvim_get_current_win()
    vim.cmd.new()
    vim.api.nvim_buf_set_name(0, vim.fn.tempname() .. '.relay')
    local lines = {
      '#[version = "0.0.5"]',
      'def @main(%x: Tensor[(2, 8), float32] /* ty=Tensor[(2, 8), float32] */, %w: Tensor[(4, 8), float32]) {',
      '  %0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] */;',
      '  %1 = nn.relu(%0) /* ty=Tensor[(2, 4), float32] */;',
      '  %2 = nn.softmax(%1) /* ty=Tensor[(2, 4), float32] */;',
      '  add(%2, %2) /* ty=Tensor[(2, 4), float32] */',
      '}',
    }
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.bo.filetype = 'relay'
    local buffer = vim.api.nvim_get_current_buf()
    until_('a client', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    local namespace = vim.api.nvim_create_namespace('relay-analyzer.reading')
    local function marked(key)
      local found = {}
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
        if mark[4][key] then
          found[#found + 1] = vim.api.nvim_buf_get_text(buffer, mark[2], mark[3], mark[4].end_row, mark[4].end_col, {})[1]
        end
      end
      return found
    end
    local before = { vim.wo.conceallevel, vim.wo.foldmethod, vim.wo.wrap }
    vim.cmd('RelayReading')
    until_('what is hidden', function()
      return #marked('conceal') == 5
    end)
    same(marked('conceal')[2], ' /* ty=Tensor[(2, 4), float32] */', 'what is hidden')
    same(marked('hl_group'), { '%w: Tensor[(4, 8), float32]', '%w' }, 'what is dim')
    same({ vim.fn.foldclosed(3), vim.fn.foldclosedend(4), vim.fn.foldclosed(5) }, { 3, 4, -1 }, 'what is folded')
    same({ vim.wo.conceallevel, vim.wo.foldmethod, vim.wo.wrap }, { 2, 'manual', false }, 'the options')
    -- Hidden types are abbreviated at the right, and a fold summarizes its content.
    local shapes = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      if mark[4].virt_text then
        same(mark[4].virt_text_pos, 'right_align', 'the place of a shape')
        shapes[mark[2] + 1] = mark[4].virt_text[1][1]
      end
    end
    same(shapes, { [3] = '2×4 f32', [4] = '2×4 f32', [5] = '2×4 f32', [6] = '2×4 f32' }, 'shapes')
    same(vim.fn.foldtextresult(3), '  %0 = nn.dense(%x, %w, units=4);  … relu ⇒ %1: 2×4 f32', 'a fold')
    -- Later windows have their own.
    vim.cmd.new()
    same({ vim.wo.conceallevel, vim.wo.wrap }, { before[1], before[3] }, 'the options of a new window')
    vim.cmd.bwipeout()
    change('add(%2', ' /* ty=Tensor[(2, 4), float32] */', '')
    vim.cmd('doautocmd TextChanged')
    until_('one less', function()
      return #marked('conceal') == 4
    end)
    vim.cmd('silent undo')
    vim.cmd('RelayReading')
    same(marked('conceal'), {}, 'what is hidden afterwards')
    same(vim.fn.foldclosed(3), -1, 'what is folded afterwards')
    same({ vim.wo.conceallevel, vim.wo.foldmethod, vim.wo.wrap }, before, 'the options afterwards')
    same(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), lines, 'the text')
    vim.api.nvim_buf_delete(buffer, { force = true })
    vim.api.nvim_set_current_win(source)
    say('reading view')
  end

  return { steps.follows_the_cursor, steps.lists_references, steps.reads }
end
