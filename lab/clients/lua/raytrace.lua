-- A ray tracer: spheres over a checked floor, with shadows and reflections. Every vector is an object.
-- Argument: width and height of the picture.

local size = tonumber((...)) or 16

local Vector = {}
Vector.__index = Vector

local function vector(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vector)
end

function Vector.__add(a, b) return vector(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vector.__sub(a, b) return vector(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vector.__mul(a, s) return vector(a.x * s, a.y * s, a.z * s) end
function Vector:dot(b) return self.x * b.x + self.y * b.y + self.z * b.z end
function Vector:unit() return self * (1 / math.sqrt(self:dot(self))) end
function Vector:mirrored(normal) return self - normal * (2 * self:dot(normal)) end

local function ray(origin, direction)
  return { origin = origin, direction = direction }
end

local Sphere = {}
Sphere.__index = Sphere

local function sphere(centre, radius, colour, shine)
  return setmetatable({ centre = centre, radius = radius, colour = colour, shine = shine }, Sphere)
end

function Sphere:hit(r)
  local between = self.centre - r.origin
  local along = between:dot(r.direction)
  local distance = between:dot(between) - along * along
  local inside = self.radius * self.radius - distance
  if inside <= 0 then
    return nil
  end
  local t = along - math.sqrt(inside)
  if t > 1e-4 then
    return t
  end
end

function Sphere:normal(point)
  return (point - self.centre):unit()
end

function Sphere:colour_at()
  return self.colour
end

local Floor = { shine = 0.2 }
Floor.__index = Floor

function Floor:hit(r)
  if r.direction.y < -1e-6 then
    return (-1 - r.origin.y) / r.direction.y
  end
end

function Floor:normal()
  return vector(0, 1, 0)
end

function Floor:colour_at(point)
  local is_dark = (math.floor(point.x) + math.floor(point.z)) % 2 == 0
  return is_dark and vector(0.1, 0.1, 0.1) or vector(0.9, 0.9, 0.9)
end

local things = { setmetatable({}, Floor) }
for i = 0, 8 do
  local x, z = i % 3 - 1, 4 + i // 3
  things[#things + 1] = sphere(vector(x * 1.5, (i % 2) * 0.8, z), 0.6,
    vector(0.3 + 0.2 * (i % 3), 0.9 - 0.1 * i, 0.2 + 0.08 * i), 0.3)
end
local lights = { vector(-5, 6, -2), vector(4, 8, 0) }

local function nearest(r)
  local best, thing
  for _, candidate in ipairs(things) do
    local t = candidate:hit(r)
    if t and t > 1e-4 and (not best or t < best) then
      best, thing = t, candidate
    end
  end
  return best, thing
end

local function lit(point, normal)
  local sum = 0.1
  for _, light in ipairs(lights) do
    local towards = light - point
    local distance = math.sqrt(towards:dot(towards))
    local direction = towards * (1 / distance)
    local facing = direction:dot(normal)
    if facing > 0 then
      local t = nearest(ray(point, direction))
      if not t or t > distance then
        sum = sum + 0.6 * facing
      end
    end
  end
  return sum
end

local function trace(r, depth)
  local t, thing = nearest(r)
  if not t then
    local up = 0.5 * (r.direction.y + 1)
    return vector(1, 1, 1) * (1 - up) + vector(0.4, 0.6, 1) * up
  end
  local point = r.origin + r.direction * t
  local normal = thing:normal(point)
  local colour = thing:colour_at(point) * lit(point, normal)
  if depth > 0 and thing.shine > 0 then
    local mirrored = trace(ray(point, r.direction:mirrored(normal):unit()), depth - 1)
    colour = colour * (1 - thing.shine) + mirrored * thing.shine
  end
  return colour
end

local function byte(part)
  return math.floor(math.min(1, math.max(0, part)) * 255 + 0.5)
end

local checksum, rows = 0, {}
local shades = " .:-=+*#%@"
for row = 1, size do
  local line = {}
  for column = 1, size do
    local x, y = 2 * column / size - 1, 1 - 2 * row / size
    local c = trace(ray(vector(0, 0.5, -3), vector(x, y, 2):unit()), 3)
    local red, green, blue = byte(c.x), byte(c.y), byte(c.z)
    checksum = (checksum * 31 + (red << 16 | green << 8 | blue)) & 0xffffffff
    local shade = 1 + (red + green + blue) * 9 // 765
    line[column] = shades:sub(shade, shade)
  end
  rows[row] = table.concat(line)
end
if size <= 64 then
  print(table.concat(rows, "\n"))
end
print(("picture %d by %d, checksum %08x"):format(size, size, checksum))
