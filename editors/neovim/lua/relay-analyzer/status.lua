--- The text of `statusline()` for a Relay buffer.
local M = {}

local SEVERITY = vim.diagnostic.severity

local function many(count, what)
  return ('%d %s%s'):format(count, what, count == 1 and '' or 's')
end

--- A short text for a status line; empty for other buffers.
---@param buffer integer
---@return string
function M.text(buffer)
  if vim.bo[buffer].filetype ~= 'relay' then
    return ''
  end
  local client = vim.lsp.get_clients({ bufnr = buffer, name = require('relay-analyzer').name })[1]
  if not client then
    return 'relay: no server'
  elseif not client.initialized then
    return 'relay: starting'
  end
  local running = require('relay-analyzer.run').count()
  local counts = vim.diagnostic.count(buffer)
  local errors, warnings = counts[SEVERITY.ERROR] or 0, counts[SEVERITY.WARN] or 0
  local parts = {}
  if running > 0 then
    table.insert(parts, running == 1 and 'running' or ('%d running'):format(running))
  end
  if errors > 0 then
    table.insert(parts, many(errors, 'error'))
  end
  if warnings > 0 then
    table.insert(parts, many(warnings, 'warning'))
  end
  if errors + warnings == 0 then
    table.insert(parts, 'OK')
    -- Valid code that TVM's own parser rejects.
    local against = #vim.tbl_filter(function(found)
      return vim.startswith(tostring(found.code), 'tvm-')
    end, vim.diagnostic.get(buffer, { severity = SEVERITY.HINT }))
    if against > 0 then
      table.insert(parts, 'TVM cannot read back ' .. many(against, 'place'))
    end
  end
  return 'relay: ' .. table.concat(parts, ' · ')
end

return M
