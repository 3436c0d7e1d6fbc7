-- Runs before every script: what could break memory is gone afterwards. Lua does not verify compiled functions, nor what C
-- libraries and most of `debug` do. The functions that are taken away stay here, where no script can reach them.

local load, loadfile, error, type = load, loadfile, error, type
local package, searchpath = package, package.searchpath
local getinfo = debug.getinfo

-- Text only: a mode that does not allow it allows nothing.
local function text(mode)
  if mode == nil or mode == "t" or mode == "bt" or mode == "tb" then return "t" end
  return ""
end

function _G.load(chunk, name, mode, ...) return load(chunk, name, text(mode), ...) end

function _G.loadfile(name, mode, ...) return loadfile(name, text(mode), ...) end

function _G.dofile(name)
  local chunk, message = loadfile(name, "t")
  if not chunk then error(message, 0) end
  return chunk()
end

package.loadlib = nil
package.searchers = { package.searchers[1], function(name)
  local file, message = searchpath(name, package.path)
  if not file then return message end
  local chunk, wrong = loadfile(file, "t")
  if not chunk then error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. wrong, 0) end
  return chunk, file
end }

-- A function on the stack may be one of those that were taken away.
local function told(info)
  if info then info.func = nil end
  return info
end

debug = { traceback = debug.traceback, getinfo = function(of, level, what)
  if type(of) == "thread" then return told(getinfo(of, level, what)) end
  if type(of) == "number" then of = of + 1 end
  return told(getinfo(of, level))
end }
package.loaded.debug = debug
