-- The tree-sitter grammar in Neovim: installed as documented, it loads, highlights, folds and
-- selects.
--
--   nvim --headless --clean --cmd 'set rtp^=editors/neovim' -c 'luafile tests/editors/neovim/grammar.lua'
--
-- RELAY_TEST_FILE: tests/examples/lists.relay

local file = assert(vim.env.RELAY_TEST_FILE, 'RELAY_TEST_FILE')

local function same(found, wanted, what)
  if not vim.deep_equal(found, wanted) then
    error(('%s: wanted %s, found %s'):format(what, vim.inspect(wanted), vim.inspect(found)), 2)
  end
end

local function is_coloured()
  return vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil
end

--- The captures at the first occurrence of a text, without those of other languages.
local function captures(text)
  for line, words in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = words:find(text, 1, true)
    if column then
      return vim.tbl_map(function(capture)
        return capture.capture
      end, vim.treesitter.get_captures_at_pos(0, line - 1, column - 1))
    end
  end
  error('there is no ' .. text)
end

local function check()
  -- No server is needed.
  vim.notify = function() end

  vim.cmd.edit(vim.fn.fnameescape(file))
  same(vim.bo.filetype, 'relay', 'the file type')
  same(is_coloured(), false, 'colours without a grammar')

  vim.cmd.RelayInstallGrammar()
  same(is_coloured(), true, 'colours after the installation')
  vim.treesitter.get_parser(0, 'relay'):parse()
  same(vim.treesitter.get_parser(0, 'relay'):trees()[1]:root():has_error(), false, 'errors')

  same(captures('def'), { 'keyword.function' }, 'def')
  same(captures('@sum'), { 'function' }, '@sum')
  same(captures('%rows'), { 'variable.parameter' }, '%rows')
  same(captures('float32'), { 'type.builtin' }, 'float32')
  same(captures('Rows'), { 'type' }, 'Rows')
  same(captures('Empty'), { 'constructor' }, 'Empty')
  same(captures('zeros'), { 'function.builtin' }, 'zeros')
  same(captures('dtype'), { 'property' }, 'dtype')
  same(vim.tbl_contains(captures('// Data'), 'comment'), true, 'a comment')
  io.stdout:write('coloured\n')

  for _, name in ipairs({ 'highlights', 'locals', 'folds', 'indents', 'textobjects', 'injections', 'tags' }) do
    same(vim.treesitter.query.get('relay', name) ~= nil, true, name)
  end

  vim.cmd.setlocal('foldmethod=expr', 'foldexpr=v:lua.vim.treesitter.foldexpr()')
  local folded = vim.wait(60000, function()
    vim.cmd.normal({ 'zx', bang = true })
    return vim.fn.foldlevel(4) > 0
  end, 20)
  same(folded, true, 'a fold')

  -- Edits are parsed at once.
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'def @typed() { add(1, ; 2 }', 'def @after() { 3 }' })
  local parser = vim.treesitter.get_parser(0, 'relay')
  parser:parse()
  same(parser:trees()[1]:root():has_error(), true, 'errors of what is typed')
  same(captures('@after'), { 'function' }, 'the definition after an error')

  -- Automatically in a file that is opened later.
  vim.cmd.enew({ bang = true })
  vim.cmd.setfiletype('relay')
  same(is_coloured(), true, 'colours of another file')
  -- Not with a line as long as a whole network.
  vim.cmd.enew({ bang = true })
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('// '):rep(20000) })
  vim.cmd.setfiletype('relay')
  same(is_coloured(), false, 'colours of a long line')
  -- Nor if it is disabled.
  vim.g.relay_treesitter = 0
  vim.cmd.enew({ bang = true })
  vim.cmd.setfiletype('relay')
  same(is_coloured(), false, 'colours that are not wanted')
  vim.g.relay_treesitter = nil

  -- In the strings of Python, and in the fences of Markdown.
  local function trees_in(language, lines)
    vim.cmd.enew({ bang = true })
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.cmd.setfiletype(language)
    vim.treesitter.start(0, language)
    local parser = vim.treesitter.get_parser(0, language)
    parser:parse(true)
    local child = parser:children().relay
    return child and vim.tbl_count(child:trees()) or 0
  end
  same(trees_in('markdown', { '# Page', '```relay', 'def @fenced() { 1 }', '```' }), 1, 'trees in Markdown')
  same(vim.tbl_contains(captures('@fenced'), 'function'), true, 'a name in Markdown')
  local python = vim.env.RELAY_TEST_PYTHON_PARSER
  if python then
    vim.treesitter.language.add('python', { path = python })
    local lines = {
      'mod = relay.fromtext("""',
      'def @quoted(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }',
      '""")',
      "e = tvm.relay.parse('let %a = 1; %a')",
      'M = """#[version = "0.0.5"]',
      'def @other() { 1 }"""',
      'f = relay.fromtext(SEMVER + "def @third() { 1 }")',
      's = "%nothing"',
    }
    same(trees_in('python', lines), 4, 'trees in Python')
    for text, wanted in pairs({ ['@quoted'] = 'function', ['let'] = 'keyword', ['@other'] = 'function', ['@third'] = 'function' }) do
      same(vim.tbl_contains(captures(text), wanted), true, text)
    end
    same(captures('%nothing'), {}, 'another string')
  end
  io.stdout:write('OK\n')
end

local fine, problem = xpcall(check, debug.traceback)
if not fine then
  io.stdout:write('FAILED ', problem, '\n', vim.fn.execute('messages'), '\n')
  vim.cmd.cquit()
end
vim.cmd('qall!')
