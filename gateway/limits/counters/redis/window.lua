-- Decides many requests in one call: the algorithm of `../window.ts`, on lists in Redis. Atomic, by the server's clock; a refusal writes
-- nothing.
--
-- ARGV[1] is a JSON array: the prefix of all counter names, the clock in milliseconds or 0 for the server's, the number of the call, then
-- per charge a text and the counter. The text is "limit,window,cost,enforced,last", where last marks the end of one request's charges.
-- The script takes no KEYS, because a Cluster server rejects a command whose keys are in several slots, even if it holds all of them.
--
-- Reply, as doubles in one string: the number of the call, the clock, then per request how far ahead of the clock it was decided (0 unless
-- the clock was set back), then per charge the figures that `toLimitDecision` of `../counter-store.ts` takes.
--
-- A counter is a list of entries of 17 bytes each: latest admission, units admitted before the entry, units in it, number of times its
-- grain was halved. A grain is a piece of time whose admissions share one entry (docs/decisions/0002-sliding-window.md). The total of a
-- window is the difference between its newest and its oldest entry: after 3 and then 2 units the list is (t1, 0, 3), (t2, 3, 2), and the
-- total is 3 + 2 - 0 = 5.

local call, pack, unpack, unpackAll = redis.call, struct.pack, struct.unpack, unpack
local floor = math.floor
local ENTRY = '<I6I6I4B'

local question = cjson.decode(ARGV[1])
local prefix, clock, number = question[1], question[2], question[3]
if clock == 0 then
  local time = call('TIME')
  clock = time[1] * 1000 + floor(time[2] / 1000)
end

-- Few rules serve many callers, so each is parsed once per call.
local parsed = {}
local function parse(text)
  local limit, window, cost, enforced, last = string.match(text, '^(%d+),(%d+),(%d+),([01]),([01])$')
  local charge = {
    limit = tonumber(limit), window = tonumber(window), cost = tonumber(cost),
    enforced = enforced == '1', last = last == '1',
  }
  parsed[text] = charge
  return charge
end

local function entry(key, index)
  local item = call('LINDEX', key, index)
  if not item then return nil end
  local last, before, count, halvings = unpack(ENTRY, item)
  return last, before, before + count, halvings
end

-- Returns the index of the first entry that satisfies the test. The search begins at `from`, and the newest entry must satisfy the test.
-- The entry is usually near `from`. The search therefore takes steps that double in length, and then bisects.
local function search(key, from, satisfies)
  local low, high, step = from, call('LLEN', key) - 1, 1
  while low < high do
    local middle = math.min(low + step - 1, floor((low + high) / 2))
    local last, _, after = entry(key, middle)
    if satisfies(last, after) then high = middle else low, step = middle + 1, step * 2 end
  end
  return low
end

-- Per charge; newest, before, after and halvings describe the newest entry.
local names, keys, charges = {}, {}, {}
local newest, before, after, halvings = {}, {}, {}, {}
local expired, oldest, total, wait = {}, {}, {}, {}

local function checkCost(i, at)
  local key, charge = keys[i], charges[i]
  local border = at - charge.window
  expired[i], total[i], oldest[i], wait[i] = 0, 0, nil, 0
  if newest[i] and newest[i] > border then
    local last, spent = entry(key, 0)
    if last <= border then
      expired[i] = search(key, 1, function(l) return l > border end)
      last, spent = entry(key, expired[i])
    end
    oldest[i], total[i] = last, after[i] - spent
  end
  if charge.cost == 0 or total[i] + charge.cost <= charge.limit then return true end
  if charge.cost > charge.limit then
    wait[i] = charge.window
  else
    local needed = after[i] + charge.cost - charge.limit
    local last = entry(key, search(key, expired[i], function(_, a) return a >= needed end))
    wait[i] = last + charge.window - clock
  end
  return not charge.enforced
end

local function isOneGrain(one, other, grain)
  return floor(one / grain) == floor(other / grain)
end

-- Number of halvings after which no two milliseconds share a grain.
local function halvingsOfFinest(coarsest)
  local _, exponent = math.frexp(coarsest)
  return exponent
end

-- Whether the entries are in few enough grains of this length.
local function isFew(lasts, grain)
  local count, former = 1, floor(lasts[1] / grain)
  for i = 2, #lasts do
    local own = floor(lasts[i] / grain)
    if own ~= former then
      count, former = count + 1, own
      if count > ENTRIES_MERGED then return false end
    end
  end
  return true
end

-- Returns how often to halve the coarsest grain, between 0 and `most`: the largest number after which the merge leaves few enough entries.
-- More halvings never leave fewer entries, so the number can be found by bisection.
local function halvingsThatMerge(lasts, coarsest, most)
  local low, high = 0, most
  while low < high do
    local middle = floor((low + high + 1) / 2)
    if isFew(lasts, coarsest / 2 ^ middle) then low = middle else high = middle - 1 end
  end
  return low
end

-- Merges the entries that share a grain, with the finest grain that leaves few enough entries.
local function merge(i, coarsest)
  local lasts, befores, afters, merged = {}, {}, {}, {}
  for j, item in ipairs(call('LRANGE', keys[i], 0, -1)) do
    local last, before, count = unpack(ENTRY, item)
    lasts[j], befores[j], afters[j] = last, before, before + count
  end
  local halved = halvingsThatMerge(lasts, coarsest, math.max(0, halvings[i] - 1))
  local grain = coarsest / 2 ^ halved
  local from = 1
  for j = 1, #lasts do
    if j == #lasts or not isOneGrain(lasts[j], lasts[j + 1], grain) then
      if from == 1 then oldest[i] = lasts[j] end
      merged[#merged + 1] = pack(ENTRY, lasts[j], befores[from], afters[j] - befores[from], halved)
      from = j + 1
    end
  end
  call('DEL', keys[i])
  call('RPUSH', keys[i], unpackAll(merged))
end

-- The number of entries above which neighbours are merged. Counters that fill at the same rate must not all be merged at the same moment.
local function mergedAbove(i)
  if charges[i].limit <= ENTRIES_MAX then return ENTRIES_MAX end
  return ENTRIES_MAX - tonumber(string.sub(redis.sha1hex(names[i]), 1, 6), 16) % ENTRIES_SPREAD
end

-- Adds an entry. RPUSH comes first: a server without memory rejects commands that allocate, but only before the script has written.
local function open(i, at)
  local key, charge = keys[i], charges[i]
  local coarsest = charge.window / GRAINS_PER_WINDOW
  local count = oldest[i] and call('LLEN', key) - expired[i] or 0
  if count == 0 then after[i], oldest[i] = 0, at end
  if count < ENTRIES_FEW then halvings[i] = halvingsOfFinest(coarsest) end
  call('RPUSH', key, pack(ENTRY, at, after[i], charge.cost, halvings[i]))
  if count == 0 and newest[i] then
    call('LTRIM', key, -1, -1)
  elseif expired[i] > 0 then
    call('LTRIM', key, expired[i], -1)
  end
  local merges = count > ENTRIES_MAX - ENTRIES_SPREAD and count >= mergedAbove(i)
  if merges then merge(i, coarsest) end
  -- The expiry includes one grain, so admissions within the same hundredth of the window need not extend it.
  if merges or not newest[i] or not isOneGrain(at, newest[i], coarsest) then
    call('PEXPIRE', key, at - clock + charge.window + coarsest)
  end
end

local function spend(i, at)
  local charge = charges[i]
  local grain = oldest[i] and charge.window / GRAINS_PER_WINDOW / 2 ^ halvings[i]
  if grain and isOneGrain(at, newest[i], grain) then
    call('LSET', keys[i], -1, pack(ENTRY, at, before[i], after[i] - before[i] + charge.cost, halvings[i]))
    if oldest[i] == newest[i] then oldest[i] = at end
  else
    open(i, at)
  end
  total[i] = total[i] + charge.cost
end

local reply, size = { number, clock }, 2
local i, count = 1, (#question - 3) / 2
while i <= count do
  local from, at = i, clock
  repeat
    local text, name = question[2 * i + 2], question[2 * i + 3]
    charges[i] = parsed[text] or parse(text)
    names[i], keys[i] = name, prefix == '' and name or prefix .. name
    newest[i], before[i], after[i], halvings[i] = entry(keys[i], -1)
    if newest[i] and newest[i] > at then at = newest[i] end
    i = i + 1
  until charges[i - 1].last
  local admitted = true
  for j = from, i - 1 do
    if not checkCost(j, at) then admitted = false end
  end
  size = size + 1
  reply[size] = at - clock
  for j = from, i - 1 do
    if admitted and wait[j] == 0 and charges[j].cost > 0 then spend(j, at) end
    reply[size + 1] = math.max(0, charges[j].limit - total[j])
    reply[size + 2] = oldest[j] and oldest[j] + charges[j].window - clock or 0
    reply[size + 3] = wait[j]
    size = size + 3
  end
end
return pack('<' .. string.rep('d', size), unpackAll(reply))
