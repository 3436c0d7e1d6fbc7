-- Tables, strings, closures, coroutines and finalizers; under the incremental and the generational collector.
local function digest(text, sum)
  for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 4294967291 end
  return sum
end

local finalized = 0
local function work(seed)
  local state = seed
  local function next() state = (state * 1103515245 + 12345) % 2147483648; return state // 256 end
  local kept, sum = {}, 0
  for step = 1, 150000 do
    local record = { name = "r" .. next() % 10000, list = {} }
    for i = 1, next() % 12 do record.list[i] = { i * step, tostring(i) } end
    if step % 50 == 0 then setmetatable(record, { __gc = function() finalized = finalized + 1 end }) end
    kept[next() % 3000] = record
  end
  local names = {}
  for i = 0, 2999 do if kept[i] then names[#names + 1] = kept[i].name .. "." .. #kept[i].list end end
  table.sort(names)
  local text = table.concat(names, ","):rep(3)
  text = text:gsub("r(%d)", "%1r"):upper()
  sum = digest(text, sum)
  local threads = {}
  for i = 1, 2000 do
    threads[i] = coroutine.wrap(function(n) while true do n = n + coroutine.yield(("x"):rep(n % 200) .. n) end end)
  end
  for round = 1, 5 do for i = 1, #threads do sum = digest(threads[i](i * round), sum) end end
  return #text .. " " .. sum
end

collectgarbage("incremental")
print(work(1), work(2))
collectgarbage("generational")
print(work(1), work(3))
collectgarbage("incremental", 100, 400)
local large = {}
for i = 1, 40 do large[i % 5] = ("0123456789"):rep(100000 + i) end
print(#large[0], digest(large[3]:sub(1, 1000), 7))
large = nil
collectgarbage()
print(finalized)
