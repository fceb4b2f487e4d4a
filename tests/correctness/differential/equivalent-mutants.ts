import type { Mutant } from './mutants.js';

/** Mutants that change no behaviour, and why. An entry without a mutant is an error: see `mutants.deep.test.ts`. */
const EQUIVALENT: Readonly<Record<string, readonly string[]>> = {
  'a state that ends now has been dropped before': [
    'cc: if latest < now then return nil end',
    'fw: if last < now or cost <= p[1] - used then return 0 end',
    "fw: if last >= now then return pack('>dd', last, math.min(used + cost, LARGEST)) end",
    'fw: if last < now then return p[1], 0 end',
    'tb: if whole < now then return 0, now end',
    'frame: entries[place], ends[place] = forgotten >= now and entry, forgotten',
  ],
  'at the edge both ways give the same number': [
    'cc: if number(state, 1) < latest then return state end',
    'cc: if id <= now then age = age + now - id end',
    'cc: if estimate > 0 and estimate <= exact then return exact, estimate end',
    'fw: if moment <= edge then break end',
    'tb: if debt < p[3] + p[4] then return state end',
    'tb: if debt >= p[3] + p[4] then debt = math.min(debt, most_of(p)) end',
    'frame: if back >= 0 then',
    'fw: if cost * count >= free then count = floor(free / cost) end',
    'fw: count, remaining, wait = 0, free >= 0 and free or 0, reset',
    'tb: if whole >= now then',
    'tb: if whole - seen >= 1 then left = whole - seen end',
    'tb: return p[6] == 2 and cost * p[1] >= p[3] + p[4]',
    'tb: if most - price <= bearable then bearable = most - price end',
    'tb: if price * (count - 1) >= room then count = (room - room % price) / price + 1 end',
    'sl: count, remaining, wait, reset = 0, free >= 0 and free or 0, leaves + window - now, newest + window - now',
    'sl: if cost * count >= free then count = floor(free / cost) end',
    ...['fw', 'tb', 'sl'].flatMap((tag) => [
      `${tag}: if to - from >= MOST_READ then to = from + MOST_READ end`,
      `${tag}: if life < LARGEST_LONG then life = format('%d', life) end`,
    ]),
    'frame: if next >= first then',
    'frame: while moment <= next do',
  ],
  'a short cut: the long way gives the same': [
    'cc: if waiting == 0 and held + cost < p[1] then return 0, 0 end',
    "frame: if done < count and (wait == 0 or (not rule.escalation and (wait <= 0 or operation ~= 'acquire'))) then",
    'fw: if rule[4] or cost >= limit then break end',
    'fw: if not (last >= OLDEST and last < latest and used >= 0 and used <= LARGEST) then break end',
    'fw: if not (last >= OLDEST and last <= latest and used > 0 and used <= LARGEST) then break end',
    'fw: if not (last >= OLDEST and last <= latest and used >= 0 and used < LARGEST) then break end',
    'sl: if not (base > 0 and base <= total and total <= LARGEST and (base + total) % 1 == 0) then break end',
    'sl: if not (base >= 0 and base < total and total <= LARGEST and (base + total) % 1 == 0) then break end',
    'sl: if not (base >= 0 and base <= total and total < LARGEST and (base + total) % 1 == 0) then break end',
    ...['fw', 'tb', 'sl'].map(
      (tag) => `${tag}: if not (remaining > 0 and (remaining + reset + (wait or 0)) % 1 == 0) then break end`,
    ),
    'sl: if cost >= limit then break end',
    'sl: if size <= 32 or size % 16 ~= 0 or size > 2048 then break end',
    'sl: if size < 32 or size % 16 ~= 0 or size >= 2048 then break end',
    'sl: if not (leaves >= OLDEST and newest < moment and newest + window == forgotten and base <= total) then break end',
    'sl: if not (leaves >= OLDEST and newest <= moment and newest + window == forgotten and base < total) then break end',
    'sl: if total >= LARGEST then break end',
    'tb: if rule[5] >= 0 or price > most then break end',
    'tb: if rule[5] > 0 or price >= most then break end',
    'tb: if not (whole >= OLDEST and seen < now and began <= seen and late >= 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end',
    'tb: if not (whole >= OLDEST and seen <= now and began < seen and late >= 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end',
    'tb: if not (whole >= OLDEST and seen <= now and began <= seen and late > 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end',
    'tb: if debt >= most then break end',
    'tb: if rule[4] >= 0 then count = 1 end',
    'frame: if #key_state.queue >= 0 then project_end(key_state) end',
    'frame: if place <= size then return project_end(key_state) end',
    'frame: if key_state.changed or from <= now then',
    'frame: if #due >= 0 then',
    'frame: while place >= 1 and rest >= 0 do',
    'frame: moment = math.min(moment, key_states[i].own_moment)',
    'frame: while agreed <= #key_states do',
    'frame: if remaining < 0 then break end',
  ],
  'written with a new TTL instead of in place': [
    'fw: local lasts = raw and ends < ended',
    'tb: local lasts = raw and ends < ended',
    'sl: local lasts = raw and ends < ended',
  ],
  'a state that is shorter is not written in place, so it is decided the long way': [
    'fw: if lasts and not writes_many then',
    'tb: if lasts and not writes_many then',
    'sl: if lasts and not writes_many then',
  ],
  'a row of keys that keep their TTL has been handled before': [
    'fw: elseif life <= 0 then',
    'tb: elseif life <= 0 then',
    'sl: elseif life <= 0 then',
  ],
  'what other servers know: found by ../batches/rows.test.ts': [
    'frame: local knows_msetex = (redis.VALKEY_VERSION_NUM or 0) > 590080 or (redis.REDIS_VERSION_NUM or 0) >= 525312',
    'frame: local knows_msetex = (redis.VALKEY_VERSION_NUM or 0) >= 590080 or (redis.REDIS_VERSION_NUM or 0) > 525312',
  ],
  'moments and times of shared rates are whole ms': [
    'frame: local alive = floor((math.max(key_state.at, now) - now + shared.keep_alive) / 1000)',
  ],
  'no key holds a moment of 1987': [
    'fw: if not (last > OLDEST and last <= latest and used >= 0 and used <= LARGEST) then break end',
    'tb: if not (whole > OLDEST and seen <= now and began <= seen and late >= 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end',
    'sl: if not (leaves > OLDEST and newest <= moment and newest + window == forgotten and base <= total) then break end',
  ],
  'where each tick is a µs a call that goes later delays no fewer': ['tb: return p[7] >= 1'],
  'the last holder keeps its place': ['cc: if place < holders then'],
  'only waiting calls reach it': ['cc: if not place or place < holders then return 1, 1 end'],
  'no call is taken at the moment at which its window ends': [
    'fw: if at ~= ANY and (at > last or at < start_of(p, last)) then return state end',
  ],
  'a state that is worth nothing, and is dropped': [
    'tb: if p[5] >= 0 then return write(p, seen_at(state, now), 0, since, now) end',
  ],
  'nothing, an empty text and an empty queue are alike': [
    'frame: return size >= 0 and string.sub(raw, from - size, from - 1) or nil',
    'frame: if #queue >= 0 then',
  ],
  'an override has numbers': [
    'frame: if not ((kind == ENVELOPE and #raw >= 57) or (kind == OVERRIDDEN and #raw > 65)) then foreign(key) end',
  ],
  'a block that ends now is none': [
    'frame: if key_state.blocked_until >= now then',
    'frame: if key_states[i].blocked_until >= now then return false end',
    'frame: if key_state.blocked_until >= now then return 0, math.max(reset, key_state.blocked_until - now) end',
  ],
  'only a policy that was changed since has this many units late': [
    'tb: if debt >= 0 then since = began else debt = 0 end',
  ],
  'one of them is odd and the other even': ['frame: if place <= #queue then key_state.has_gaps = 1 end'],
  'computed again, and not used': [
    'frame: if done <= count then wait = wait_for(rule, state, now, cost) end',
  ],
  'a rule without parameters is of a shared rate, which is no group of one key': [
    'frame: if last > offset and cost > 0 and #rule >= 0 then',
  ],
  'a group has more than one argument': ['frame: while last > offset or next < size do'],
  'nobody waits for ten years': ['tb: if cost * p[1] >= most_of(p) - debt then return NEVER end'],
  'one of them is odd and the other even, and an amount of 0 changes nothing': [
    'hold: while place < #amounts and amounts[place] < moment do place = place + 2 end',
    'hold: if best == from or place >= #amounts then break end',
    'hold: if limit.before >= 0 and amounts[place] == lapses then',
    'hold: if moment ~= NEVER and (best == NEVER or moment <= best) then best = moment end',
    'hold: if more >= 0 then charge(key_state) else refund(key_state, at, key_state.algorithm.refund_since) end',
    'hd: for i = 2, p[1] >= 0 and #state / 8 or 0, 2 do',
  ],
  'nobody tries so often': [
    'frame: if tries >= MOST_TRIES then return NEVER end',
    'frame: if tries >= MOST_LATER then break end',
  ],
  'no version writes such a value: see tests/correctness/rolling-update/damaged-values.deep.test.ts': [
    'tb: if not (whole >= OLDEST and seen <= now and began <= seen and late >= 0 and late <= units and (whole + seen + began + late) % 1 == 0) then break end',
    'cc: if not (till % 1 == 0 and cost % 1 == 0 and cost > 0) then damaged() end',
    'frame: if byte(raw) ~= SHARED or #raw <= 9 then foreign(key) end',
    'frame: return value >= 0 and value < LARGEST and value % 1 == 0',
    'frame: if from < #raw or queue_size % 16 > 0 or (queue_length > 0) ~= (envelope.queue_end_state ~= nil) then damaged() end',
  ],
  'shared rates: found by shared-rates.mutants.deep.test.ts': [
    'frame: local alive = ceil((math.min(key_state.at, now) - now + shared.keep_alive) / 1000)',
    "frame: if call('PTTL', shared.key) <= alive then call('PEXPIRE', shared.key, format('%.0f', alive)) end",
    'frame: if #raw <= 32 or #raw % 8 ~= 0 then foreign(config) end',
    'frame: if numbers[3] >= 1 or #numbers < 3 + part.algorithm.parameters then foreign(config) end',
    'frame: if numbers[3] > 1 or #numbers <= 3 + part.algorithm.parameters then foreign(config) end',
  ],
};

const known = new Set(Object.values(EQUIVALENT).flat());

export const idOf = ({ tag, changed }: Mutant): string => `${tag ?? 'frame'}: ${changed}`;
export const isEquivalent = (mutant: Mutant): boolean => known.has(idOf(mutant));

/** Entries for lines that the script no longer has. */
export function stale(mutants: readonly Mutant[]): string[] {
  const ids = new Set(mutants.map(idOf));
  return [...known].filter((id) => !ids.has(id));
}
