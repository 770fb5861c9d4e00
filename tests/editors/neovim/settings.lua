-- `relay.toml`: changes apply at once, without an edit of the module.
return function(tools)
  local say, until_ = tools.say, tools.until_

  local function follows_the_file()
    local before = vim.api.nvim_get_current_buf()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder, 'p')
    local lines = { '#[version = "0.0.5"]', 'def @main(%x: int32) -> int32 {', '  let %a = %x;', '  %x', '}' }
    vim.fn.writefile(lines, folder .. '/a.relay')
    vim.cmd.edit(folder .. '/a.relay')
    local module = vim.api.nvim_get_current_buf()
    local function wait_for(severity)
      until_('an unused binding of severity ' .. severity, function()
        local found = vim.diagnostic.get(module)
        return #found == 1 and found[1].code == 'unused-binding' and found[1].severity == severity
      end)
    end
    wait_for(vim.diagnostic.severity.WARN)
    vim.cmd.edit(folder .. '/relay.toml')
    local settings = vim.api.nvim_get_current_buf()
    vim.api.nvim_buf_set_lines(settings, 0, -1, false, { '[lints]', 'unused-binding = "error"' })
    vim.cmd('silent write')
    wait_for(vim.diagnostic.severity.ERROR)
    vim.api.nvim_buf_set_lines(settings, 0, -1, false, { '[lints]', 'unused-binding = "hint"' })
    vim.cmd('silent write')
    wait_for(vim.diagnostic.severity.HINT)
    vim.api.nvim_set_current_buf(before)
    vim.api.nvim_buf_delete(settings, { force = true })
    vim.api.nvim_buf_delete(module, { force = true })
    vim.fn.delete(folder, 'rf')
    say('relay.toml is followed')
  end

  return { follows_the_file }
end
