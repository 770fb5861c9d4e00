--- Requests to the server that Neovim does not send itself.
local M = {}

--- The client of a buffer, or nil after showing a message.
---@param buffer integer
---@return vim.lsp.Client?
function M.client(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = require('relay-analyzer').name })[1]
  if not client then
    vim.notify('relay-analyzer: no server is attached to this buffer', vim.log.levels.WARN)
  end
  return client
end

--- The current buffer and the position of the cursor in it as the server counts, or nil after showing a message.
---@return integer?, lsp.Position?
function M.at_cursor()
  local buffer = vim.api.nvim_get_current_buf()
  local client = M.client(buffer)
  if client then
    return buffer, vim.lsp.util.make_position_params(0, client.offset_encoding).position
  end
end

--- The timeout of requests that block Neovim, in milliseconds.
local PATIENCE = 20000

--- A client for requests about any file: that of the buffer, any running one, or a new one that is not
--- attached. Returns nil after showing a message if there is none.
---@param buffer integer
---@return vim.lsp.Client?
function M.any_client(buffer)
  local relay = require('relay-analyzer')
  local found = vim.lsp.get_clients({ bufnr = buffer, name = relay.name })[1] or relay.clients()[1]
  if found then
    return found
  elseif not relay.is_installed() then
    relay.tell_missing()
    return nil
  end
  local config = vim.tbl_extend('force', vim.lsp.config and vim.lsp.config[relay.name] or relay.client_config(), {
    name = relay.name,
    root_dir = relay.root(buffer),
  })
  local id
  if vim.lsp.config then
    id = vim.lsp.start(config, { attach = false })
  else
    id = vim.lsp.start_client(config)
  end
  -- It is listed among the clients once it is initialized, and is gone if the program ends.
  vim.wait(PATIENCE, function()
    return #relay.clients() > 0 or not id or not vim.lsp.get_client_by_id(id)
  end, 1)
  return relay.clients()[1]
end

--- Returns true if the server has the text of a buffer.
---@param client vim.lsp.Client
---@param buffer integer
---@return boolean
function M.has_text(client, buffer)
  return vim.lsp.buf_is_attached(buffer, client.id)
end

--- Shows an error from the server.
---@param problem lsp.ResponseError
local function tell(problem)
  vim.notify('relay-analyzer: ' .. (problem.message or vim.inspect(problem)), vim.log.levels.ERROR)
end

--- Sends a request. Returns a function that cancels it, or nil if it could not be sent.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@param handler fun(problem: lsp.ResponseError?, result: any)
---@return fun()?
function M.start(client, buffer, method, params, handler)
  -- Since 0.11 these are methods, called with a colon.
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

--- Sends a request, and calls `answer` with the result. Errors due to a change of the text are ignored;
--- others are shown.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@param answer fun(result: any)
---@param failed? fun() is called before an error is shown
function M.send(client, buffer, method, params, answer, failed)
  M.start(client, buffer, method, params, function(problem, result)
    if not problem then
      answer(result)
    elseif problem.code ~= vim.lsp.protocol.ErrorCodes.ContentModified then
      if failed then
        failed()
      end
      tell(problem)
    end
  end)
end

--- Sends a request and waits for the result. Returns nil and a reason if there is none.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@return any
---@return lsp.ResponseError?
function M.try(client, buffer, method, params)
  local answer, problem
  if vim.lsp.config then
    answer, problem = client:request_sync(method, params, PATIENCE, buffer)
  else
    answer, problem = client.request_sync(method, params, PATIENCE, buffer)
  end
  if answer and not answer.err then
    return answer.result
  end
  return nil, answer and answer.err or { message = ('no answer to %s: %s'):format(method, problem) }
end

--- Does the same, as for the text of a buffer that is being read, and shows the error.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@return any
function M.wait(client, buffer, method, params)
  local result, problem = M.try(client, buffer, method, params)
  if problem then
    tell(problem)
  end
  return result
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
