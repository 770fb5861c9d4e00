-- Editing a Relay file in Neovim like a user. The plugin is on the runtimepath, as a package
-- manager would add it.
--
--   nvim --headless --clean --cmd 'set rtp^=editors/neovim' -c 'luafile tests/editors/neovim/drive.lua'
--
-- RELAY_TEST_SERVER: the server
-- RELAY_TEST_FILE:   tests/examples/broken-attention.relay, or a copy of it
-- RELAY_TEST_MODELS: a folder of large modules, or nothing

local server = assert(vim.env.RELAY_TEST_SERVER, 'RELAY_TEST_SERVER')
local file = assert(vim.env.RELAY_TEST_FILE, 'RELAY_TEST_FILE')
local models = vim.env.RELAY_TEST_MODELS
local PATIENCE = 60000

local function say(...)
  io.stdout:write(table.concat(vim.tbl_map(tostring, { ... }), ' '), '\n')
  io.stdout:flush()
end

local function same(found, wanted, what)
  if not vim.deep_equal(found, wanted) then
    error(('%s: wanted %s, found %s'):format(what, vim.inspect(wanted), vim.inspect(found)), 2)
  end
end

local function until_(what, holds)
  local value
  local done = vim.wait(PATIENCE, function()
    value = holds()
    return value
  end, 10)
  if not done then
    error('waited in vain: ' .. what .. '\ndiagnostics: ' .. vim.inspect(vim.tbl_map(function(d) return { d.lnum, d.code, d.source, d.namespace, d.message } end, vim.diagnostic.get(0))), 2)
  end
  return value
end

--- Moves the cursor to the start of `text` in the first line that contains `line`.
local function go(line, text)
  for number, found in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if found:find(line, 1, true) then
      local column = assert(found:find(text, 1, true), text)
      vim.api.nvim_win_set_cursor(0, { number, column - 1 })
      return number, column - 1
    end
  end
  error('no line has ' .. line, 2)
end

local function errors()
  return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
end

--- `code at text`, for each error.
local function shown_errors()
  return vim.tbl_map(function(d)
    local text = vim.api.nvim_buf_get_text(0, d.lnum, d.col, d.end_lnum, d.end_col, {})
    return ('%s at %s'):format(d.code, table.concat(text, '\n'))
  end, errors())
end

local function wait_for_errors(wanted)
  local wait = 'errors ' .. vim.inspect(wanted)
  local are, message = pcall(until_, wait, function()
    return vim.deep_equal(shown_errors(), wanted)
  end)
  if not are then
    error(message .. ', found ' .. vim.inspect(shown_errors()), 2)
  end
end

--- The text of the hover window.
local function hover()
  local function float()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        return window
      end
    end
  end
  same(float(), nil, 'windows before the hover')
  vim.lsp.buf.hover()
  local window = until_('a hover window', float)
  local buffer = vim.api.nvim_win_get_buf(window)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  vim.api.nvim_win_close(window, true)
  return text
end

local function hover_has(line, text, wanted)
  go(line, text)
  local found = hover()
  if not found:find(wanted, 1, true) then
    error(('hover on %s: wanted %s, found %s'):format(text, wanted, found), 2)
  end
  say('hover', text, '->', wanted)
end

local function change(line, from, to)
  -- Closes the undo block.
  vim.cmd('let &undolevels = &undolevels')
  local number, column = go(line, from)
  vim.api.nvim_buf_set_text(0, number - 1, column, number - 1, column + #from, { to })
end

--- Returns a function that waits until a request of this method that was sent since is answered.
local function next_answer(method)
  local answered = false
  local command = vim.api.nvim_create_autocmd('LspRequest', {
    callback = function(event)
      local request = event.data.request
      if request.method == method and request.type == 'complete' then
        -- The handler of the answer is scheduled after this event.
        vim.schedule(function()
          vim.schedule(function()
            answered = true
          end)
        end)
      end
    end,
  })
  return function()
    until_('an answer to ' .. method, function()
      return answered
    end)
    vim.api.nvim_del_autocmd(command)
  end
end

local function client()
  return until_('a client', function()
    return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
  end)
end

local steps = {}

function steps.opens()
  require('relay-analyzer').setup({ cmd = { server, 'lsp' } })
  vim.cmd.edit(file)
  same(vim.bo.filetype, 'relay', 'the file type')
  local attached = client()
  -- With UTF-16, Neovim 0.10 takes seconds to highlight a header of TVM.
  same(attached.offset_encoding, 'utf-8', 'the encoding')
  same(attached.server_info and attached.server_info.name or 'relay-analyzer', 'relay-analyzer', 'the server')
end

function steps.finds_the_broken_shape()
  wait_for_errors({ 'shape-mismatch at %keys' })
  local found = errors()[1]
  same(found.lnum, 11, 'the line of the error')
  assert(found.message:find('64', 1, true) and found.message:find('128', 1, true), found.message)
  say('diagnostic', found.lnum + 1 .. ':' .. found.col + 1, found.code, vim.split(found.message, '\n')[1])
end

function steps.hovers()
  hover_has('let %scores', '%queries', 'Tensor[(12, 128, 64), float32]')
  hover_has('let %flat', '%flat', 'Tensor[(128, 768), float32]')
  hover_has('let %q =', 'nn.dense', 'nn.dense')
end

function steps.jumps()
  local wanted = go('let %keys', '%keys')
  go('let %scores', '%keys')
  vim.lsp.buf.definition()
  until_('the definition of %keys', function()
    return vim.api.nvim_win_get_cursor(0)[1] == wanted
  end)
  go('let %weights', '%scores')
  -- Jumps like `CTRL-]`.
  vim.cmd.normal({ vim.keycode('<C-]>'), bang = true })
  same(vim.api.nvim_win_get_cursor(0), { (go('let %scores', '%scores')), 6 }, 'the place behind CTRL-]')
  say('jumps')
end

function steps.sees_changes()
  change('let %keys', 'axes=[1, 2, 0]', 'axes=[1, 0, 2]')
  wait_for_errors({})
  change('def @attention', '%wq: Tensor[(768, 768)', '%wq: Tensor[(768, 700)')
  wait_for_errors({ 'shape-mismatch at %wq' })
  vim.cmd('silent undo')
  wait_for_errors({})
  change('let %v =', '%wv', '%vw')
  wait_for_errors({ 'unknown-variable at %vw' })
  vim.cmd('silent undo')
  wait_for_errors({})
  hover_has('let %weights', '%weights', 'Tensor[(12, 128, 128), float32]')
  say('diagnostics follow the text')
end

function steps.takes_settings()
  local relay = require('relay-analyzer')
  -- TVM reads no text without its version.
  local function without_header()
    vim.api.nvim_buf_set_lines(0, 0, 1, false, {})
  end
  relay.setup({ cmd = { server, 'lsp' }, settings = { tvm = true } })
  vim.cmd('Relay restart')
  client()
  without_header()
  wait_for_errors({ 'tvm-version at ' })
  vim.cmd('silent undo 0')
  wait_for_errors({ 'shape-mismatch at %keys' })
  relay.setup({ cmd = { server, 'lsp' }, settings = {} })
  vim.cmd('Relay restart')
  client()
  without_header()
  wait_for_errors({ 'shape-mismatch at %keys' })
  vim.cmd('silent undo')
  say('settings reach the server')
end

function steps.knows_names()
  vim.cmd.new()
  vim.bo.buftype = 'nofile'
  vim.api.nvim_buf_set_lines(0, 0, -1, false, {
    'def @main(%input.1: T, %aten::linear_3.bias: T) {',
    '  %0 = nn.conv2d(%input.1, %aten::linear_3.bias);',
    '  %1 = add(%resnet/conv1, %aten::linear_3.bias1)',
    '  // %0 = multiply(%input.1, 1.5f16)',
    '  /* a /* nested */ %0 // comment */ %1',
    '}',
    '#[metadata]',
    '{ "root": 1 }',
  })
  vim.bo.filetype = 'relay'
  local function word(line, text)
    go(line, text)
    return vim.fn.expand('<cword>')
  end
  same(word('def', '@main'), '@main', 'a word')
  same(word('%0 =', '%input.1'), '%input.1', 'a word')
  same(word('%0 =', 'conv2d'), 'nn.conv2d', 'a word')
  same(word('%0 =', '%0'), '%0', 'a word')
  same(word('%1 =', 'conv1'), '%resnet/conv1', 'a word')
  -- Mappings jump to the next use of a name, skipping longer names.
  go('def', 'linear_3')
  vim.cmd.normal('*')
  same(vim.api.nvim_win_get_cursor(0), { 2, 27 }, 'the place after *')
  vim.cmd.normal('*')
  same(vim.api.nvim_win_get_cursor(0), { 1, 23 }, 'the place after * at the end')

  local function colour(line, text)
    local number, column = go(line, text)
    return vim.fn.synIDattr(vim.fn.synIDtrans(vim.fn.synID(number, column + 1, 1)), 'name')
  end
  same(colour('def', 'def'), 'Statement', 'a colour')
  same(colour('def', '@main'), 'Function', 'a colour')
  same(colour('def', 'linear_3'), 'Identifier', 'a colour')
  same(colour('%0 =', 'nn.conv2d'), 'Function', 'a colour')
  same(colour('multiply', 'multiply'), 'Comment', 'a colour')
  same(colour('nested', '%0'), 'Comment', 'a colour')
  same(colour('nested', '%1'), 'Identifier', 'a colour')
  same(colour('root', '"root"'), 'Comment', 'a colour')

  vim.cmd('silent %left')
  vim.cmd.normal({ 'gg=G', bang = true })
  same(vim.fn.indent(2), 2, 'the indentation of a body')
  same(vim.fn.indent(6), 0, 'the indentation of a bracket')
  vim.cmd.bwipeout({ bang = true })
  say('names, colours, indentation')
end

function steps.is_healthy()
  vim.cmd('checkhealth relay-analyzer')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  assert(text:find('OK relay%-analyzer %d') or text:find('relay%-analyzer %d[%d.]*: '), text)
  assert(text:find('is attached to %d buffer'), text)
  assert(not text:find('ERROR'), text)
  vim.cmd.bwipeout({ bang = true })
  say('checkhealth')
end

function steps.opens_large_models()
  if not models then
    say('no large models here')
    return
  end
  for _, name in ipairs({ 'resnet50', 'bert-base', 'lstm500' }) do
    local start = vim.uv.hrtime()
    vim.cmd.edit(models .. '/' .. name .. '.relay')
    client()
    -- After the response to a hover, the diagnostics have arrived.
    local number, column = go('  %1 = ', '%1')
    vim.api.nvim_win_set_cursor(0, { number, column })
    local text = hover()
    assert(text:find('Tensor[(', 1, true), text)
    local milliseconds = math.floor((vim.uv.hrtime() - start) / 1e6)
    -- Only the mistake is reported.
    vim.bo.readonly = false
    change('  %1 = ', '%1 = ', '%1 = %nowhere; %1 = ')
    wait_for_errors({ 'unknown-variable at %nowhere' })
    vim.cmd('silent undo')
    wait_for_errors({})
    say(name, vim.api.nvim_buf_line_count(0), 'lines', milliseconds, 'ms to the first hover:', (text:gsub('\n', ' ')))
    vim.cmd.bwipeout({ bang = true })
  end
end

--- The steps of another file in this folder.
local function more(file)
  local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
  local tools = { same = same, until_ = until_, next_answer = next_answer, go = go, change = change, say = say, hover_has = hover_has }
  return function()
    for _, step in ipairs(dofile(here .. '/' .. file)(tools)) do
      step()
    end
  end
end

steps.follows_relay_toml = more('settings.lua')
steps.reads_other_languages = more('embedded.lua')
steps.shows_shapes = more('shapes.lua')
steps.follows_types = more('type.lua')
steps.explains = more('explain.lua')
steps.reduces = more('reduce.lua')
steps.runs = more('runs.lua')
steps.shows_marks_once = more('marks.lua')
steps.compares = more('between.lua')
steps.compares_values = more('divergence.lua')
steps.opens_saved_modules = more('saved.lua')
steps.shows_code_alone = more('code.lua')
steps.sets_up_the_debugger = more('debugger.lua')

local order = {
  'opens',
  'finds_the_broken_shape',
  'hovers',
  'jumps',
  'sees_changes',
  'takes_settings',
  'follows_relay_toml',
  'reads_other_languages',
  'shows_shapes',
  'follows_types',
  'explains',
  'reduces',
  'compares',
  'compares_values',
  'opens_saved_modules',
  'shows_code_alone',
  'sets_up_the_debugger',
  'knows_names',
  'runs',
  'shows_marks_once',
  'is_healthy',
  'opens_large_models',
}

say('nvim', vim.version())
for _, name in ipairs(order) do
  local fine, problem = xpcall(steps[name], debug.traceback)
  if not fine then
    say('FAILED', name, problem)
    vim.cmd.cquit()
  end
end
say('OK')
vim.cmd('qall!')
