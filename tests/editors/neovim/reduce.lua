-- Steps of `drive.lua`: the smallest module with a diagnostic, by command and by code action, and cancellation.
--
-- `tools` provides its `same`, `until_`, `next_answer`, `go` and `say`.
return function(tools)
  local same, until_, next_answer, go, say = tools.same, tools.until_, tools.next_answer, tools.go, tools.say
  local steps = {}

  local function wait_for_the_error()
    until_('the error', function()
      return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 1
    end)
  end

  --- Opens a module that takes much longer to reduce than a request to cancel.
  local function open_long_module()
    local lines = { 'def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 5), float32]) {', '  %0 = tanh(%x);' }
    for number = 1, 2999 do
      table.insert(lines, ('  %%%d = add(%%%d, %%%d);'):format(number, number - 1, math.floor(number / 2)))
    end
    vim.list_extend(lines, { '  nn.dense(%2999, %w, units=4)', '}' })
    local path = vim.fn.tempname() .. '.relay'
    vim.fn.writefile(lines, path)
    vim.cmd.new(path)
    wait_for_the_error()
    go('nn.dense', 'nn.dense')
  end

  --- Waits for the window of a reduced module, closes it, and returns the text.
  local function reduced(source)
    local text = until_('a reduced module', function()
      local all = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
      return vim.api.nvim_get_current_win() ~= source and all:find('// Reduced by', 1, true) and all
    end)
    same({ vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable }, { 'relay', 'nofile', true }, 'the buffer')
    wait_for_the_error()
    vim.cmd.bwipeout({ bang = true })
    same(vim.api.nvim_get_current_win(), source, 'the window of the module')
    return text
  end

  function steps.reduces_to_the_diagnostic_at_the_cursor()
    local source = vim.api.nvim_get_current_win()
    wait_for_the_error()
    go('let %scores', 'nn.batch_matmul')
    vim.cmd('RelayReduce')
    local text = reduced(source)
    assert(text:find('nn.batch_matmul', 1, true) and not text:find('nn.softmax', 1, true), text)
    local said = vim.fn.execute('messages')
    assert(said:find('relay%-analyzer: reduced from %d+ to %d+ bindings'), said)
    -- The code action does the same.
    go('let %scores', '%keys')
    vim.lsp.buf.code_action({
      apply = true,
      filter = function(action)
        return action.title == 'Reduce to This Diagnostic'
      end,
    })
    same(reduced(source), text, 'the module of the code action')
    say('reduces', (vim.split(text, '\n')[2]))
  end

  function steps.cancels_a_reduction()
    local source = vim.api.nvim_get_current_win()
    open_long_module()
    local buffers = #vim.api.nvim_list_bufs()
    -- More often than modules may be reduced at once.
    for _ = 1, 4 do
      local answered = next_answer('workspace/executeCommand')
      vim.cmd('RelayReduce')
      vim.cmd('RelayReduce!')
      answered()
    end
    local said = vim.fn.execute('messages')
    assert(said:find('relay-analyzer: the reduction was cancelled', 1, true), said)
    same(#vim.api.nvim_list_bufs(), buffers, 'buffers after a reduction that was cancelled')
    vim.cmd('RelayReduce!')
    said = vim.fn.execute('messages')
    assert(said:find('relay-analyzer: nothing is being reduced', 1, true), said)
    vim.cmd.bwipeout({ bang = true })
    same(vim.api.nvim_get_current_win(), source, 'the window of the module')
    go('let %scores', '%keys')
    vim.cmd('RelayReduce')
    reduced(source)
    -- There is nothing to reduce to.
    local answered = next_answer('workspace/executeCommand')
    go('let %flat', '%flat')
    vim.cmd('RelayReduce')
    answered()
    said = vim.fn.execute('messages')
    assert(said:find('there is no diagnostic here', 1, true), said)
    same(vim.api.nvim_get_current_win(), source, 'the window without a diagnostic')
    say('cancels reductions')
  end

  return { steps.reduces_to_the_diagnostic_at_the_cursor, steps.cancels_a_reduction }
end
