-- Complete binary trees: many short-lived ones beside one that stays.
-- Argument: the greatest depth.

local depth = tonumber((...)) or 10
local least = 4

local function tree(d)
  if d == 0 then
    return {}
  end
  return { tree(d - 1), tree(d - 1) }
end

local function nodes(t)
  local left = t[1]
  if not left then
    return 1
  end
  return 1 + nodes(left) + nodes(t[2])
end

local most = math.max(least + 2, depth)
io.write("stretch: depth ", most + 1, ", nodes ", nodes(tree(most + 1)), "\n")

local stays = tree(most)
for d = least, most, 2 do
  local count = 1 << (most - d + least)
  local sum = 0
  for _ = 1, count do
    sum = sum + nodes(tree(d))
  end
  io.write(count, " trees of depth ", d, ": nodes ", sum, "\n")
end
io.write("the one that stays: depth ", most, ", nodes ", nodes(stays), "\n")
