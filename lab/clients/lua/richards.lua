-- The scheduler of a small operating system: an idle task, a worker, two handlers and two devices send packets to each
-- other. After Martin Richards's benchmark, as a program of its own.
-- Argument: how often the system is started and runs until it stops.

local rounds = tonumber((...)) or 2

local IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = 1, 2, 3, 4, 5, 6
local WORK, DEVICE = "work", "device"
local DATA_BYTES = 4

local function packet(link, task, kind)
  local data = {}
  for i = 1, DATA_BYTES do
    data[i] = 0
  end
  return { link = link, task = task, kind = kind, datum = 0, data = data }
end

-- Adds a packet at the end of a queue.
local function append(entry, queue)
  entry.link = nil
  if not queue then
    return entry
  end
  local last = queue
  while last.link do
    last = last.link
  end
  last.link = entry
  return queue
end

local Scheduler = {}
Scheduler.__index = Scheduler

local function scheduler()
  return setmetatable({ tasks = {}, order = {}, queued = 0, held = 0 }, Scheduler)
end

function Scheduler:add(id, priority, queue, step, state)
  local task = {
    id = id, priority = priority, queue = queue, step = step, state = state,
    held = false, waiting = queue == nil,
  }
  self.tasks[id] = task
  local order = self.order
  order[#order + 1] = task
  table.sort(order, function(a, b) return a.priority > b.priority end)
  return task
end

function Scheduler:hold(task)
  self.held = self.held + 1
  task.held = true
end

function Scheduler:release(id)
  self.tasks[id].held = false
end

function Scheduler:send(from, entry)
  local to = self.tasks[entry.task]
  self.queued = self.queued + 1
  entry.task = from.id
  to.queue = append(entry, to.queue)
  to.waiting = false
end

-- The first task that may run, in the order of priorities.
function Scheduler:ready()
  for _, task in ipairs(self.order) do
    if not task.held and (task.queue or not task.waiting) then
      return task
    end
  end
end

function Scheduler:run()
  while true do
    local task = self:ready()
    if not task then
      return
    end
    local entry = task.queue
    if entry then
      task.queue = entry.link
      entry.link = nil
    end
    task.step(self, task, entry)
  end
end

-- Runs as long as its count lasts, and releases one device or the other by a shift register.
local function idle(system, task)
  local state = task.state
  state.count = state.count - 1
  if state.count == 0 then
    system:hold(task)
  elseif state.control & 1 == 0 then
    state.control = state.control >> 1
    system:release(DEVICE_A)
  else
    state.control = (state.control >> 1) ~ 0xD008
    system:release(DEVICE_B)
  end
end

-- Fills packets with letters, for one handler and the other in turn.
local function work(system, task, entry)
  local state = task.state
  if not entry then
    task.waiting = true
    return
  end
  state.to = state.to == HANDLER_A and HANDLER_B or HANDLER_A
  entry.task = state.to
  entry.datum = 0
  local data = {}
  for i = 1, DATA_BYTES do
    state.letter = state.letter % 26 + 1
    data[i] = 64 + state.letter
  end
  entry.data = data
  system:send(task, entry)
end

-- Hands the bytes of work packets to a device, one packet a byte.
local function handle(system, task, entry)
  local state = task.state
  if entry then
    if entry.kind == WORK then
      state.work = append(entry, state.work)
    else
      state.devices = append(entry, state.devices)
    end
  end
  local first = state.work
  if first then
    local count = first.datum
    if count >= DATA_BYTES then
      state.work = first.link
      first.task = WORKER
      first.link = nil
      system:send(task, first)
      return
    end
    local device = state.devices
    if device then
      state.devices = device.link
      device.link = nil
      device.datum = first.data[count + 1]
      device.task = state.device
      first.datum = count + 1
      system:send(task, device)
      return
    end
  end
  if not task.queue then
    task.waiting = true
  end
end

-- Keeps a packet until the idle task releases it.
local function device(system, task, entry)
  local state = task.state
  if entry then
    state.pending = entry
    state.count = state.count + 1
    state.last = { datum = entry.datum, from = entry.task, count = state.count }
    system:hold(task)
  elseif state.pending then
    local pending = state.pending
    state.pending = nil
    system:send(task, pending)
  else
    task.waiting = true
  end
end

local function packets(task, kind, count)
  local queue
  for _ = 1, count do
    queue = packet(queue, task, kind)
  end
  return queue
end

local function start()
  local system = scheduler()
  system:add(IDLE, 0, nil, idle, { control = 1, count = 10000 }).waiting = false
  system:add(WORKER, 1000, packets(HANDLER_A, WORK, 2), work, { to = HANDLER_A, letter = 0 })
  system:add(HANDLER_A, 2000, packets(DEVICE_A, DEVICE, 3), handle, { device = DEVICE_A })
  system:add(HANDLER_B, 3000, packets(DEVICE_B, DEVICE, 3), handle, { device = DEVICE_B })
  local a = system:add(DEVICE_A, 4000, nil, device, { count = 0 })
  local b = system:add(DEVICE_B, 5000, nil, device, { count = 0 })
  system:run()
  return system, a.state.count, b.state.count
end

for round = 1, rounds do
  local system, a, b = start()
  if round == 1 or round == rounds then
    print(("round %d: queued %d, held %d, devices %d and %d"):format(round, system.queued, system.held, a, b))
  end
end
