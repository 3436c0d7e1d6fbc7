-- Strings: text is made of words, split, counted, sorted, replaced, formatted and joined.
-- Argument: how many rounds.

local rounds = tonumber((...)) or 4

local seed = 7
local function random(n)
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 8) % n
end

local function word()
  local letters = {}
  for i = 1, 2 + random(9) do
    letters[i] = string.char(97 + random(26))
  end
  return table.concat(letters)
end

local vocabulary = {}
for i = 1, 400 do
  vocabulary[i] = word()
end

local function text(words)
  local made = {}
  for i = 1, words do
    local w = vocabulary[1 + random(#vocabulary)]
    made[i] = random(10) == 0 and w:sub(1, 1):upper() .. w:sub(2) .. "." or w
  end
  return table.concat(made, " ")
end

local function counted(t)
  local counts, order = {}, {}
  for w in t:gmatch("%a+") do
    w = w:lower()
    if not counts[w] then
      order[#order + 1] = w
    end
    counts[w] = (counts[w] or 0) + 1
  end
  table.sort(order, function(a, b)
    return counts[a] > counts[b] or counts[a] == counts[b] and a < b
  end)
  return counts, order
end

local function reversed_words(t)
  return (t:gsub("%a+", function(w) return w:reverse() end))
end

local function wrapped(t, width)
  local lines, line = {}, ""
  for w in t:gmatch("%S+") do
    if #line + #w + 1 > width then
      lines[#lines + 1] = line
      line = w
    else
      line = line == "" and w or line .. " " .. w
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function encoded(t)
  local runs = {}
  local at = 1
  while at <= #t do
    local c = t:sub(at, at)
    local stop = at
    while t:sub(stop + 1, stop + 1) == c do
      stop = stop + 1
    end
    runs[#runs + 1] = ("%d%s"):format(stop - at + 1, c)
    at = stop + 1
  end
  return table.concat(runs, ",")
end

local checksum = 0
local function sum(s)
  for i = 1, #s, 13 do
    checksum = (checksum * 31 + s:byte(i)) & 0xffffffff
  end
  return #s
end

local total, kept = 0, {}
for round = 1, rounds do
  local t = text(500 + random(1500))
  local counts, order = counted(t)
  local lines = wrapped(t, 60)
  local page = table.concat(lines, "\n")
  local backwards = reversed_words(page)
  assert(reversed_words(backwards) == page, "reversed twice is the same")
  local padded = ("%-20s|%10.3f|%s"):format(order[1], counts[order[1]] / #order, ("="):rep(counts[order[1]]))
  total = total + sum(page) + sum(backwards) + sum(padded) + sum(encoded(t:sub(1, 400)))
  total = total + sum(("ab"):rep(2000 + 100 * round % 1000, "-")) + sum(t:upper():lower())
  kept[(round - 1) % 8 + 1] = page
end
local joined = table.concat(kept, "\f")
print(("rounds %d, bytes %d, kept %d, checksum %08x"):format(rounds, total, sum(joined), checksum))
