--- The time in which a server that is starting may attach to a file, in milliseconds.
local PATIENCE = 5000

local M = {}

local HOW = 'Install relay-analyzer on `PATH`, or set it: '
  .. "`require('relay-analyzer').setup({ cmd = '/path/to/relay-analyzer' })`"

function M.check()
  local relay = require('relay-analyzer')
  local health = vim.health

  health.start('relay-analyzer')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is required')
    return
  end

  local version, problem = relay.version()
  if version then
    health.ok(('relay-analyzer %s: `%s`'):format(version, vim.fn.exepath(relay.cmd()[1])))
  else
    health.error(problem, HOW)
  end

  if require('relay-analyzer.grammar').is_installed() then
    health.ok('the tree-sitter grammar is installed')
  else
    health.info('the tree-sitter grammar is not installed; run `:RelayInstallGrammar`')
  end

  local open = vim.tbl_filter(function(buffer)
    return vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == 'relay'
  end, vim.api.nvim_list_bufs())
  if version and #open > 0 then
    -- `nvim net.relay +checkhealth` gets here before the server has started.
    vim.wait(PATIENCE, function()
      return vim.iter(relay.clients()):any(function(client)
        return client.initialized and next(client.attached_buffers) ~= nil
      end)
    end, 20)
  end
  local clients = relay.clients()
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    health.ok(('client %d is attached to %d buffer%s'):format(client.id, buffers, buffers == 1 and '' or 's'))
  end
  if #clients == 0 then
    if #open == 0 then
      health.info('no Relay file is open, so no client is attached')
    elseif version then
      health.error('a Relay file is open, but no client is attached', 'see `:Relay log`')
    end
  end
end

return M
