import { Script } from '../engine/script.ts';

/** Time after which a process that is not heard of has left, with the places that it held. */
export const MEMBER_TTL_MS = 10_000;

/** Arguments of each limit. */
const ARGUMENTS = 7;

/**
 * Counts this process among those that share the limits, and asks for its parts of them. The clock is the engine's.
 *
 * KEYS: the processes, then one for each limit. ARGV: this process, the TTL in ms, `1` when it leaves, then seven for each limit:
 * - `rate`, ms for a unit, burst, units used (negative: given back), units used beyond an estimate, units wanted, the fewest that are of use
 * - `places`, how many there are, those taken here, those wanted here, and three that are ignored
 *
 * Returns the number of processes, then two numbers for each limit: what this process gets, and what is left then.
 *
 * A rate is the time at which its bucket is full again (GCRA), as in limits/gcra.ts of budgets. A bucket owes at most one burst for what
 * exceeded an estimate: its caller could not know of it.
 */
export const leaseScript = new Script(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local process, ttl = ARGV[1], tonumber(ARGV[2])
if ARGV[3] == '1' then redis.call('ZREM', KEYS[1], process)
else redis.call('ZADD', KEYS[1], string.format('%.3f', now), process) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ttl))
redis.call('PEXPIRE', KEYS[1], ttl)
local answer = { tostring(redis.call('ZCARD', KEYS[1])) }

local function rate(key, ms, burst, used, corrected, wanted, fewest)
  local full = math.max(tonumber(redis.call('GET', key) or '0'), now) + used * ms
  full = math.max(full, now)
  if corrected > 0 then full = math.min(full + corrected * ms, math.max(full, now + 2 * burst * ms)) end
  local level = burst - (full - now) / ms + 0.000001
  local got = 0
  if level >= wanted then got = wanted
  elseif level >= fewest then got = math.floor(level) end
  full = full + got * ms
  if full > now then redis.call('SET', key, string.format('%.4f', full), 'PX', math.ceil(full - now) + 1000)
  else redis.call('DEL', key) end
  return got, level - got
end

local function places(key, most, taken, wanted)
  local others = 0
  local held = redis.call('HGETALL', key)
  for i = 1, #held, 2 do
    local count, ends = string.match(held[i + 1], '^(%d+) (%d+)$')
    if tonumber(ends) <= now then redis.call('HDEL', key, held[i])
    elseif held[i] ~= process then others = others + tonumber(count) end
  end
  local got = math.max(taken, math.min(wanted, most - others), 0)
  if got > 0 then
    redis.call('HSET', key, process, string.format('%d %d', got, now + ttl))
    redis.call('PEXPIRE', key, ttl)
  else redis.call('HDEL', key, process) end
  return got, most - others - got
end

for i = 2, #KEYS do
  local at = 3 + (i - 2) * ${ARGUMENTS}
  local n = {}
  for j = 2, ${ARGUMENTS} do n[j] = tonumber(ARGV[at + j]) end
  local got, left
  if ARGV[at + 1] == 'rate' then got, left = rate(KEYS[i], n[2], n[3], n[4], n[5], n[6], n[7])
  else got, left = places(KEYS[i], n[2], n[3], n[4]) end
  answer[#answer + 1] = string.format('%.4f', got)
  answer[#answer + 1] = string.format('%.4f', left)
end
return answer
`);
