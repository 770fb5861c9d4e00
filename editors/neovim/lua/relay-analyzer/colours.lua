--- Highlight groups of `syntax/relay.vim` and of semantic tokens.
---
--- Neovim's default colour scheme does not highlight numbers, types and operators. With such a scheme, they
--- get colours of Neovim's palette; other schemes are left unchanged.
local M = {}

--- For each group, the standard group that it links to, and its colours on a dark and a light background
--- if the standard group is not highlighted.
local GROUPS = {
  relayNumber = { 'Number', dark = { 'NvimLightYellow', 11 }, light = { 'NvimDarkYellow', 3 } },
  relayTypeName = { 'Type', dark = { 'NvimLightMagenta', 13 }, light = { 'NvimDarkMagenta', 5 } },
  relayCall = { 'Function', dark = { 'NvimLightCyan', 14 }, light = { 'NvimDarkCyan', 6 } },
  relayLocal = { 'Identifier', dark = { 'NvimLightBlue', 12 }, light = { 'NvimDarkBlue', 4 } },
}

--- The highlight groups of semantic tokens: those of the same words without a server.
local TOKENS = {
  operator = 'relayCall',
  ['function'] = 'relayCall',
  variable = 'relayLocal',
  parameter = 'relayLocal',
  enumMember = 'relayTypeName',
  type = 'relayTypeName',
  typeParameter = 'relayTypeName',
  property = 'relayAttribute',
  keyword = 'relayStatement',
  number = 'relayNumber',
  string = 'relayString',
  comment = 'relayComment',
  macro = 'relayMeta',
}

--- The captures of `queries/relay/highlights.scm` that link to a group above.
local CAPTURES = {
  number = 'relayNumber',
  ['number.float'] = 'relayNumber',
  type = 'relayTypeName',
  ['type.builtin'] = 'relayTypeName',
  constructor = 'relayTypeName',
  ['function.builtin'] = 'relayCall',
  ['function.call'] = 'relayCall',
  variable = 'relayLocal',
  ['variable.parameter'] = 'relayLocal',
}

--- The marks of a comparison. One-to-many changes have a background, so that syntax highlighting stays
--- visible; partners are underlined for the same reason.
local MARKS = {
  RelayDiffChanged = { link = 'DiffChange' },
  RelayDiffText = { link = 'DiffText' },
  RelayDiffAdded = { link = 'DiffAdd' },
  RelayDiffRemoved = { link = 'DiffDelete' },
  RelayDiffFused = { link = 'CursorLine' },
  RelayDiffInlined = { link = 'CursorLine' },
  RelayDiffFolded = { link = 'CursorLine' },
  RelayDiffExpanded = { link = 'CursorLine' },
  RelayDiffPartner = { underline = true, bold = true, cterm = { underline = true, bold = true } },
  RelayDiffNote = { link = 'DiagnosticInfo' },
  RelayHeatNone = { link = 'Comment' },
  RelayHeat1 = { link = 'DiagnosticHint' },
  RelayHeat2 = { link = 'DiagnosticInfo' },
  RelayHeat3 = { link = 'DiagnosticWarn' },
  RelayHeat4 = { link = 'DiagnosticError' },
  RelayPassesDiffers = { link = 'DiagnosticError' },
  RelayDiffSignChanged = { link = 'Changed' },
  RelayDiffSignAdded = { link = 'Added' },
  RelayDiffSignRemoved = { link = 'Removed' },
  RelayDiffSignMoved = { link = 'Special' },
  RelayPassesSame = { link = 'Comment' },
}

--- Returns true if a group has no highlighting.
local function is_plain(name)
  local normal = vim.api.nvim_get_hl(0, { name = 'Normal', link = false })
  local group = vim.api.nvim_get_hl(0, { name = name, link = false })
  local kind = vim.o.termguicolors and 'fg' or 'ctermfg'
  return group[kind] == nil or group[kind] == normal[kind]
end

--- The groups as set by this module. Groups with other values were set by the user.
local ours = {}

--- Sets the groups for the current colour scheme.
function M.apply()
  for name, how in pairs(GROUPS) do
    local now = vim.api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or now.default or vim.deep_equal(now, ours[name]) then
      local fg, ctermfg = unpack(how[vim.o.background])
      local plain = { fg = fg, ctermfg = ctermfg }
      vim.api.nvim_set_hl(0, name, is_plain(how[1]) and plain or { link = how[1] })
      ours[name] = vim.api.nvim_get_hl(0, { name = name })
    end
  end
  -- Neovim's default colour of hints is too faint for reading.
  vim.api.nvim_set_hl(0, 'relayValue', { link = 'Comment', default = true })
  vim.api.nvim_set_hl(0, 'relayWeight', { link = 'Comment', default = true })
  for name, how in pairs(MARKS) do
    vim.api.nvim_set_hl(0, name, vim.tbl_extend('force', how, { default = true }))
  end
  for token, group in pairs(TOKENS) do
    vim.api.nvim_set_hl(0, ('@lsp.type.%s.relay'):format(token), { link = group, default = true })
  end
  for capture, group in pairs(CAPTURES) do
    vim.api.nvim_set_hl(0, ('@%s.relay'):format(capture), { link = group, default = true })
  end
end

--- Sets the groups, now and after each change of the colour scheme.
function M.setup()
  M.apply()
  local group = vim.api.nvim_create_augroup('relay-analyzer.colours', {})
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = M.apply })
  vim.api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = { 'termguicolors', 'background' },
    callback = M.apply,
  })
end

return M
