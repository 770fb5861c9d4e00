-- Steps of `drive.lua`: explanations, the status line, and highlighting.
--
-- `tools` provides its `same`, `until_`, `go`, `change` and `say`.
return function(tools)
  local same, until_, go, change, say = tools.same, tools.until_, tools.go, tools.change, tools.say
  local steps = {}

  function steps.explains_diagnostics()
    local source = vim.api.nvim_get_current_win()
    until_('the error', function()
      return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 1
    end)
    go('let %scores', 'nn.batch_matmul')
    vim.cmd('RelayExplain')
    same(vim.bo.filetype, 'relay-explain', 'the window of the cursor')
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    same(lines[1], 'shape-mismatch (error): Sizes that must be equal differ', 'the title')
    vim.api.nvim_feedkeys('q', 'xt', false)
    same({ vim.api.nvim_get_current_win(), vim.fn.reg_recording() }, { source, '' }, 'the window after `q`')

    vim.cmd('RelayExplain unused-binding')
    local title = vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]
    assert(vim.startswith(title, 'unused-binding (warning)'), title)
    -- Another one reuses the window.
    local window = vim.api.nvim_get_current_win()
    vim.cmd('RelayExplain rank-mismatch')
    same(vim.api.nvim_get_current_win(), window, 'the window of another explanation')
    vim.api.nvim_feedkeys('q', 'xt', false)
    same(vim.fn.getcompletion('RelayExplain shape-', 'cmdline'), { 'shape-mismatch' }, 'names of codes')

    -- Unknown codes are reported and open nothing.
    vim.api.nvim_set_current_win(source)
    go('let %flat', '%flat')
    vim.cmd('RelayExplain')
    vim.cmd('RelayExplain nothing')
    local said = vim.fn.execute('messages')
    assert(said:find('there is no diagnostic on this line', 1, true), said)
    assert(said:find('there is no code `nothing`', 1, true), said)
    same(vim.api.nvim_get_current_win(), source, 'the window without an explanation')
    say('explains', lines[1])
  end

  function steps.leads_to_pages()
    local diagnostic = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1]
    local description = vim.tbl_get(diagnostic, 'user_data', 'lsp', 'codeDescription')
    local href = assert(description and description.href, vim.inspect(diagnostic.user_data))
    go('let %scores', '%keys')
    vim.cmd('RelayExplain')
    same(vim.api.nvim_buf_get_lines(0, -2, -1, false)[1], href, 'the address')
    -- `gx` opens the address under the cursor.
    local open, opened = vim.ui.open, nil
    vim.ui.open = function(address)
      opened = address
    end
    vim.cmd.normal({ 'G', bang = true })
    vim.cmd.normal('gx')
    vim.ui.open = open
    same(opened, href, 'the address that is opened')
    vim.api.nvim_feedkeys('q', 'xt', false)
    say('page', href)
  end

  function steps.says_how_a_file_is()
    local relay = require('relay-analyzer')
    same(relay.statusline(), 'relay: 1 error', 'the status of an error')
    change('let %keys', 'axes=[1, 2, 0]', 'axes=[1, 0, 2]')
    until_('no error', function()
      return relay.statusline() == 'relay: OK'
    end)
    vim.cmd('silent undo')
    until_('the error', function()
      return relay.statusline() == 'relay: 1 error'
    end)
    vim.cmd.new()
    same(relay.statusline(), '', 'the status of another file')
    -- As in an option, separately for each window.
    local text = vim.api.nvim_eval_statusline([[%{v:lua.require'relay-analyzer'.statusline()}]], {
      winid = vim.fn.win_getid(vim.fn.winnr('#')),
    }).str
    same(text, 'relay: 1 error', 'the status in an option')
    vim.cmd.bwipeout()
    say('status line')
  end

  --- The highlight group under the cursor: that of the semantic token, or else of the syntax; nil if
  --- there is neither yet.
  local function colour(is_token)
    local found = vim.inspect_pos()
    local group
    for _, token in ipairs(is_token and found.semantic_tokens or {}) do
      group = vim.startswith(token.opts.hl_group, '@lsp.type.') and token.opts.hl_group or group
    end
    if not is_token and #found.syntax > 0 then
      group = found.syntax[#found.syntax].hl_group
    end
    return group and (vim.api.nvim_get_hl(0, { name = group, link = false }).fg or 'plain')
  end

  function steps.tells_words_apart()
    for _, background in ipairs({ 'light', 'dark' }) do
      vim.o.background = background
      vim.cmd.colorscheme('default')
      local normal = vim.api.nvim_get_hl(0, { name = 'Normal' }).fg
      local seen = {}
      for kind, place in pairs({
        operator = { 'let %q =', 'nn.dense' },
        number = { 'let %q =', '768' },
        variable = { 'let %q =', '%flat' },
        type = { 'def @attention', 'Tensor' },
      }) do
        go(unpack(place))
        local found = until_('a colour for ' .. kind, function()
          return colour(kind == 'operator' or kind == 'variable')
        end)
        assert(found ~= 'plain' and found ~= normal, ('%s is plain on a %s background'):format(kind, background))
        assert(not seen[found], ('%s looks as %s on a %s background'):format(kind, seen[found], background))
        seen[found] = kind
      end
    end
    -- Colours of a colour scheme are kept.
    vim.cmd.colorscheme('habamax')
    same(vim.api.nvim_get_hl(0, { name = 'relayNumber' }), { link = 'Number' }, 'numbers of another scheme')
    vim.cmd.colorscheme('default')
    assert(vim.api.nvim_get_hl(0, { name = 'relayNumber' }).fg, 'numbers of the default scheme')
    say('colours')
  end

  return { steps.explains_diagnostics, steps.leads_to_pages, steps.says_how_a_file_is, steps.tells_words_apart }
end
