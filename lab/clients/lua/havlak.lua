-- The loops of control-flow graphs, reducible or not, after Havlak (1997): a depth-first numbering, and sets of nodes that
-- are merged as their loops are found. A program of its own.
-- Argument: how many times a graph of nested loops is built and searched.

local rounds = tonumber((...)) or 2

local function graph()
  return { blocks = {}, edges = 0 }
end

local function block(g, id)
  local found = g.blocks[id]
  if not found then
    found = { id = id, from = {}, to = {} }
    g.blocks[id] = found
  end
  return found
end

local function edge(g, a, b)
  local from, to = block(g, a), block(g, b)
  from.to[#from.to + 1] = to
  to.from[#to.from + 1] = from
  g.edges = g.edges + 1
end

-- A body of two ways that meet again; returns its last block.
local function diamond(g, at)
  edge(g, at, at + 1)
  edge(g, at, at + 2)
  edge(g, at + 1, at + 3)
  edge(g, at + 2, at + 3)
  return at + 3
end

local function straight(g, at, length)
  for i = 1, length do
    edge(g, at + i - 1, at + i)
  end
  return at + length
end

-- A loop, or several nested ones, around diamonds; returns its last block.
local function nest(g, at, depth)
  local header = straight(g, at, 1)
  local last = diamond(g, header)
  if depth > 1 then
    last = nest(g, last, depth - 1)
    last = nest(g, last, depth - 1)
  end
  edge(g, last, header)
  return straight(g, last, 1)
end

-- Numbers blocks depth first; `last[i]` is the greatest number in the tree below `i`.
local function number(g, root)
  local numbers, nodes, last = {}, {}, {}
  local stack = { { block = root, next = 1 } }
  numbers[root] = 1
  nodes[1] = root
  local count = 1
  while #stack > 0 do
    local frame = stack[#stack]
    local to = frame.block.to[frame.next]
    if to then
      frame.next = frame.next + 1
      if not numbers[to] then
        count = count + 1
        numbers[to] = count
        nodes[count] = to
        stack[#stack + 1] = { block = to, next = 1 }
      end
    else
      last[numbers[frame.block]] = count
      stack[#stack] = nil
    end
  end
  return numbers, nodes, last, count
end

local function find(sets, i)
  local root = i
  while sets[root] ~= root do
    root = sets[root]
  end
  while sets[i] ~= root do
    sets[i], i = root, sets[i]
  end
  return root
end

local function loops(g, root)
  local numbers, nodes, last, count = number(g, root)
  local function is_above(a, b)
    return a <= b and b <= last[a]
  end
  local back, other, sets, header, kind = {}, {}, {}, {}, {}
  for i = 1, count do
    back[i], other[i], sets[i], header[i], kind[i] = {}, {}, i, 1, "none"
    for _, from in ipairs(nodes[i].from) do
      local j = numbers[from]
      if j then
        local list = is_above(i, j) and back[i] or other[i]
        list[#list + 1] = j
      end
    end
  end
  local found = {}
  for i = count, 1, -1 do
    local body, is_in, todo = {}, {}, {}
    local function add(j)
      if not is_in[j] then
        is_in[j] = true
        body[#body + 1] = j
        todo[#todo + 1] = j
      end
    end
    for _, j in ipairs(back[i]) do
      if j == i then
        kind[i] = "self"
      else
        add(find(sets, j))
      end
    end
    if #body > 0 then
      kind[i] = "reducible"
    end
    while #todo > 0 do
      local j = table.remove(todo)
      for _, from in ipairs(other[j]) do
        local k = find(sets, from)
        if not is_above(i, k) then
          kind[i] = "irreducible"
          other[i][#other[i] + 1] = k
        elseif k ~= i then
          add(k)
        end
      end
    end
    if #body > 0 or kind[i] == "self" then
      local loop = { header = i, body = body, kind = kind[i], inner = {} }
      for _, j in ipairs(body) do
        header[j] = i
        sets[j] = i
        if found[j] then
          loop.inner[#loop.inner + 1] = found[j]
          found[j].outer = loop
        end
      end
      found[i] = loop
    end
  end
  return found, count
end

local function depth_of(loop)
  local depth = 0
  while loop do
    depth = depth + 1
    loop = loop.outer
  end
  return depth
end

local function describe(g)
  local found, count = loops(g, g.blocks[0])
  local total, deepest, irreducible = 0, 0, 0
  for i = 1, count do
    local loop = found[i]
    if loop then
      total = total + 1
      deepest = math.max(deepest, depth_of(loop))
      if loop.kind == "irreducible" then
        irreducible = irreducible + 1
      end
    end
  end
  return count, total, deepest, irreducible
end

for round = 1, rounds do
  local g = graph()
  block(g, 0)
  local at = 0
  for i = 1, 6 do
    at = nest(g, at, 1 + (round + i) % 5)
    edge(g, at, at)
    at = straight(g, at, 1)
  end
  -- A second entry makes two loops irreducible.
  edge(g, 0, 3)
  edge(g, 1, at - 2)
  local blocks, total, deepest, irreducible = describe(g)
  print(("round %d: blocks %d, edges %d, loops %d, deepest %d, irreducible %d"):format(
    round, blocks, g.edges, total, deepest, irreducible))
end
