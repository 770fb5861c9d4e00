-- For `vim.lsp.enable('relay_analyzer')`, Neovim 0.11 or newer.
local relay = require('relay-analyzer')
local config = relay.client_config()

--- A client starts where this calls back: not at all without a program.
function config.root_dir(buffer, start)
  if relay.is_installed() then
    start(relay.root(buffer))
  end
end

return config
