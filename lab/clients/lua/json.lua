-- JSON: documents are made, written as text, read again, and compared.
-- Argument: how many documents.

local documents = tonumber((...)) or 4

local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 8) % n
end

-- ---- writing ----

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }

local function quoted(s)
  return '"' .. s:gsub('[%c"\\]', function(c)
    return escapes[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local write

local function sorted_keys(object)
  local keys = {}
  for key in pairs(object) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

local function write_list(list, out)
  out[#out + 1] = "["
  for i, value in ipairs(list) do
    if i > 1 then
      out[#out + 1] = ","
    end
    write(value, out)
  end
  out[#out + 1] = "]"
end

local function write_object(object, out)
  out[#out + 1] = "{"
  for i, key in ipairs(sorted_keys(object)) do
    if i > 1 then
      out[#out + 1] = ","
    end
    out[#out + 1] = quoted(key)
    out[#out + 1] = ":"
    write(object[key], out)
  end
  out[#out + 1] = "}"
end

function write(value, out)
  local kind = type(value)
  if kind == "table" then
    if #value > 0 or next(value) == nil then
      write_list(value, out)
    else
      write_object(value, out)
    end
  elseif kind == "string" then
    out[#out + 1] = quoted(value)
  elseif math.type(value) == "float" then
    out[#out + 1] = ("%.17g"):format(value)
  else
    out[#out + 1] = tostring(value)
  end
end

local function to_text(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

-- ---- reading ----

local read

local function fail(at, what)
  error(("at byte %d: %s expected"):format(at, what))
end

local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

local unescapes = { n = "\n", t = "\t", r = "\r" }

local function read_string(text, at)
  local stop = at + 1
  while true do
    stop = text:find('["\\]', stop) or fail(at, "the end of a string")
    if text:byte(stop) == 34 then
      break
    end
    stop = stop + 2
  end
  local body = text:sub(at + 1, stop - 1)
  if body:find("\\", 1, true) then
    body = body:gsub("\\u(%x%x%x%x)", function(hex) return utf8.char(tonumber(hex, 16)) end)
    body = body:gsub("\\(.)", function(c) return unescapes[c] or c end)
  end
  return body, stop + 1
end

local function read_list(text, at)
  local list = {}
  at = skip(text, at + 1)
  if text:sub(at, at) == "]" then
    return list, at + 1
  end
  while true do
    list[#list + 1], at = read(text, at)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "]" then
      return list, at + 1
    elseif c ~= "," then
      fail(at, "a comma")
    end
    at = skip(text, at + 1)
  end
end

local function read_object(text, at)
  local object = {}
  at = skip(text, at + 1)
  if text:sub(at, at) == "}" then
    return object, at + 1
  end
  while true do
    local key
    key, at = read_string(text, at)
    at = skip(text, at)
    if text:sub(at, at) ~= ":" then
      fail(at, "a colon")
    end
    object[key], at = read(text, skip(text, at + 1))
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "}" then
      return object, at + 1
    elseif c ~= "," then
      fail(at, "a comma")
    end
    at = skip(text, at + 1)
  end
end

local words = { ["true"] = true, ["false"] = false }

function read(text, at)
  local c = text:sub(at, at)
  if c == "{" then
    return read_object(text, at)
  elseif c == "[" then
    return read_list(text, at)
  elseif c == '"' then
    return read_string(text, at)
  end
  local word = text:match("^%a+", at)
  if word then
    return words[word], at + #word
  end
  local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at) or fail(at, "a value")
  return math.tointeger(number) or tonumber(number), at + #number
end

-- ---- documents ----

local syllables = { "ka", "lo", "mi", "nu", "ret", "sal", "tor", "ve", "\"q\"", "back\\slash", "line\n" }

local function name(parts)
  local made = {}
  for i = 1, parts do
    made[i] = syllables[1 + random(#syllables)]
  end
  return table.concat(made)
end

local function value(depth)
  local kind = random(depth > 0 and 7 or 4)
  if kind == 0 then
    return random(1000000)
  elseif kind == 1 then
    return random(1000000) / 7
  elseif kind == 2 then
    return name(1 + random(12))
  elseif kind == 3 then
    return random(2) == 0
  end
  local made = {}
  if kind == 4 then
    for i = 1, random(12) do
      made[i] = value(depth - 1)
    end
  else
    for _ = 1, 1 + random(10) do
      made[name(1 + random(3))] = value(depth - 1)
    end
  end
  return made
end

local function count(v)
  if type(v) ~= "table" then
    return 1
  end
  local total = 1
  for _, inner in pairs(v) do
    total = total + count(inner)
  end
  return total
end

local bytes, values, checksum = 0, 0, 0
for _ = 1, documents do
  local document = {}
  for i = 1, 8 do
    document[i] = { id = i, name = name(3), value = value(3) }
  end
  local text = to_text(document)
  local again, stop = read(text, 1)
  assert(stop == #text + 1, "something follows")
  assert(to_text(again) == text, "what was read is not what was written")
  bytes = bytes + #text
  values = values + count(again)
  for i = 1, #text, 97 do
    checksum = (checksum * 31 + text:byte(i)) & 0xffffffff
  end
end
print(("documents %d, bytes %d, values %d, checksum %08x"):format(documents, bytes, values, checksum))
