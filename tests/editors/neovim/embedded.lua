-- Relay in the strings of Python and in the fences of Markdown.
return function(tools)
  local say, same, until_ = tools.say, tools.same, tools.until_
  local relay = require('relay-analyzer')

  local PYTHON = {
    'mod = relay.fromtext("""',
    '#[version = "0.0.5"]',
    'def @main(%x: Tensor[(2, 3), float32]) {',
    '  add(%x, %nowhere)',
    '}',
    '""")',
    'x = 1',
  }

  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, 'p')

  local function edit(name, lines)
    vim.fn.writefile(lines, folder .. '/' .. name)
    vim.cmd.edit(folder .. '/' .. name)
    return vim.api.nvim_get_current_buf()
  end

  local function attached(buffer)
    return #vim.lsp.get_clients({ bufnr = buffer, name = relay.name })
  end

  local function codes(buffer)
    return vim.tbl_map(function(d)
      local text = vim.api.nvim_buf_get_text(buffer, d.lnum, d.col, d.end_lnum, d.end_col, {})
      return ('%s at %s'):format(d.code, text[1])
    end, vim.diagnostic.get(buffer))
  end

  local function ask(buffer, method, line, column)
    local params = {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
      position = { line = line, character = column },
    }
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000)
    for id, answer in pairs(answers or {}) do
      if vim.lsp.get_client_by_id(id).name == relay.name then
        return answer.result
      end
    end
  end

  local function in_python()
    local buffer = edit('model.py', PYTHON)
    until_('a client for Python', function()
      return attached(buffer) == 1
    end)
    until_('the error in Python', function()
      return vim.deep_equal(codes(buffer), { 'unknown-variable at %nowhere' })
    end)
    local hover = ask(buffer, 'textDocument/hover', 3, 7)
    same(hover.contents.value:find('%x: Tensor[(2, 3), float32]', 1, true) ~= nil, true, 'the hover')
    local items = ask(buffer, 'textDocument/completion', 3, 4).items
    local has_add = vim.iter(items):any(function(item)
      return item.label == 'add'
    end)
    same(has_add, true, 'a completion')
    for _, method in ipairs({ 'textDocument/hover', 'textDocument/completion' }) do
      local nothing = ask(buffer, method, 6, 1)
      same(nothing == nil or nothing == vim.NIL, true, method .. ' outside')
    end
    same(vim.bo[buffer].formatexpr ~= 'v:lua.vim.lsp.formatexpr()', true, 'gq stays as it was')
    -- Without the error.
    vim.api.nvim_buf_set_text(buffer, 3, 10, 3, 18, { '%x' })
    until_('no error in Python', function()
      return #codes(buffer) == 0
    end)
    vim.api.nvim_buf_delete(buffer, { force = true })
    say('Relay in Python')
  end

  local function not_in_other_python()
    local buffer = edit('other.py', { 'x = 1' })
    local with = edit('with.py', PYTHON)
    until_('a client of the file that was opened after it', function()
      return attached(with) == 1
    end)
    same(attached(buffer), 0, 'clients of Python without Relay')
    vim.cmd.edit(folder .. '/other.py')
    vim.api.nvim_buf_delete(with, { force = true })
    -- Until some is written.
    vim.api.nvim_buf_set_lines(buffer, 1, 1, false, PYTHON)
    vim.cmd('silent write')
    until_('a client after a write', function()
      return attached(buffer) == 1
    end)
    vim.api.nvim_buf_delete(buffer, { force = true })
  end

  local function in_markdown()
    local page = { '# Page', '', '- item', '', '  ```relay', '  #[version = "0.0.5"]', '  def @f() { @g() }', '  ```' }
    local buffer = edit('page.md', page)
    until_('the error in Markdown', function()
      return vim.deep_equal(codes(buffer), { 'unknown-global at @g' })
    end)
    vim.api.nvim_buf_delete(buffer, { force = true })
    vim.fn.delete(folder, 'rf')
    say('Relay in Markdown')
  end

  return { in_python, not_in_other_python, in_markdown }
end
