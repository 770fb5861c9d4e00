-- Steps of `drive.lua`: code views.
--
-- `tools` provides its `same`, `until_`, `say` and `hover_has`.
return function(tools)
  local same, until_, say, hover_has = tools.same, tools.until_, tools.say, tools.hover_has
  local steps = {}

  local CODE = [[
#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {
  add(%x, meta[relay.Constant][0])
}

]]

  --- A section with one constant, `[1, 2]`, and the given number of bytes of white space.
  local function section(length)
    local array = 'P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAAEA='
    return ([[
#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
{"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}}], "b64ndarrays": ["%s"]%s}
]]):format(array, (' '):rep(length))
  end

  local function write(path, bytes)
    local file = assert(io.open(path, 'wb'))
    file:write(bytes)
    file:close()
  end

  local function read(path)
    local file = assert(io.open(path, 'rb'))
    local bytes = file:read('*a')
    file:close()
    return bytes
  end

  local function told(act)
    local relay = require('relay-analyzer')
    local tell, found = relay.tell, {}
    relay.tell = function(said)
      table.insert(found, said)
    end
    local fine, problem = pcall(act)
    relay.tell = tell
    assert(fine, problem)
    return found
  end

  function steps.writes_code_alone()
    vim.cmd.tabnew()
    local path = vim.fn.tempname() .. ' 1.relay'
    local large = section(2000000)
    write(path, CODE .. large)
    local function edit()
      vim.cmd.edit(vim.fn.fnameescape(path))
    end
    vim.g.relay_code_view_automatic = false
    local offer = vim.fs.basename(path) .. ' has a large metadata section. `:RelayCodeView` shows its code alone.'
    same(told(edit), { 'relay-analyzer: ' .. offer }, 'offers')
    vim.cmd('RelayCodeView')
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    same({ lines[1], lines[6], #lines }, { '#[version = "0.0.5"]', '#[metadata] folded: 1 constant, 2.0 MB', 6 }, 'lines')
    same({ vim.bo.filetype, vim.bo.buftype, vim.bo.modified }, { 'relay', 'acwrite', false }, 'the document')
    until_('the server', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    hover_has('meta[', 'meta', 'min 1, max 2')
    same(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }), {}, 'errors')

    vim.api.nvim_buf_set_lines(0, 2, 3, false, { '  multiply(%x, meta[relay.Constant][0])' })
    vim.cmd.write()
    same(vim.bo.modified, false, 'modified')
    local changed = CODE:gsub('add', 'multiply')
    assert(read(path) == changed .. large, 'the file')

    -- Asks before overwriting the changes of another program.
    local confirm, asked = vim.fn.confirm, 0
    local answer = 2
    vim.fn.confirm = function()
      asked = asked + 1
      return answer
    end
    local other = section(2000001)
    write(path, CODE .. other)
    vim.api.nvim_buf_set_lines(0, 2, 3, false, { '  subtract(%x, meta[relay.Constant][0])' })
    pcall(vim.cmd.write)
    assert(read(path) == CODE .. other, 'nothing is written')
    same({ asked, vim.bo.modified }, { 1, true }, 'asked')
    answer = 1
    vim.cmd.write()
    local subtracted = CODE:gsub('add', 'subtract')
    assert(read(path) == subtracted .. other, 'the code is written')
    same({ asked, vim.bo.modified }, { 2, false }, 'asked again')
    vim.fn.confirm = confirm

    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buffer):find(' 1.relay', 1, true) or vim.api.nvim_buf_get_name(buffer):find('%%201.relay') then
        vim.cmd.bwipeout({ buffer, bang = true })
      end
    end
    vim.g.relay_code_view_automatic = nil
    vim.cmd('silent! tabclose!')
    vim.fn.delete(path)
    say('writes code alone')
  end

  --- Wipes the buffers of the files in a folder.
  local function wipe(folder)
    -- Neovim 0.10 fails on colours that arrive for a buffer that is gone.
    until_('the answers', function()
      return vim.iter(vim.lsp.get_clients()):all(function(client)
        return next(client.requests) == nil
      end)
    end)
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buffer):find(folder, 1, true) then
        vim.cmd.bwipeout({ buffer, bang = true })
      end
    end
  end

  --- The text of the last line, and whether the buffer is a code view with the name of its file.
  local function shown(path)
    local last = vim.api.nvim_buf_get_lines(0, -2, -1, false)[1]
    local is_view = vim.bo.buftype == 'acwrite' and vim.b.relay_code_stamp ~= nil
    return { last, is_view and vim.api.nvim_buf_get_name(0) == path and vim.bo.filetype == 'relay' }
  end

  local FOLDED = '#[metadata] folded: 1 constant, 2.0 MB'

  function steps.opens_large_files_as_their_code()
    vim.cmd.tabnew()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder)
    local path = folder .. '/net 1.relay'
    local large = section(2000000)
    write(path, CODE .. large)
    local function edit(command)
      vim.cmd((command or 'edit') .. ' ' .. vim.fn.fnameescape(path))
    end
    local events = {}
    local recorder = vim.api.nvim_create_autocmd({ 'BufReadPre', 'BufReadPost', 'BufWritePre', 'BufWritePost' }, {
      pattern = '*/net 1.relay',
      callback = function(event)
        table.insert(events, event.event)
      end,
    })
    local message = 'net 1.relay: 2.0 MB of weights are not read (:RelayWholeFile)'
    -- A running server is used.
    local servers = #vim.lsp.get_clients({ name = 'relay_analyzer' })
    same(told(edit), { message }, 'the message')
    same(shown(path), { FOLDED, true }, 'the view')
    until_('the server', function()
      return #vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' }) == 1
    end)
    same(#vim.lsp.get_clients({ name = 'relay_analyzer' }), servers, 'servers')
    hover_has('meta[', 'meta', 'min 1, max 2')
    same(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }), {}, 'errors')

    vim.api.nvim_buf_set_lines(0, 2, 3, false, { '  multiply(%x, meta[relay.Constant][0])' })
    vim.cmd.write()
    same(events, { 'BufReadPre', 'BufReadPost', 'BufWritePre', 'BufWritePost' }, 'events')
    vim.api.nvim_del_autocmd(recorder)
    local changed = CODE:gsub('add', 'multiply') .. large
    assert(read(path) == changed, 'the file')
    vim.cmd.undo()
    vim.cmd.write()
    assert(read(path) == CODE .. large, 'the file after undo')

    -- Nothing writes the code in place of the file.
    for _, command in ipairs({ 'noautocmd write!', '2,3write!', '2,3write >>' }) do
      pcall(vim.cmd, command)
      assert(read(path) == CODE .. large, command)
    end
    -- Copies are whole; parts are parts.
    local copy, part = folder .. '/copy.relay', folder .. '/part.relay'
    vim.cmd.write(copy)
    assert(read(copy) == CODE .. large, 'the copy')
    same(vim.api.nvim_buf_get_name(0), path, 'the name after a copy')
    vim.cmd('2,3write ' .. part)
    vim.cmd('4write >> ' .. part)
    assert(read(part) == CODE:match('\n(def.*)\n$'), read(part))
    vim.cmd('saveas! ' .. copy)
    vim.api.nvim_buf_set_lines(0, 0, 0, false, { '// copied' })
    vim.cmd.write()
    assert(read(copy) == '// copied\n' .. CODE .. large and read(path) == CODE .. large, 'the renamed copy')
    wipe(vim.api.nvim_buf_get_name(0))

    -- Again, by a session, read-only, and as a difference.
    edit()
    vim.cmd('edit!')
    same(shown(path), { FOLDED, true }, 'read again')
    local session = folder .. '/session.vim'
    vim.cmd('mksession ' .. session)
    wipe(vim.api.nvim_buf_get_name(0))
    vim.cmd('silent source ' .. session)
    same(shown(path), { FOLDED, true }, 'of a session')
    wipe(vim.api.nvim_buf_get_name(0))
    edit('view')
    same({ shown(path)[2], vim.bo.readonly }, { true, true }, 'read-only')
    wipe(vim.api.nvim_buf_get_name(0))
    vim.cmd.enew()
    edit('diffsplit')
    same({ shown(path)[2], vim.wo.diff }, { true, true }, 'a difference')

    -- The whole file, and back to its code.
    vim.cmd('RelayWholeFile')
    same({ vim.bo.buftype, vim.b.relay_code_stamp, vim.bo.filetype }, { '', nil, 'relay' }, 'an ordinary buffer')
    vim.cmd.write()
    assert(read(path) == CODE .. large, 'the whole file')
    wipe(vim.api.nvim_buf_get_name(0))
    edit()
    same(shown(path)[2], false, 'whole again')
    vim.cmd('RelayCodeView')
    same(vim.api.nvim_buf_get_lines(0, -2, -1, false), { FOLDED }, 'beside the file')
    wipe(folder)

    -- Others are read by Neovim: small ones, and several modules, as in a log.
    local log = folder .. '/log.relay'
    write(log, CODE .. large .. CODE)
    local refusal = told(function()
      vim.cmd.edit(log)
    end)
    same(refusal, { 'relay-analyzer: all of log.relay is read: it contains several modules, like a log of passes' }, 'a log')
    same({ shown(log)[2], vim.api.nvim_buf_line_count(0) }, { false, 13 }, 'a log')
    write(part, CODE .. section(10):gsub('\n', '\r\n'))
    vim.cmd('edit! ' .. part)
    same({ shown(part)[2], vim.bo.swapfile }, { false, true }, 'a small file')
    wipe(folder)

    -- Line breaks of Windows are those of the buffer, and stay in the file.
    local dos = CODE:gsub('\n', '\r\n')
    write(path, dos .. large)
    require('relay-analyzer.code').whole[path] = nil
    edit()
    same({ shown(path)[2], vim.bo.fileformat, vim.fn.getline(1) }, { true, 'dos', '#[version = "0.0.5"]' }, 'breaks')
    vim.api.nvim_buf_set_lines(0, 2, 3, false, { '  multiply(%x, meta[relay.Constant][0])' })
    vim.cmd.write()
    assert(read(path) == dos:gsub('add', 'multiply') .. large, 'the file with breaks')
    wipe(folder)
    vim.cmd('silent! tabclose!')
    vim.fn.delete(folder, 'rf')
    say('opens large files as their code')
  end

  --- The code action at the cursor whose title contains a text, or nil.
  local function actions(title)
    local client = vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
    params.context = { diagnostics = {} }
    local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 60000)
    for _, action in ipairs(answers and answers[client.id] and answers[client.id].result or {}) do
      if action.title:find(title, 1, true) then
        return action
      end
    end
  end

  function steps.drops_unused_constants_on_save()
    vim.cmd.tabnew()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder)
    local path = folder .. '/net.relay'
    local unused = CODE:gsub('meta%b[]%[0%]', '1f')
    write(path, unused .. section(2000000))
    vim.cmd.edit(path)
    until_('the server', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    vim.cmd('normal! G0')
    local drop = until_('the quick fix', function()
      return actions('Drop it')
    end)
    vim.lsp.util.apply_workspace_edit(drop.edit, 'utf-8')
    same(vim.fn.getline('$'), FOLDED .. '; saving drops 0', 'the line')
    vim.cmd.undo()
    same({ vim.fn.getline('$'), vim.bo.modified }, { FOLDED, false }, 'undone')
    vim.cmd.redo()
    vim.cmd.write()
    same({ vim.fn.getline('$'), vim.bo.modified }, { '#[metadata] folded: 0 constants, 2.0 MB', false }, 'saved')
    local text = read(path)
    assert(vim.startswith(text, unused) and text:find('"b64ndarrays": []', 1, true), text:sub(1, 900))
    -- The text from before the save is for another section.
    vim.cmd.undo()
    local saved = pcall(vim.cmd.write)
    assert(read(path) == text and (not saved or vim.bo.modified), 'the text before is not saved')
    vim.cmd('edit!')
    same(vim.fn.getline('$'), '#[metadata] folded: 0 constants, 2.0 MB', 'read again')
    wipe(folder)
    vim.cmd('silent! tabclose!')
    vim.fn.delete(folder, 'rf')
    say('drops unused constants on save')
  end

  function steps.draws_binds_and_lifts()
    vim.cmd.tabnew()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder)
    local path = folder .. '/net.relay'
    write(path, CODE .. section(2000000))
    vim.cmd('RelayCodeView ' .. path)
    until_('the server', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    local source = vim.api.nvim_get_current_win()

    -- The histogram of a constant beside the text.
    local function view()
      local buffer = vim.fn.bufnr('^relay://type$')
      return buffer >= 0 and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') or ''
    end
    vim.fn.search('meta\\[')
    vim.cmd('RelayType')
    local shown = until_('the picture', function()
      return view():find('Elements', 1, true) and view()
    end)
    assert(shown:find('min 1, max 2, mean 1.5', 1, true) and shown:find('█', 1, true), shown)
    assert(shown:find('\n  1 +2\n'), shown)
    vim.cmd('RelayType')
    vim.api.nvim_set_current_win(source)

    -- The constant becomes a parameter, by a code action.
    local lift = until_('an action that lifts', function()
      return actions('Lift constants')
    end)
    vim.lsp.commands[lift.command.command](lift.command, { bufnr = 0 })
    until_('the new module', function()
      return vim.api.nvim_buf_get_name(0):find('net.lifted.relay', 1, true)
    end)
    local lifted = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    assert(lifted:find('add(%x, %constant_0)', 1, true), lifted)
    assert(vim.uv.fs_stat(folder .. '/net.lifted.npz'), 'the tensors')

    -- And back.
    until_('the server', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    vim.fn.search('%constant_0')
    until_('an action that binds', function()
      return actions('Bind parameters')
    end)
    vim.cmd('RelayBind ' .. folder .. '/net.lifted.npz')
    until_('the module with constants', function()
      return vim.api.nvim_buf_get_name(0):find('net.lifted.bound.relay', 1, true)
    end)
    local bound = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    assert(bound:find('add(%x, meta[relay.Constant][0])', 1, true), bound)

    wipe(folder)
    vim.cmd('silent! tabclose!')
    vim.fn.delete(folder, 'rf')
    say('draws a histogram, lifts and binds')
  end

  function steps.refuses_files_without_weights()
    vim.cmd.tabnew()
    local path = vim.fn.tempname() .. '.relay'
    write(path, CODE)
    vim.cmd.edit(path)
    local _, problem = pcall(vim.cmd, 'RelayCodeView')
    until_('the refusal', function()
      return (vim.fn.execute('messages') .. tostring(problem)):find('it has no metadata section', 1, true)
    end)
    same(vim.api.nvim_buf_get_name(0), path, 'the buffer after the refusal')
    wipe(vim.api.nvim_buf_get_name(0))
    vim.cmd('silent! tabclose!')
    vim.fn.delete(path)
    say('refuses a file without weights')
  end

  return {
    steps.opens_large_files_as_their_code,
    steps.drops_unused_constants_on_save,
    steps.writes_code_alone,
    steps.draws_binds_and_lifts,
    steps.refuses_files_without_weights,
  }
end
