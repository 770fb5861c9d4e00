-- Steps of `drive.lua`: modules saved by TVM.
--
-- `tools` provides its `same`, `until_`, `say` and `hover_has`.
return function(tools)
  local same, until_, say, hover_has = tools.same, tools.until_, tools.say, tools.hover_has
  local steps = {}

  --- A case of the tests of saved modules: its JSON, and its text.
  local function case(id)
    for line in io.lines('analysis/saved/tests/cases.jsonl') do
      local found = vim.json.decode(line)
      if found.id == id then
        return found.json, found.text
      end
    end
    error('there is no case ' .. id)
  end

  local JSON, TEXT = case('float-attribute')

  local function write(path, bytes)
    local file = assert(io.open(path, 'wb'))
    file:write(bytes)
    file:close()
  end

  --- A tar archive with one file.
  local function archive(name, bytes)
    local function field(text, length)
      return text .. ('\0'):rep(length - #text)
    end
    local function header(sum)
      local owner = field('', 16)
      local size = ('%011o'):format(#bytes)
      local start = field(name, 100) .. field('0000644', 8) .. owner .. field(size, 12) .. field('', 12)
      return field(start .. sum .. '0' .. field('', 100) .. field('ustar', 6), 512)
    end
    local sum = 0
    for at = 1, 512 do
      sum = sum + header((' '):rep(8)):byte(at)
    end
    return header(('%06o\0 '):format(sum)) .. field(bytes, math.ceil(#bytes / 512) * 512) .. ('\0'):rep(1024)
  end

  local function text()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
  end

  --- Calls a function and returns the messages meanwhile. Neovim would display them after startup, of which
  --- this script is a part.
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

  local function edit(path)
    return function()
      vim.cmd.edit(vim.fn.fnameescape(path))
    end
  end

  local function is_shown()
    same(text(), TEXT, 'the text')
    same({ vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable }, { 'relay', 'nofile', false }, 'the document')
  end

  local function wipe_all()
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      local name = vim.api.nvim_buf_get_name(buffer)
      if vim.startswith(name, 'relay-saved:') or name:find('%.json$') or name:find('%.tar$') then
        vim.cmd.bwipeout({ buffer, bang = true })
      end
    end
  end

  function steps.opens_what_tvm_saved()
    vim.cmd.tabnew()
    local path = vim.fn.tempname() .. ' 1.json'
    local offer = vim.fs.basename(path) .. ' is a module that TVM saved. `:RelayOpen` shows it as text.'
    write(path, JSON)
    same(told(edit(path)), { 'relay-analyzer: ' .. offer }, 'offers')
    vim.cmd('RelayOpen')
    is_shown()
    same(vim.api.nvim_buf_get_name(0), (vim.uri_from_fname(path):gsub('^file:', 'relay-saved:')) .. '.relay', 'the name')
    until_('the server', function()
      return vim.lsp.get_clients({ bufnr = 0, name = 'relay_analyzer' })[1]
    end)
    hover_has('image.resize1d', '%x', 'Tensor[(1, 4, 4), float32]')
    same(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }), {}, 'errors')

    -- A program has rewritten the file, which is noticed on focus. The result has another size than
    -- its declaration.
    local first, last = JSON:find('.*"data":%[9,16,11%]')
    write(path, JSON:sub(first, last):gsub('%[9,16,11%]$', '[9,9,11]') .. JSON:sub(last + 1))
    vim.cmd('doautocmd FocusGained')
    assert(text():find('-> Tensor[(1, 1, 4), float32]', 1, true), text())
    until_('an error', function()
      local found = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
      return found[1] and found[1].code == 'shape-mismatch'
    end)

    -- While the file is incomplete, the text stays.
    local before = text()
    write(path, JSON:sub(1, 1000))
    pcall(vim.cmd, 'doautocmd FocusGained')
    same(text(), before, 'the text of a file that is half written')
    write(path, JSON)
    vim.cmd('RelayOpen')
    is_shown()

    -- The JSON is offered once.
    same(told(edit(path)), {}, 'offers')
    wipe_all()
    vim.cmd('silent! tabclose!')
    vim.fn.delete(path)
    say('opens a saved module')
  end

  function steps.opens_archives()
    vim.cmd.tabnew()
    local path = vim.fn.tempname() .. '.tar'
    write(path, archive('model.json', JSON))
    vim.cmd('vertical RelayOpen ' .. path)
    is_shown()
    same(vim.fn.winlayout()[1], 'row', 'windows')
    vim.cmd.close()
    -- By name, like a session.
    vim.cmd.bwipeout('relay-saved://' .. path .. '.relay')
    vim.cmd.edit('relay-saved://' .. path .. '.relay')
    is_shown()
    wipe_all()
    vim.cmd('silent! tabclose!')
    vim.fn.delete(path)
    say('opens an archive')
  end

  function steps.leaves_other_json_alone()
    vim.cmd.tabnew()
    local path = vim.fn.tempname() .. '.json'
    write(path, '{ "root": 1, "nodes": [] }\n')
    same(told(edit(path)), {}, 'offers')
    -- Neovim raises errors at once.
    local _, problem = pcall(vim.cmd, 'RelayOpen')
    until_('the refusal', function()
      return (vim.fn.execute('messages') .. tostring(problem)):find('there is no node 1', 1, true)
    end)
    same(vim.api.nvim_buf_get_name(0), path, 'the buffer after the refusal')
    wipe_all()
    vim.cmd('silent! tabclose!')
    vim.fn.delete(path)
    say('leaves other JSON alone')
  end

  return { steps.opens_what_tvm_saved, steps.opens_archives, steps.leaves_other_json_alone }
end
