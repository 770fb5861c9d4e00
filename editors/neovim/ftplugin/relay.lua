if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

local set = vim.opt_local
set.commentstring = '// %s'
set.comments = { 's1:/*', 'mb:*', 'ex:*/', '://' }
-- Whole names: `%input.1`, `@main`, `%resnet/conv1`, `nn.conv2d`. Colons are not part of words,
-- because a colon follows every parameter; `*` and `#` still find `%aten::linear_3.bias`.
set.iskeyword = { '@', '48-57', '_', '192-255', '.', '/', '%', '@-@' }
set.expandtab = true
set.shiftwidth = 2
set.softtabstop = 2
set.suffixesadd = { '.relay', '.rly' }

local undo = 'setlocal commentstring< comments< iskeyword< expandtab< shiftwidth< softtabstop< suffixesadd<'

if not vim.g.no_plugin_maps and not vim.g.no_relay_maps then
  for key, flags in pairs({ ['*'] = '', ['#'] = 'b' }) do
    vim.keymap.set('n', key, function()
      require('relay-analyzer.names').search(key, flags)
    end, { buffer = true, desc = 'Search the Relay name under the cursor' })
    undo = undo .. (' | silent! nunmap <buffer> %s'):format(key)
  end
end

vim.b.undo_ftplugin = undo
