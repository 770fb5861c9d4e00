-- For `vim.lsp.enable('relay_analyzer')`, Neovim 0.11 or newer.
local relay = require('relay-analyzer')
local config = relay.client_config()

--- The client starts when this calls `start`: never without the program, nor in files of Python and Markdown
--- without Relay.
function config.root_dir(buffer, start)
  if relay.is_installed() and require('relay-analyzer.embedded').wants_server(buffer) then
    start(relay.root(buffer))
  end
end

return config
