--- The client of relay-analyzer: the program and its settings.
local M = {}

---@class relay_analyzer.Options
---@field cmd? string|string[] the program, or the program with its arguments
---@field settings? relay_analyzer.Settings
---@field lenses? boolean lenses above definitions (default: true)
---@field values? boolean the values of the last run at the ends of lines (default: true)

--- The settings that the server reads.
---@class relay_analyzer.Settings
---@field tvm? boolean report what TVM 0.14 rejects as errors
---@field prelude? boolean make TVM's prelude available
---@field diagnostics? { delivery?: 'auto'|'push'|'pull', disabled?: string[] }
---@field embedded? { enabled?: boolean }
---@field inlayHints? { types?: boolean, parameters?: boolean, blockEnds?: boolean, values?: boolean }
---@field run? { time?: number, memory?: integer, fuel?: integer, depth?: integer, outsideFiles?: boolean }
---@field weights? { files?: string[] }
---@field limits? { codeSize?: integer, nesting?: integer }

M.name = 'relay_analyzer'

local options = {
  cmd = { 'relay-analyzer', 'lsp' },
  settings = {},
  lenses = true,
  values = true,
}
local missing_was_told = false
--- The time until the screen is drawn for the first time, in milliseconds.
local DRAWN = 50

--- Neovim 0.11 configures servers by name; in 0.10, each buffer is attached explicitly.
local has_config = vim.lsp.config ~= nil

--- The program with its arguments. In 0.11, `vim.lsp.config()` may have set another one.
---@return string[]
function M.cmd()
  local config = has_config and vim.lsp.config[M.name]
  return config and type(config.cmd) == 'table' and config.cmd or options.cmd
end

---@return boolean
function M.is_installed()
  return vim.fn.executable(M.cmd()[1]) == 1
end

---@return boolean
function M.wants_lenses()
  return options.lenses
end

---@return boolean
function M.wants_values()
  return options.values
end

--- Whether Relay in Python and Markdown is analysed.
---@return boolean
function M.wants_embedded()
  return vim.tbl_get(options.settings, 'embedded', 'enabled') ~= false
end

--- The status of the current buffer for 'statusline'; see `:help relay-analyzer.statusline()`.
---@return string
function M.statusline()
  return require('relay-analyzer.status').text(vim.api.nvim_get_current_buf())
end

--- The configuration for `vim.lsp.config` and `vim.lsp.start`.
---@return table
function M.client_config()
  return {
    cmd = options.cmd,
    filetypes = vim.list_extend({ 'relay' }, require('relay-analyzer.embedded').filetypes),
    -- The plugin shows the results of these commands.
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), {
      -- Neovim 0.10 supports UTF-8, but does not announce it. With UTF-16 it converts the whole line for each
      -- token, which freezes it for seconds on lines of 180,000 characters.
      general = { positionEncodings = { 'utf-8', 'utf-16', 'utf-32' } },
      experimental = {
        commands = {
          commands = {
            'relay.run',
            'relay.showReferences',
            'relay.bindParameters',
            'relay.liftConstants',
            'relay.reduceToDiagnostic',
          },
        },
      },
    }),
    settings = { relay = options.settings },
  }
end

---@param buffer integer
---@return string? the folder of the project, nil for a single file
function M.root(buffer)
  return vim.fs.root(buffer, { 'relay.toml', '.git' })
end

--- Shows a message once the screen is drawn, so that it stays visible.
---@param text string
---@param level integer
function M.tell(text, level)
  local function tell()
    vim.notify(text, level)
  end
  if vim.v.vim_did_enter == 1 then
    vim.schedule(tell)
    return
  end
  -- For a file of the command line, a message before the first redraw would be overwritten.
  vim.api.nvim_create_autocmd('VimEnter', {
    once = true,
    callback = function()
      vim.defer_fn(tell, DRAWN)
    end,
  })
end

--- Shows once that the server is missing.
function M.tell_missing()
  if missing_was_told then
    return
  end
  missing_was_told = true
  local text = 'relay-analyzer: there is no program `%s`. `:checkhealth relay-analyzer` says what to do.'
  M.tell(text:format(M.cmd()[1]), vim.log.levels.WARN)
end

--- Starts the server for a buffer in 0.10, where Neovim does not do so, and reports a missing program,
--- which Neovim ignores silently.
---@param buffer integer
function M.attach(buffer)
  if has_config and vim.lsp.is_enabled and not vim.lsp.is_enabled(M.name) then
    return
  elseif not require('relay-analyzer.embedded').wants_server(buffer) then
    return
  elseif not M.is_installed() then
    M.tell_missing()
    return
  elseif has_config or require('relay-analyzer.modules').is_ours(buffer) then
    return
  end
  local config = M.client_config()
  config.name = M.name
  config.root_dir = M.root(buffer)
  vim.lsp.start(config, {
    bufnr = buffer,
    -- Without a folder, 0.10 would start another server each time that a buffer is read.
    reuse_client = function(client)
      return client.name == M.name
        and client.config.root_dir == config.root_dir
        and vim.deep_equal(client.config.cmd, config.cmd)
        and not client.is_stopped()
    end,
  })
end

--- Sets the program and settings. Calling it is optional: by default `relay-analyzer` on `PATH` runs
--- with the server's defaults.
---@param chosen? relay_analyzer.Options
function M.setup(chosen)
  chosen = chosen or {}
  local kinds = { cmd = 'string or list', settings = 'table', lenses = 'boolean', values = 'boolean' }
  for name, wanted in pairs(kinds) do
    local kind = type(chosen[name])
    local is_list = name == 'cmd' and kind == 'table'
    if kind ~= 'nil' and not is_list and not wanted:find(kind, 1, true) then
      error(('relay-analyzer: `%s` takes a %s, not a %s'):format(name, wanted, kind), 2)
    end
  end
  if type(chosen.cmd) == 'string' then
    options.cmd = { vim.fn.expand(chosen.cmd), 'lsp' }
  elseif chosen.cmd then
    options.cmd = chosen.cmd
  end
  options.settings = chosen.settings or options.settings
  for _, name in ipairs({ 'lenses', 'values' }) do
    if chosen[name] ~= nil then
      options[name] = chosen[name]
    end
  end
  missing_was_told = false
  if has_config then
    -- The file `lsp/relay_analyzer.lua` is read again; other settings stay.
    vim.lsp.config(M.name, {})
  end
end

--- The signs of nvim-dap: the letter that it has by default, the sign, and its highlight group.
local DAP_SIGNS = {
  DapBreakpoint = { 'B', '●', 'DiagnosticSignError' },
  DapBreakpointCondition = { 'C', '◆', 'DiagnosticSignError' },
  DapBreakpointRejected = { 'R', '○', 'DiagnosticSignHint' },
  DapLogPoint = { 'L', '◇', 'DiagnosticSignInfo' },
  DapStopped = { '→', '▶', 'DiagnosticSignWarn' },
}

--- Defines the signs of nvim-dap, apart from those that the user has chosen.
local function define_dap_signs()
  for name, sign in pairs(DAP_SIGNS) do
    local known = vim.fn.sign_getdefined(name)[1]
    if known == nil or vim.trim(known.text or '') == sign[1] then
      local line = name == 'DapStopped' and 'CursorLine' or ''
      vim.fn.sign_define(name, { text = sign[2], texthl = sign[3], linehl = line })
    end
  end
end

--- Sets up nvim-dap for Relay: the program of the server is the debug adapter, too.
---@return boolean done false without nvim-dap
function M.dap()
  local found, dap = pcall(require, 'dap')
  if not found then
    M.tell('relay-analyzer: debugging needs nvim-dap: https://github.com/mfussenegger/nvim-dap', vim.log.levels.WARN)
    return false
  end
  dap.adapters.relay = function(connect)
    local cmd = vim.deepcopy(M.cmd())
    if cmd[#cmd] == 'lsp' then
      table.remove(cmd)
    end
    local args = vim.list_slice(cmd, 2)
    table.insert(args, 'dap')
    connect({ type = 'executable', command = cmd[1], args = args })
  end
  dap.configurations.relay = dap.configurations.relay
    or {
      { type = 'relay', request = 'launch', name = 'Debug @main', program = '${file}', random = 0 },
      {
        type = 'relay',
        request = 'launch',
        name = 'Debug @main from its first binding',
        program = '${file}',
        random = 0,
        stopOnEntry = true,
      },
    }
  define_dap_signs()
  return true
end

---@return vim.lsp.Client[]
function M.clients()
  return vim.lsp.get_clients({ name = M.name })
end

--- Starts the server for a buffer that it has not been started for, if it is to know of it.
---@param buffer integer
function M.start(buffer)
  if has_config then
    vim.api.nvim_exec_autocmds('FileType', { group = 'nvim.lsp.enable', buffer = buffer })
  else
    M.attach(buffer)
  end
end

--- Notifies the servers of changes in files that they read themselves.
---@param changes lsp.FileEvent[]
function M.tell_files_changed(changes)
  for _, client in ipairs(M.clients()) do
    local params = { changes = changes }
    if has_config then
      client:notify('workspace/didChangeWatchedFiles', params)
    else
      client.notify('workspace/didChangeWatchedFiles', params)
      -- 0.10 does not request diagnostics again after a refresh.
      for buffer in pairs(client.attached_buffers) do
        local document = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
        client.request('textDocument/diagnostic', document, nil, buffer)
      end
    end
  end
end

--- Stops the server, and starts it again for its buffers.
function M.restart()
  local buffers = {}
  for _, client in ipairs(M.clients()) do
    vim.list_extend(buffers, vim.tbl_keys(client.attached_buffers))
    if has_config then
      client:stop()
    else
      client.stop()
    end
  end
  if #buffers == 0 then
    buffers = { vim.api.nvim_get_current_buf() }
  end
  vim.wait(2000, function()
    return #M.clients() == 0
  end, 20)
  for _, buffer in ipairs(buffers) do
    local embedded = require('relay-analyzer.embedded')
    if
      vim.api.nvim_buf_is_loaded(buffer)
      and (vim.bo[buffer].filetype == 'relay' or embedded.has_relay(buffer))
    then
      M.start(buffer)
    end
  end
end

--- The version of the program, or nil and a reason.
---@return string?, string?
function M.version()
  if not M.is_installed() then
    return nil, ('there is no program `%s`'):format(M.cmd()[1])
  end
  local ran = vim.system({ M.cmd()[1], '--version' }, { text = true, timeout = 10000 }):wait()
  local version = ran.code == 0 and vim.trim(ran.stdout or ''):match('^relay%-analyzer%s+(%S+)')
  if not version then
    return nil, ('`%s --version` does not answer as relay-analyzer does'):format(M.cmd()[1])
  end
  return version
end

return M
