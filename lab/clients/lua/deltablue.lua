-- An incremental solver of one-way constraints with strengths, after the DeltaBlue algorithm (Freeman-Benson, Maloney):
-- chains of equalities and sets of scalings, edited and planned anew. A program of its own.
-- Argument: the length of the chain, and the number of scalings.

local size = tonumber((...)) or 40

local REQUIRED, STRONG, NORMAL, WEAK, WEAKEST = 0, 1, 2, 3, 4

local mark = 0
local function new_mark()
  mark = mark + 1
  return mark
end

local function variable(name, value)
  return { name = name, value = value, constraints = {}, by = nil, mark = 0, walk = WEAKEST, stays = true }
end

local function detach(v, constraint)
  for i, c in ipairs(v.constraints) do
    if c == constraint then
      table.remove(v.constraints, i)
      break
    end
  end
  if v.by == constraint then
    v.by = nil
  end
end

-- A constraint computes one of its variables, the output of its method, from the others. `methods` lists the outputs.
local Constraint = {}
Constraint.__index = Constraint

local function constraint(strength, variables, methods, is_input)
  return setmetatable({ strength = strength, variables = variables, methods = methods, input = is_input }, Constraint)
end

function Constraint:inputs()
  local found = {}
  for i, v in ipairs(self.variables) do
    if i ~= self.chosen then
      found[#found + 1] = v
    end
  end
  return found
end

function Constraint:output()
  return self.variables[self.chosen]
end

-- Chooses the method whose output is weakest, if that is weaker than the constraint.
function Constraint:choose(now)
  self.chosen = nil
  local weakest = self.strength
  for i = #self.variables, 1, -1 do
    local v = self.variables[i]
    if self.methods[i] and v.mark ~= now and v.walk > weakest then
      weakest = v.walk
      self.chosen = i
    end
  end
end

function Constraint:inputs_known(now)
  for _, v in ipairs(self:inputs()) do
    if not (v.mark == now or v.stays or v.by == nil) then
      return false
    end
  end
  return true
end

-- How strongly the output is held, whether it stays, and its value if it does.
function Constraint:recalculate()
  local out = self:output()
  local walk, stays = self.strength, not self.input
  for i, v in ipairs(self.variables) do
    if i ~= self.chosen then
      if self.methods[i] and v.walk > walk then
        walk = v.walk
      end
      stays = stays and v.stays
    end
  end
  out.walk, out.stays = walk, stays
  if stays then
    self:execute()
  end
end

function Constraint:execute()
  local compute = self.methods[self.chosen]
  local out = self:output()
  if compute ~= true then
    out.value = compute(self.variables, out.value)
  end
end

local Planner = {}
Planner.__index = Planner

function Planner:add_propagate(c, now)
  local todo = { c }
  while #todo > 0 do
    local d = table.remove(todo)
    if d:output().mark == now then
      return false
    end
    d:recalculate()
    self:consumers(d:output(), todo)
  end
  return true
end

-- Adds the constraints that read a variable.
function Planner:consumers(v, to)
  for _, c in ipairs(v.constraints) do
    if c ~= v.by and c.chosen then
      to[#to + 1] = c
    end
  end
end

-- Satisfies a constraint; returns the one that it overrides.
function Planner:satisfy(c, now)
  c:choose(now)
  if not c.chosen then
    assert(c.strength ~= REQUIRED, "a required constraint fails")
    return nil
  end
  for _, v in ipairs(c:inputs()) do
    v.mark = now
  end
  local out = c:output()
  local overridden = out.by
  if overridden then
    overridden.chosen = nil
  end
  out.by = c
  assert(self:add_propagate(c, now), "a cycle")
  out.mark = now
  return overridden
end

function Planner:add(c)
  for _, v in ipairs(c.variables) do
    v.constraints[#v.constraints + 1] = c
  end
  local now = new_mark()
  local overridden = self:satisfy(c, now)
  while overridden do
    overridden = self:satisfy(overridden, now)
  end
end

function Planner:remove(c)
  if not c.chosen then
    for _, v in ipairs(c.variables) do
      detach(v, c)
    end
    return
  end
  local out = c:output()
  c.chosen = nil
  for _, v in ipairs(c.variables) do
    detach(v, c)
  end
  local unsatisfied = self:remove_propagate(out)
  for strength = REQUIRED, WEAKEST do
    for _, u in ipairs(unsatisfied) do
      if u.strength == strength and not u.chosen then
        local now = new_mark()
        local overridden = self:satisfy(u, now)
        while overridden do
          overridden = self:satisfy(overridden, now)
        end
      end
    end
  end
end

function Planner:remove_propagate(out)
  out.by, out.walk, out.stays = nil, WEAKEST, true
  local unsatisfied, todo = {}, { out }
  while #todo > 0 do
    local v = table.remove(todo)
    for _, c in ipairs(v.constraints) do
      if not c.chosen then
        unsatisfied[#unsatisfied + 1] = c
      elseif c ~= v.by then
        c:recalculate()
        todo[#todo + 1] = c:output()
      end
    end
  end
  return unsatisfied
end

-- The constraints to execute, in order, when the inputs of some of them change.
function Planner:plan(sources)
  local now = new_mark()
  local plan, todo = {}, {}
  for _, c in ipairs(sources) do
    todo[#todo + 1] = c
  end
  while #todo > 0 do
    local c = table.remove(todo)
    local out = c:output()
    if out.mark ~= now and c:inputs_known(now) then
      plan[#plan + 1] = c
      out.mark = now
      self:consumers(out, todo)
    end
  end
  return plan
end

local function equal(strength, a, b)
  return constraint(strength, { a, b }, {
    function(v) return v[2].value end,
    function(v) return v[1].value end,
  })
end

-- b = a * scale + offset
local function scaled(strength, a, scale, offset, b)
  return constraint(strength, { a, b, scale, offset }, {
    function(v) return (v[2].value - v[4].value) // v[3].value end,
    function(v) return v[1].value * v[3].value + v[4].value end,
  })
end

local function stay(strength, v)
  return constraint(strength, { v }, { true })
end

local function edit(v)
  return constraint(STRONG, { v }, { true }, true)
end

local function change(planner, v, value)
  local c = edit(v)
  planner:add(c)
  local plan = planner:plan({ c })
  for i = 1, 10 do
    v.value = value + i
    for _, d in ipairs(plan) do
      d:execute()
    end
  end
  planner:remove(c)
  return #plan
end

local function chain(n)
  local planner = setmetatable({}, Planner)
  local vs = { variable("v0", 0) }
  for i = 1, n do
    vs[i + 1] = variable("v" .. i, 0)
    planner:add(equal(REQUIRED, vs[i], vs[i + 1]))
  end
  planner:add(stay(WEAK, vs[n + 1]))
  local steps = change(planner, vs[1], 100)
  return vs[n + 1].value, steps
end

local function projection(n)
  local planner = setmetatable({}, Planner)
  local scale, offset = variable("scale", 10), variable("offset", 1000)
  planner:add(stay(NORMAL, scale))
  planner:add(stay(NORMAL, offset))
  local from, to = {}, {}
  for i = 1, n do
    from[i], to[i] = variable("from" .. i, i), variable("to" .. i, i)
    planner:add(stay(WEAK, from[i]))
    planner:add(scaled(REQUIRED, from[i], scale, offset, to[i]))
  end
  local steps = change(planner, from[1], 17)
  steps = steps + change(planner, to[2], 1050)
  steps = steps + change(planner, scale, 5)
  steps = steps + change(planner, offset, 2000)
  local sum = 0
  for i = 1, n do
    sum = sum + to[i].value
  end
  return sum, steps, from[2].value
end

for round = 1, 5 do
  local value, steps = chain(size)
  print(("chain of %d: value %d in %d steps"):format(size, value, steps))
  local sum, projected, back = projection(size)
  print(("projection of %d: sum %d in %d steps, back to %d"):format(size, sum, projected, back))
  size = size + round
end
