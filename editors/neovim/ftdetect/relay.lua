vim.filetype.add({
  extension = { relay = 'relay', rly = 'relay' },
  pattern = {
    -- Dumps are often saved as text.
    ['.*%.txt'] = function(_, buffer)
      local first = buffer and vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1]
      if first and first:find('^#%[version%s*=') then
        return 'relay'
      end
    end,
  },
})
