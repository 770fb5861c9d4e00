--- `:RelayHistory`: the history of an expression through the modules of a log.
local modules = require('relay-analyzer.modules')
local request = require('relay-analyzer.request')
local window = require('relay-analyzer.window')

local M = {}

--- The change at a stop, as a prefix of its text.
---@param stop table
---@return string
local function step(stop)
  if type(stop.kind) ~= 'string' or stop.kind == 'same' then
    return ''
  end
  local changes = type(stop.changes) == 'table' and table.concat(stop.changes, ', ') or ''
  return stop.kind .. (changes ~= '' and (' (%s): '):format(changes) or ': ')
end

--- The stops as entries of the quickfix list.
---@param log string
---@param found table
---@return table[]
local function entries(log, found)
  local items = {}
  for at, stop in ipairs(found.stops) do
    local from, to = stop.range.start, stop.range['end']
    local did = at == 1 and found.new and 'added: ' or step(stop)
    table.insert(items, {
      bufnr = modules.buffer(log, stop.module),
      module = modules.title(stop.module, stop.pass),
      lnum = from.line + 1,
      col = from.character + 1,
      end_lnum = to.line + 1,
      end_col = to.character + 1,
      text = did .. stop.text:gsub('%s*\n%s*', ' '),
    })
  end
  local last = found.stops[#found.stops]
  if found.gone and last then
    table.insert(items, { text = ('removed: #%d has no counterpart'):format(last.module + 1), valid = 0 })
  end
  return items
end

--- Fills the quickfix list with the history of the expression under the cursor, and opens it at the
--- current module.
function M.show()
  local buffer = vim.api.nvim_get_current_buf()
  local log, client = modules.subject(buffer)
  if not client then
    return
  end
  local _, module = modules.origin(buffer)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params = { textDocument = { uri = log }, module = module, position = params.position }
  request.send(client, buffer, 'relay/history', params, function(found)
    local here = found.stops[found.here + 1]
    vim.fn.setqflist({}, ' ', {
      title = 'History of ' .. here.text:gsub('%s*\n%s*', ' '),
      items = entries(log, found),
      idx = found.here + 1,
    })
    vim.cmd('botright copen ' .. math.max(math.min(#found.stops + 1, 10), 3))
    window.map(vim.api.nvim_get_current_buf(), {
      ['<CR>'] = {
        function()
          local entry = vim.fn.line('.')
          local item = vim.fn.getqflist({ idx = entry, items = 0 }).items[1]
          if item and item.bufnr > 0 then
            -- By default Neovim would not reuse the window of a module, which is not a normal file.
            modules.enter_window()
            modules.refresh(item.bufnr)
            vim.cmd('cc ' .. entry)
          end
        end,
        desc = 'go to the expression',
      },
    })
  end)
end

return M
