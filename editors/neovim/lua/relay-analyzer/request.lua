--- Questions to the server that Neovim itself does not ask.
local M = {}

--- The client of a buffer, or nil, which is said.
---@param buffer integer
---@return vim.lsp.Client?
function M.client(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = require('relay-analyzer').name })[1]
  if not client then
    vim.notify('relay-analyzer: no server is attached to this buffer', vim.log.levels.WARN)
  end
  return client
end

--- Sends a request. What it gives back cancels the request; nil where it could not be sent.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@param handler fun(problem: lsp.ResponseError?, result: any)
---@return fun()?
function M.start(client, buffer, method, params, handler)
  -- The methods are called with a colon from 0.11 on.
  if vim.lsp.config then
    local sent, id = client:request(method, params, handler, buffer)
    return sent and id and function()
      client:cancel_request(id)
    end or nil
  end
  local sent, id = client.request(method, params, handler, buffer)
  return sent and id and function()
    client.cancel_request(id)
  end or nil
end

--- Asks, and calls `answer` with the result. A question that a change of the text has overtaken is
--- silent; other errors are said.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@param answer fun(result: any)
function M.send(client, buffer, method, params, answer)
  M.start(client, buffer, method, params, function(problem, result)
    if not problem then
      answer(result)
    elseif problem.code ~= vim.lsp.protocol.ErrorCodes.ContentModified then
      vim.notify('relay-analyzer: ' .. (problem.message or vim.inspect(problem)), vim.log.levels.ERROR)
    end
  end)
end

--- The line (from 0) and the byte column of a position of the protocol.
---@param client vim.lsp.Client
---@param buffer integer
---@param position { line: integer, character: integer }
---@return integer, integer
function M.place(client, buffer, position)
  local line = vim.api.nvim_buf_get_lines(buffer, position.line, position.line + 1, false)[1] or ''
  local encoding = client.offset_encoding
  if encoding == 'utf-8' then
    return position.line, math.min(position.character, #line)
  end
  local fine, column = pcall(vim.str_byteindex, line, position.character, encoding == 'utf-16')
  return position.line, fine and column or #line
end

return M
