--- Relay within Python and Markdown: the server is started where there is some.
local M = {}

--- The file types that Relay is embedded in.
M.filetypes = { 'python', 'markdown' }

--- Files of other languages with more lines are not searched.
local MAX_LINES = 50000

--- What takes a text of Relay, as patterns. The server looks closer.
local PYTHON = { 'fromtext%s*%(', 'parse_expr%s*%(', 'relay%.parse%s*%(', 'parser%.parse%s*%(', '#%[version', '^%%%%relay' }
local MARKDOWN = { '```+%s*{?%.?[Rr]elay', '~~~+%s*{?%.?[Rr]elay' }

---@param buffer integer
---@return boolean
function M.is_host(buffer)
  return vim.list_contains(M.filetypes, vim.bo[buffer].filetype)
end

--- Whether a buffer of another language may hold Relay.
---@param buffer integer
---@return boolean
function M.has_relay(buffer)
  if not M.is_host(buffer) or vim.bo[buffer].buftype ~= '' then
    return false
  end
  local patterns = vim.bo[buffer].filetype == 'python' and PYTHON or MARKDOWN
  return vim.iter(vim.api.nvim_buf_get_lines(buffer, 0, MAX_LINES, false)):any(function(line)
    return vim.iter(patterns):any(function(pattern)
      return line:find(pattern) ~= nil
    end)
  end)
end

--- Whether the server is to know of a buffer.
---@param buffer integer
---@return boolean
function M.wants_server(buffer)
  return not M.is_host(buffer) or (require('relay-analyzer').wants_embedded() and M.has_relay(buffer))
end

--- Of a client that was attached to a buffer of another language: `gq` stays with the other plugins, since
--- this server formats files of Relay only.
---@param buffer integer
function M.attached(buffer)
  if vim.bo[buffer].formatexpr == 'v:lua.vim.lsp.formatexpr()' then
    local others = vim.iter(vim.lsp.get_clients({ bufnr = buffer })):any(function(client)
      return client.name ~= require('relay-analyzer').name
        and client.server_capabilities.documentRangeFormattingProvider ~= nil
    end)
    if not others then
      vim.bo[buffer].formatexpr = nil
    end
  end
end

return M
