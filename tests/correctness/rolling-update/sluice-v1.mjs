// The core with the layout before the present one ('v1'), as it was at commit a1376e0, the last that had it: what processes run that a
// rolling update has not reached yet. It is kept as it came out and never edited. How it was made, in a checkout of that commit:
//   esbuild --bundle --platform=node --target=node20 --format=esm --packages=external --charset=utf8 --outfile=sluice-v1.mjs <<END
//   export { fixedWindow } from './packages/core/src/algorithms/fixed-window/fixed-window.js';
//   export { tokenBucket } from './packages/core/src/algorithms/token-bucket/token-bucket.js';
//   export { RateLimiter } from './packages/core/src/limiter.js';
//   export { redisStore } from './packages/core/src/stores/redis-store.js';
//   END

// packages/core/src/options.ts
function checkOptions(where, options, accepted) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(
      `${where} takes an options object (${accepted.join(", ")}), not ${describe(options)}`
    );
  }
  for (const name of Object.keys(options)) {
    if (!accepted.includes(name)) {
      throw new TypeError(`${where} has no option '${name}'; its options are ${accepted.join(", ")}`);
    }
  }
}
function checkInteger(what, value, min, max = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${what} must be a whole number from ${min} to ${max}, not ${describe(value)}`);
  }
  return value;
}
function describe(value) {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return String(value);
}

// packages/core/src/duration.ts
var MICROS = { ms: 1e3, s: 1e6, m: 6e7, h: 36e8, d: 864e8 };
var PART = /(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)/g;
var WHOLE = /^(?:\d{1,15}(?:\.\d{1,6})?(?:ms|s|m|h|d))+$/;
var MAX_MICROS = 3650 * MICROS.d;
function toMicros(what, value, min = 1) {
  const micros = typeof value === "number" ? value * MICROS.ms : parse(value);
  const whole = Math.round(micros);
  if (!(whole >= min && whole <= MAX_MICROS) || Math.abs(whole - micros) > 1e-3) {
    const least = min === 0 ? "0" : "1 µs";
    throw new RangeError(
      `${what} must be a duration such as '250ms', '5s', '1m30s', '1h' or a number of milliseconds, from ${least} to 3650 days in whole microseconds, not ${describe(value)}`
    );
  }
  return whole;
}
function parse(text) {
  if (typeof text !== "string" || text.length > 100 || !WHOLE.test(text)) return Number.NaN;
  let sum = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of text.matchAll(PART)) {
    const micros = MICROS[unit];
    if (micros >= last) return Number.NaN;
    sum += Number(amount) * micros;
    last = micros;
  }
  return sum;
}

// packages/core/src/algorithms/algorithm.ts
var NEVER = -1;

// packages/core/src/algorithms/fixed-window/fixed-window.script.ts
var fixedWindowScript = {
  name: "fixed-window",
  sha1: "e17aa6220c0f494cc6d7318ecf4ef10e17acc814",
  source: `local NEVER = -1
local LARGEST = 9007199254740991
local function integer(text)
local number = tonumber(text)
if number and number >= 0 and number <= LARGEST and number % 1 == 0 then return number end
error('SLUICE not a whole number from 0 to 2^53-1: ' .. tostring(text))
end
local function load(key)
local raw = redis.call('GET', key)
if not raw then return nil end
if not string.find(raw, '^%d[%d ]*$') then error('SLUICE foreign value in ' .. key) end
local state = {}
for number in string.gmatch(raw, '%d+') do state[#state + 1] = tonumber(number) end
return state
end
local function save(key, state, now)
if not state then return redis.call('DEL', key) end
local numbers = {}
for i = 1, #state do numbers[i] = string.format('%.0f', state[i]) end
local ttl = math.floor((state[1] - now) / 1000) + 2
redis.call('SET', key, table.concat(numbers, ' '), 'PX', string.format('%.0f', ttl))
end
local function keep(last, used, window, now)
if last - window > now then return { last, used, now } end
return { last, used }
end
local function step(parameters, state, now, operation, cost, bound)
local limit, window = parameters[1], parameters[2]
local last, used, kept = now + window, 0, state
if state and state[1] > now then
local seen = state[3]
if seen then
last = state[1] - math.max(0, seen - now)
else
last = math.min(state[1], last)
end
used = state[2]
if last ~= state[1] then kept = keep(last, used, window, now) end
end
local allowed, wait = true, 0
if operation == 'refund' then
if used > 0 and bound < last and bound >= last - window then
used = math.max(0, used - cost)
if used == 0 and last - window > now then
last = last - window
used = limit
end
if used == 0 then kept = nil else kept = keep(last, used, window, now) end
end
elseif cost > limit then
allowed, wait = false, NEVER
else
local fits = used + cost <= limit
if fits then wait = math.max(0, last - window - now) else wait = last - now end
allowed = wait <= bound
if allowed and operation == 'consume' and cost > 0 then
if fits then
used = used + cost
else
last = last + window
used = cost
end
kept = keep(last, used, window, now)
end
end
local remaining, reset = 0, 0
if last - window <= now then remaining = math.max(0, limit - used) end
if used > 0 then reset = last - now end
return kept, allowed, remaining, wait, reset
end
local now
if ARGV[1] == '' then
local time = redis.call('TIME')
now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
now = integer(ARGV[1])
end
local count = integer(ARGV[2])
local replies = {}
for i = 1, #KEYS do
local first = 3 + (i - 1) * (count + 3)
local operation, cost, bound = ARGV[first], integer(ARGV[first + 1]), integer(ARGV[first + 2])
local parameters = {}
for p = 1, count do parameters[p] = integer(ARGV[first + 2 + p]) end
local state = load(KEYS[i])
local kept, allowed, remaining, wait, reset = step(parameters, state, now, operation, cost, bound)
if kept ~= state and operation ~= 'peek' then save(KEYS[i], kept, now) end
local reply = #replies
replies[reply + 1] = allowed and 1 or 0
replies[reply + 2] = remaining
replies[reply + 3] = wait
replies[reply + 4] = reset
replies[reply + 5] = now
end
return replies`
};

// packages/core/src/algorithms/fixed-window/fixed-window.ts
function fixedWindow(options) {
  checkOptions("fixedWindow", options, ["limit", "window"]);
  return {
    algorithm: "fixedWindow",
    limit: checkInteger("fixedWindow: limit", options.limit, 1),
    window: toMicros("fixedWindow: window", options.window) / 1e3
  };
}
function step([limit, window], state, now, question) {
  const { operation, cost } = question;
  let end = now + window;
  let used = 0;
  let kept = state;
  if (state !== void 0 && state[0] > now) {
    const seen = state[2];
    end = seen === void 0 ? Math.min(state[0], end) : state[0] - Math.max(0, seen - now);
    used = state[1];
    if (end !== state[0]) kept = keep(end, used, window, now);
  }
  if (operation === "refund") {
    if (used > 0 && question.at < end && question.at >= end - window) {
      used = Math.max(0, used - cost);
      if (used === 0 && end - window > now) {
        end -= window;
        used = limit;
      }
      kept = used === 0 ? void 0 : keep(end, used, window, now);
    }
    return answer(kept, true, 0, end, used, limit, window, now);
  }
  if (cost > limit) return answer(kept, false, NEVER, end, used, limit, window, now);
  const fits = used + cost <= limit;
  const wait = fits ? Math.max(0, end - window - now) : end - now;
  const allowed = wait <= question.maxWait;
  if (allowed && operation === "consume" && cost > 0) {
    if (!fits) end += window;
    used = fits ? used + cost : cost;
    kept = keep(end, used, window, now);
  }
  return answer(kept, allowed, wait, end, used, limit, window, now);
}
var keep = (end, used, window, now) => end - window > now ? [end, used, now] : [end, used];
function answer(state, allowed, wait, end, used, limit, window, now) {
  const booked = end - window > now;
  return {
    state,
    allowed,
    remaining: booked ? 0 : Math.max(0, limit - used),
    wait,
    reset: used > 0 ? end - now : 0
  };
}
var fixedWindowAlgorithm = {
  name: "fixedWindow",
  tag: "fw",
  compile: (policy) => {
    const { limit, window } = fixedWindow({ limit: policy.limit, window: policy.window });
    const micros = toMicros("fixedWindow: window", window);
    return {
      algorithm: fixedWindowAlgorithm,
      parameters: [limit, micros],
      limit,
      window: micros,
      longestWait: toMicros("longest wait", "3650d")
    };
  },
  step,
  script: fixedWindowScript
};

// packages/core/src/algorithms/token-bucket/token-bucket.script.ts
var tokenBucketScript = {
  name: "token-bucket",
  sha1: "491c87ea31a6b59b83752c884af4e79088feb361",
  source: `local NEVER = -1
local LARGEST = 9007199254740991
local function integer(text)
local number = tonumber(text)
if number and number >= 0 and number <= LARGEST and number % 1 == 0 then return number end
error('SLUICE not a whole number from 0 to 2^53-1: ' .. tostring(text))
end
local function load(key)
local raw = redis.call('GET', key)
if not raw then return nil end
if not string.find(raw, '^%d[%d ]*$') then error('SLUICE foreign value in ' .. key) end
local state = {}
for number in string.gmatch(raw, '%d+') do state[#state + 1] = tonumber(number) end
return state
end
local function save(key, state, now)
if not state then return redis.call('DEL', key) end
local numbers = {}
for i = 1, #state do numbers[i] = string.format('%.0f', state[i]) end
local ttl = math.floor((state[1] - now) / 1000) + 2
redis.call('SET', key, table.concat(numbers, ' '), 'PX', string.format('%.0f', ttl))
end
local function up(a, b)
local rest = math.fmod(a, b)
if rest > 0 then return (a - rest) / b + 1 end
return a / b
end
local function keep(debt, per_micro, full, now)
if debt == 0 then return nil end
local ahead = up(debt, per_micro)
local late = ahead * per_micro - debt
if debt > full then return { now + ahead, late, now } end
if late > 0 then return { now + ahead, late } end
return { now + ahead }
end
local function step(parameters, state, now, operation, cost, bound)
local per_permit, per_micro, full = parameters[1], parameters[2], parameters[3]
local debt, kept = 0, state
if state and state[1] > now then
local seen, skew, most = state[3], 0, full
if seen then
skew = math.max(0, seen - now)
most = LARGEST
end
local owed = (state[1] - skew - now) * per_micro - (state[2] or 0)
debt = math.min(math.max(0, owed), most)
if skew > 0 or debt ~= owed then kept = keep(debt, per_micro, full, now) end
end
local allowed, wait, price = true, 0, cost * per_permit
if operation == 'refund' then
if debt > 0 then
local since = debt - (full + (bound - now) * per_micro)
local back = price
if since > 0 then back = math.max(0, price - since - (per_micro - 1)) end
debt = math.max(0, debt - back)
kept = keep(debt, per_micro, full, now)
end
elseif price > full then
allowed, wait = false, NEVER
else
wait = up(math.max(0, debt + price - full), per_micro)
allowed = wait <= bound
if allowed and operation == 'consume' and cost > 0 then
debt = debt + price
kept = keep(debt, per_micro, full, now)
end
end
local left = math.max(0, full - debt)
return kept, allowed, (left - math.fmod(left, per_permit)) / per_permit, wait, up(debt, per_micro)
end
local now
if ARGV[1] == '' then
local time = redis.call('TIME')
now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
now = integer(ARGV[1])
end
local count = integer(ARGV[2])
local replies = {}
for i = 1, #KEYS do
local first = 3 + (i - 1) * (count + 3)
local operation, cost, bound = ARGV[first], integer(ARGV[first + 1]), integer(ARGV[first + 2])
local parameters = {}
for p = 1, count do parameters[p] = integer(ARGV[first + 2 + p]) end
local state = load(KEYS[i])
local kept, allowed, remaining, wait, reset = step(parameters, state, now, operation, cost, bound)
if kept ~= state and operation ~= 'peek' then save(KEYS[i], kept, now) end
local reply = #replies
replies[reply + 1] = allowed and 1 or 0
replies[reply + 2] = remaining
replies[reply + 3] = wait
replies[reply + 4] = reset
replies[reply + 5] = now
end
return replies`
};

// packages/core/src/algorithms/token-bucket/token-bucket.ts
function tokenBucket(options) {
  checkOptions("tokenBucket", options, ["capacity", "refill", "every"]);
  const { capacity, refill, every } = options;
  if (typeof capacity !== "number" || !(capacity >= 1 && capacity <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`tokenBucket: capacity must be a number of permits ≥ 1, not ${describe(capacity)}`);
  }
  const policy = {
    algorithm: "tokenBucket",
    capacity,
    refill: checkInteger("tokenBucket: refill", refill, 1),
    every: toMicros("tokenBucket: every", every) / 1e3
  };
  compile(policy);
  return policy;
}
var divisor = (a, b) => b === 0 ? a : divisor(b, a % b);
function compile({ capacity, refill, every }) {
  const micros = toMicros("tokenBucket: every", every);
  const shared = divisor(micros, refill);
  const perPermit = micros / shared;
  const perMicro = refill / shared;
  const full = Math.round(capacity * perPermit);
  if (full + perMicro > Number.MAX_SAFE_INTEGER || full / perMicro > MAX_MICROS) {
    throw new RangeError(
      `tokenBucket: capacity ${capacity} with refill ${refill} every ${every} ms is beyond exact numbers (2^53 units, or 3650 days to fill): use a smaller capacity or a rounder rate`
    );
  }
  return {
    algorithm: tokenBucketAlgorithm,
    parameters: [perPermit, perMicro, full],
    limit: Math.floor(full / perPermit),
    window: up(full, perMicro),
    longestWait: Math.min(MAX_MICROS, Math.floor((Number.MAX_SAFE_INTEGER - full) / perMicro))
  };
}
function up(a, b) {
  const rest = a % b;
  return (a - rest) / b + (rest > 0 ? 1 : 0);
}
function step2([perPermit, perMicro, full], state, now, question) {
  const { operation, cost } = question;
  let debt = 0;
  let kept = state;
  if (state !== void 0 && state[0] > now) {
    const seen = state[2];
    const skew = seen === void 0 ? 0 : Math.max(0, seen - now);
    const owed = (state[0] - skew - now) * perMicro - (state[1] ?? 0);
    const most = seen === void 0 ? full : Number.MAX_SAFE_INTEGER;
    debt = Math.min(Math.max(0, owed), most);
    if (skew > 0 || debt !== owed) kept = keep2(debt, perMicro, full, now);
  }
  if (operation === "refund") {
    if (debt > 0) {
      debt = Math.max(
        0,
        debt - returned(cost * perPermit, debt, full + (question.at - now) * perMicro, perMicro)
      );
      kept = keep2(debt, perMicro, full, now);
    }
    return answer2(kept, true, 0, debt, perPermit, perMicro, full);
  }
  const price = cost * perPermit;
  if (price > full) return answer2(kept, false, NEVER, debt, perPermit, perMicro, full);
  const wait = up(Math.max(0, debt + price - full), perMicro);
  const allowed = wait <= question.maxWait;
  if (allowed && operation === "consume" && cost > 0) {
    debt += price;
    kept = keep2(debt, perMicro, full, now);
  }
  return answer2(kept, allowed, wait, debt, perPermit, perMicro, full);
}
function returned(price, debt, own, perMicro) {
  const since = debt - own;
  return since <= 0 ? price : Math.max(0, price - since - (perMicro - 1));
}
function keep2(debt, perMicro, full, now) {
  if (debt === 0) return void 0;
  const ahead = up(debt, perMicro);
  const late = ahead * perMicro - debt;
  if (debt > full) return [now + ahead, late, now];
  return late > 0 ? [now + ahead, late] : [now + ahead];
}
function answer2(state, allowed, wait, debt, perPermit, perMicro, full) {
  const left = Math.max(0, full - debt);
  return {
    state,
    allowed,
    remaining: (left - left % perPermit) / perPermit,
    wait,
    reset: up(debt, perMicro)
  };
}
var tokenBucketAlgorithm = {
  name: "tokenBucket",
  tag: "tb",
  compile: ({ capacity, refill, every }) => compile(tokenBucket({ capacity, refill, every })),
  step: step2,
  script: tokenBucketScript
};

// packages/core/src/algorithms/index.ts
var algorithms = [
  fixedWindowAlgorithm,
  tokenBucketAlgorithm
];
function compilePolicy(policy) {
  const algorithm = algorithms.find(({ name }) => name === policy?.algorithm);
  if (algorithm === void 0) {
    const names = algorithms.map(({ name }) => `${name}({ … })`).join(" or ");
    throw new TypeError(
      `policy must be made by ${names}, not ${describe(policy)} with algorithm ${describe(policy?.algorithm)}`
    );
  }
  return algorithm.compile(policy);
}

// packages/core/src/http/headers/draft-11.ts
var LARGEST = 999999999999999;
var integer = (value) => String(Math.min(LARGEST, Math.max(0, value)));
var seconds = (ms) => integer(Math.ceil(ms / 1e3));
var string = (text) => `"${text}"`;
var rateLimitPolicy = (decision) => `${string(decision.name)};q=${integer(decision.limit)};w=${seconds(decision.window)}`;
var rateLimit = (decision) => `${string(decision.name)};r=${integer(decision.remaining)};t=${seconds(decision.resetAfter)}`;

// packages/core/src/http/headers/retry-after.ts
function retryAfter({ allowed, retryAfter: retryAfter2 }) {
  return allowed || !Number.isFinite(retryAfter2) ? void 0 : String(Math.max(1, Math.ceil(retryAfter2 / 1e3)));
}

// packages/core/src/http/headers/decision-headers.ts
function decisionHeaders(decision) {
  const headers = {
    "RateLimit-Policy": rateLimitPolicy(decision),
    RateLimit: rateLimit(decision)
  };
  const retry = retryAfter(decision);
  if (retry !== void 0) headers["Retry-After"] = retry;
  return headers;
}

// packages/core/src/errors.ts
var brand = /* @__PURE__ */ Symbol.for("sluice.error");
var SluiceError = class extends Error {
  [brand] = true;
  get name() {
    return this.constructor.name;
  }
};
var RateLimitExceededError = class extends SluiceError {
  constructor(decision, message = denial(decision)) {
    super(message);
    this.decision = decision;
  }
  decision;
  code = "SLUICE_RATE_LIMIT_EXCEEDED";
  status = 429;
  statusCode = 429;
  expose = true;
  /** Milliseconds until the same call can pass; `Infinity` when it never can. */
  get retryAfter() {
    return this.decision.retryAfter;
  }
  /** `Retry-After`, `RateLimit` and `RateLimit-Policy`, ready to be set on a response. */
  get headers() {
    return decisionHeaders(this.decision);
  }
};
function denial({ name, cost, limit, retryAfter: retryAfter2 }) {
  if (retryAfter2 === Number.POSITIVE_INFINITY) {
    return `Rate limit '${name}': a cost of ${cost} can never pass a limit of ${limit}`;
  }
  return `Rate limit '${name}' exceeded: retry in ${Math.ceil(retryAfter2 / 1e3)} s`;
}
var StoreUnavailableError = class extends SluiceError {
  code = "SLUICE_STORE_UNAVAILABLE";
  status = 503;
  statusCode = 503;
};
var StoreConfigurationError = class extends SluiceError {
  code = "SLUICE_STORE_CONFIGURATION";
};
var KeyResolutionError = class extends SluiceError {
  constructor(message, expression, status = 400) {
    super(message);
    this.expression = expression;
    this.status = status;
  }
  expression;
  status;
  code = "SLUICE_KEY_RESOLUTION";
  get statusCode() {
    return this.status;
  }
};
var LimiterClosedError = class extends SluiceError {
  code = "SLUICE_LIMITER_CLOSED";
};
var guard = (code) => (error) => error instanceof Error && brand in error && error.code === code;
var isRateLimitExceededError = guard("SLUICE_RATE_LIMIT_EXCEEDED");
var isStoreUnavailableError = guard("SLUICE_STORE_UNAVAILABLE");
var isStoreConfigurationError = guard("SLUICE_STORE_CONFIGURATION");
var isKeyResolutionError = guard("SLUICE_KEY_RESOLUTION");
var isLimiterClosedError = guard("SLUICE_LIMITER_CLOSED");

// packages/core/src/keys/key-part.ts
function keyPart(value, what, expression = what) {
  switch (typeof value) {
    case "string":
      if (value !== "") return value;
      break;
    case "number":
      if (Number.isFinite(value)) return String(value);
      break;
    case "bigint":
    case "boolean":
      return String(value);
    default:
  }
  throw new KeyResolutionError(
    `${what} ${problem(value)}; a key needs a string, a finite number, a bigint or a boolean`,
    expression
  );
}
function problem(value) {
  if (value === void 0) return "is missing (undefined)";
  if (value === null) return "is null";
  if (value === "") return "is an empty string";
  if (typeof value === "number") return `is ${value}`;
  if (typeof value === "object") return Array.isArray(value) ? "is an array" : "is an object";
  return `is a ${typeof value}`;
}

// packages/core/src/keys/redis-key.ts
import { createHash } from "node:crypto";
var MAX_BYTES = 128;
var SHORTEST_VIEW = 13;
var SAFE = /^[A-Za-z0-9._~@+=,/:-]{1,128}$/;
var UNSAFE = /[^A-Za-z0-9._~@+=,/:-]/gu;
var hex = (code) => code.toString(16).toUpperCase().padStart(2, "0");
var ASCII = Array.from({ length: 128 }, (_, code) => `%${hex(code)}`);
function encodeKey(key) {
  if (SAFE.test(key)) return detach(key);
  if (key === "") return "%empty";
  if (key.length > MAX_BYTES) return digest(key);
  const encoded = key.replace(UNSAFE, percent);
  return encoded.length > MAX_BYTES ? digest(key) : encoded;
}
function detach(key) {
  return key.length < SHORTEST_VIEW ? key : ` ${key}`.slice(1);
}
function percent(char) {
  const code = char.codePointAt(0);
  if (code < 128) return ASCII[code];
  if (code >= 55296 && code <= 57343) return `%u${hex(code)}`;
  return encodeURIComponent(char);
}
function digest(key) {
  return `%sha256-${createHash("sha256").update(key, "utf16le").digest("base64url")}`;
}

// packages/core/src/layers/deadline.ts
var LONGEST_TIMER = 2147483647;
function withDeadline(store, micros) {
  if (!store.remote) return store;
  const ms = Math.min(LONGEST_TIMER, Math.max(1, Math.round(micros / 1e3)));
  const race = (ask, abandon) => new Promise((resolve, reject) => {
    const timer2 = setTimeout(() => {
      abandon();
      reject(new StoreUnavailableError(`${store.name} store: no answer within ${ms} ms`));
    }, ms);
    ask().then(resolve, reject).finally(() => clearTimeout(timer2));
  });
  let { loading } = store;
  loading?.then(
    () => {
      loading = void 0;
    },
    () => {
    }
    // each call tells
  );
  const limited = async (ask, abandon) => {
    if (loading !== void 0) await loading;
    return race(ask, abandon);
  };
  return {
    name: store.name,
    remote: true,
    clock: store.clock,
    decide: (call) => limited(
      () => store.decide(call),
      () => {
        call.abandoned = true;
      }
    ),
    reset: (key) => {
      const asked = {};
      return limited(
        () => store.reset(key, asked),
        () => {
          asked.abandoned = true;
        }
      );
    },
    close: () => store.close()
  };
}

// packages/core/src/clock.ts
var LONGEST_TIMER2 = 2147483647;
var systemClock = {
  now: () => Math.floor((performance.timeOrigin + performance.now()) * 1e3),
  async sleep(micros, signal) {
    signal?.throwIfAborted();
    const due = systemClock.now() + micros;
    for (let left = micros; left > 0; left = due - systemClock.now()) {
      await timer(Math.min(Math.ceil(left / 1e3), LONGEST_TIMER2), signal);
    }
  }
};
function timer(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

// packages/core/src/stores/memory-store.ts
var SWEEP_EVERY_MS = 1e3;
var SWEEP_KEYS = 2e4;
var EVICT_KEYS = 32;
function memoryStore(options = {}) {
  return new MemoryStore(options);
}
var MemoryStore = class {
  name = "memory";
  remote = false;
  clock;
  #maxKeys;
  #states = /* @__PURE__ */ new Map();
  /** Keys whose last call was denied: forgetting one would let an attacker in again. */
  #denied = /* @__PURE__ */ new Set();
  #sweeper;
  #sweepFrom;
  constructor(options = {}) {
    checkOptions("memoryStore", options, ["maxKeys", "clock"]);
    this.#maxKeys = checkInteger("memoryStore: maxKeys", options.maxKeys ?? 1e6, 1, 16e6);
    const { clock = systemClock } = options;
    if (typeof clock?.now !== "function" || typeof clock.sleep !== "function") {
      throw new TypeError(`memoryStore: clock must have now() and sleep(micros), not ${describe(clock)}`);
    }
    this.clock = clock;
  }
  /** How many keys are remembered now. */
  get size() {
    return this.#states.size;
  }
  async decide(call) {
    const now = this.clock.now();
    const { key, rule, operation } = call;
    const state = this.#states.get(key);
    const step3 = rule.algorithm.step(rule.parameters, state, now, call);
    if (step3.state !== state && operation !== "peek") this.#save(key, state, step3.state, now);
    if (operation === "consume") this.#note(key, step3.allowed);
    return { allowed: step3.allowed, remaining: step3.remaining, wait: step3.wait, reset: step3.reset, now };
  }
  async reset(key) {
    this.#forget(key);
  }
  async close() {
    clearInterval(this.#sweeper);
    this.#sweeper = void 0;
    this.#states.clear();
    this.#denied.clear();
  }
  #save(key, before, after, now) {
    if (after === void 0) {
      this.#forget(key);
    } else if (before !== void 0) {
      this.#states.set(key, after);
    } else {
      if (this.#states.size >= this.#maxKeys) this.#evict(now);
      this.#states.set(detached(key), after);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    }
  }
  #note(key, allowed) {
    if (!allowed && this.#states.has(key)) this.#denied.add(key);
    else if (this.#denied.size > 0) this.#denied.delete(key);
  }
  #forget(key) {
    this.#states.delete(key);
    this.#denied.delete(key);
  }
  /** Makes room for one: looks at the oldest keys, forgets the first that is expired or not denied; denied ones step back. */
  #evict(now) {
    let looked = 0;
    for (const [key, state] of this.#states) {
      looked += 1;
      if (state[0] <= now || !this.#denied.has(key) || looked === EVICT_KEYS) {
        this.#forget(key);
        return;
      }
      this.#states.delete(key);
      this.#states.set(key, state);
    }
  }
  #sweep() {
    const now = this.clock.now();
    this.#sweepFrom ??= this.#states.entries();
    for (let looked = 0; looked < SWEEP_KEYS; looked += 1) {
      const { done, value } = this.#sweepFrom.next();
      if (done) {
        this.#sweepFrom = void 0;
        break;
      }
      if (value[1][0] <= now) this.#forget(value[0]);
    }
    if (this.#states.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = void 0;
    }
  }
};
var detached = (key) => Buffer.from(key, "latin1").toString("latin1");

// packages/core/src/limiter.ts
var LAYOUT = "v1";
var NO_OPTIONS = {};
var NAME = /^[\w.:/@#-]{1,100}$/;
var RateLimiter = class {
  name;
  policy;
  #rule;
  #store;
  #ownStore;
  #prefix;
  /** The waits of `acquire` that go on, each with what ends it. */
  #waits = /* @__PURE__ */ new Map();
  #closed;
  /** @throws RangeError, TypeError naming the option that is wrong. Does no I/O. */
  constructor(options) {
    checkOptions("RateLimiter", options, ["name", "policy", "store", "keyPrefix", "deadline"]);
    const { name = "default", policy, store, keyPrefix = "sluice", deadline = 100 } = options;
    checkName("name", name);
    checkName("keyPrefix", keyPrefix);
    this.name = name;
    this.policy = policy;
    this.#rule = compilePolicy(policy);
    this.#ownStore = store === void 0 ? memoryStore() : void 0;
    const given = store ?? this.#ownStore;
    if (typeof given?.decide !== "function") {
      throw new TypeError(
        `RateLimiter: store must be memoryStore() or redisStore(…), not ${describe(store)}`
      );
    }
    if (store !== void 0 && options.name === void 0) {
      throw new TypeError(
        "RateLimiter: a limit in a store of yours needs a name, such as 'login': two without would count together"
      );
    }
    this.#store = withDeadline(given, toMicros("RateLimiter: deadline", deadline));
    this.#prefix = `${keyPrefix}:${LAYOUT}:${this.#rule.algorithm.tag}:${name}:{`;
  }
  /**
   * Takes permits now or says how long to wait. Resolves to the decision, allowed or denied.
   * @throws StoreUnavailableError, StoreConfigurationError, LimiterClosedError; RangeError for a wrong cost,
   *   KeyResolutionError for a wrong key
   */
  async consume(key, options = NO_OPTIONS) {
    const cost = checkCost("consume", options);
    return this.#decision(await this.#ask("consume", key, cost, 0), cost, 0);
  }
  /**
   * Takes permits, booking future ones if need be, and resolves when they are due: first come, first served, also among
   * processes, with a single question to the store.
   * @throws RateLimitExceededError when they are not to be had within `timeout`; the signal's reason when it is aborted;
   *   and all that `consume` throws
   */
  async acquire(key, options = NO_OPTIONS) {
    const cost = checkCost("acquire", options, ["cost", "timeout", "signal"]);
    const { timeout, signal } = options;
    if (signal !== void 0 && typeof signal?.throwIfAborted !== "function") {
      throw new TypeError(`acquire: signal must be an AbortSignal, not ${describe(signal)}`);
    }
    signal?.throwIfAborted();
    const { longestWait } = this.#rule;
    const maxWait = timeout === void 0 ? longestWait : Math.min(toMicros("acquire: timeout", timeout, 0), longestWait);
    const answer3 = await this.#ask("consume", key, cost, maxWait);
    const decision = this.#decision(answer3, cost, answer3.wait);
    if (!decision.allowed) throw new RateLimitExceededError(decision);
    if (answer3.wait > 0 || signal?.aborted || this.#closed) await this.#wait(key, cost, answer3, signal);
    return decision;
  }
  /** What `consume` would say now; takes nothing. `remaining` counts what is left now. */
  async peek(key, options = NO_OPTIONS) {
    const cost = checkCost("peek", options);
    return this.#decision(await this.#ask("peek", key, cost, 0), cost, 0);
  }
  /** Forgets a key: all its permits are back. */
  async reset(key) {
    this.#checkOpen();
    await this.#store.reset(this.#storageKey(key));
  }
  /** Ends all waits with a `LimiterClosedError`, gives their permits back, and closes the store if it is this limiter's own. */
  async close() {
    this.#closed ??= new LimiterClosedError(`Limiter '${this.name}' was closed`);
    for (const [stop, slept] of [...this.#waits].reverse()) {
      stop.abort(this.#closed);
      await slept.catch(() => {
      });
    }
    await this.#ownStore?.close();
  }
  async #wait(key, cost, { now, wait }, signal) {
    const stop = new AbortController();
    const aborted = () => stop.abort(signal?.reason);
    if (signal?.aborted) aborted();
    if (this.#closed !== void 0) stop.abort(this.#closed);
    const slept = this.#store.clock.sleep(wait, stop.signal).catch(async (reason) => {
      await this.#decide("refund", key, cost, 0, now + wait).catch(() => {
      });
      throw reason;
    });
    this.#waits.set(stop, slept);
    signal?.addEventListener("abort", aborted, { once: true });
    try {
      await slept;
    } finally {
      this.#waits.delete(stop);
      signal?.removeEventListener("abort", aborted);
    }
  }
  #ask(operation, key, cost, maxWait) {
    this.#checkOpen();
    return this.#decide(operation, key, cost, maxWait, 0);
  }
  #decide(operation, key, cost, maxWait, at) {
    return this.#store.decide({ key: this.#storageKey(key), rule: this.#rule, operation, cost, maxWait, at });
  }
  #storageKey(key) {
    return `${this.#prefix}${encodeKey(keyPart(key, `the key of limiter '${this.name}'`))}}`;
  }
  #checkOpen() {
    if (this.#closed !== void 0) throw this.#closed;
  }
  #decision({ allowed, remaining, wait, reset }, cost, waited) {
    const never = wait === NEVER ? Number.POSITIVE_INFINITY : toMs(wait);
    return {
      allowed,
      name: this.name,
      cost,
      limit: this.#rule.limit,
      window: toMs(this.#rule.window),
      remaining,
      retryAfter: allowed ? 0 : never,
      resetAfter: toMs(reset),
      waited: allowed ? toMs(waited) : 0,
      source: this.#store.name
    };
  }
};
function checkCost(method, options, accepted = ["cost"]) {
  if (options === NO_OPTIONS) return 1;
  checkOptions(method, options, accepted);
  return checkInteger(`${method}: cost`, options.cost === void 0 ? 1 : options.cost, 0);
}
var toMs = (micros) => Math.ceil(micros / 1e3);
function checkName(option, value) {
  if (typeof value !== "string" || !NAME.test(value)) {
    throw new TypeError(
      `RateLimiter: ${option} must be 1 to 100 letters, digits or . _ - : / @ #, not ${describe(value)}`
    );
  }
}

// packages/core/src/stores/redis-client.ts
var recommendedRedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 500,
  socketTimeout: 1e3
};
async function runScript(client, script, keys, args, abandoned) {
  try {
    return await client.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!/NOSCRIPT|NoScriptError/.test(String(error)) || abandoned()) throw error;
    return await client.eval(script.source, keys.length, ...keys, ...args);
  }
}
function whenReady(client) {
  if (client.status === "end" || client.on === void 0) {
    return Promise.reject(new Error(`the connection is in state '${client.status}'`));
  }
  return new Promise((resolve, reject) => {
    const settle = (done) => {
      client.removeListener?.("ready", opened);
      client.removeListener?.("close", lost);
      done();
    };
    const opened = () => settle(resolve);
    const lost = () => settle(() => reject(new NoConnectionError("no connection")));
    client.on?.("ready", opened);
    client.on?.("close", lost);
    if (client.status === "wait") client.connect?.().catch(() => {
    });
  });
}
var NoConnectionError = class extends Error {
};
var UNAVAILABLE = /^(?:ReplyError: )?(?:LOADING|BUSY|OOM|MISCONF|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|UNBLOCKED)\b/;
var CONFIGURATION = /\b(?:WRONGTYPE|NOPERM|WRONGPASS|NOAUTH|DENIED|SLUICE)\b|unknown command|ERR /;
function classified(error, lastConnectionError) {
  const told = error instanceof NoConnectionError && lastConnectionError ? lastConnectionError : error;
  const text = String(told instanceof Error ? `${told.name}: ${told.message}` : told);
  if (!UNAVAILABLE.test(text) && CONFIGURATION.test(text)) {
    return new StoreConfigurationError(`redis store: ${messageOf(told)}`, { cause: told });
  }
  const why = lastConnectionError === void 0 ? "" : ` (${messageOf(lastConnectionError)})`;
  return new StoreUnavailableError(`redis store: ${messageOf(error)}${why}`, {
    cause: lastConnectionError ?? error
  });
}
function messageOf(error) {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

// packages/core/src/stores/redis-store.ts
function redisStore(client) {
  return new RedisStore(client);
}
var INTEGERS_PER_CALL = 5;
var RedisStore = class {
  name = "redis";
  remote = true;
  clock = systemClock;
  /** ioredis, for an address. Loading it takes longer than a deadline leaves for a server's answer. */
  loading;
  #url;
  #client;
  #readying;
  #lastConnectionError;
  #closed = false;
  constructor(client) {
    if (typeof client === "string") {
      this.#url = checkUrl(client);
      this.loading = loadIoredis();
      this.loading.catch(() => {
      });
    } else {
      this.#client = checkClient(client);
    }
  }
  async decide(call) {
    const [answer3] = await this.decideAll([call]);
    return answer3;
  }
  /** Decides calls of one algorithm, in order, in one trip. In a cluster their keys must share a slot. */
  async decideAll(calls, now) {
    const { algorithm, parameters } = calls[0].rule;
    const args = [now === void 0 ? "" : String(now), String(parameters.length)];
    for (const { rule, operation, cost, maxWait, at } of calls) {
      args.push(
        operation,
        String(cost),
        String(operation === "refund" ? at : maxWait),
        ...rule.parameters.map(String)
      );
    }
    const keys = calls.map(({ key }) => key);
    const reply = await this.#attempt(
      calls,
      (client) => runScript(
        client,
        algorithm.script,
        keys,
        args,
        () => calls.every(({ abandoned }) => abandoned === true)
      )
    );
    return answers(reply, calls.length);
  }
  async reset(key, asked = {}) {
    await this.#attempt([asked], (client) => client.del(key));
  }
  async close() {
    this.#closed = true;
    if (this.#url !== void 0) this.#client?.disconnect();
  }
  async #attempt(calls, work) {
    if (this.#closed) throw closed();
    const client = this.#client ?? await this.#open();
    try {
      if (client.status !== void 0 && client.status !== "ready") {
        await this.#whenReady(client);
        if (calls.some(({ abandoned }) => abandoned))
          throw new Error("given up before there was a connection");
      }
      return await work(client);
    } catch (error) {
      throw classified(error, this.#lastConnectionError);
    }
  }
  /** One look-out for all who wait. */
  #whenReady(client) {
    this.#readying ??= whenReady(client).finally(() => {
      this.#readying = void 0;
    });
    return this.#readying;
  }
  async #open() {
    const { Redis } = await this.loading;
    if (this.#closed) throw closed();
    this.#client ??= this.#create(Redis);
    return this.#client;
  }
  #create(Redis) {
    const client = new Redis(this.#url.replace(/^valkey:/, "redis:").replace(/^valkeys:/, "rediss:"), {
      ...recommendedRedisOptions,
      lazyConnect: true,
      connectionName: "sluice",
      // ioredis waits so long for the end of a connection, also for one that has ended before, and keeps the process alive.
      disconnectTimeout: 100
    });
    client.on("error", (error) => {
      this.#lastConnectionError = error;
    });
    client.on("ready", () => {
      this.#lastConnectionError = void 0;
    });
    return client;
  }
};
var closed = () => new StoreUnavailableError("redis store: it was closed");
function loadIoredis() {
  return import("ioredis").catch((cause) => {
    throw new StoreConfigurationError("redisStore(url) needs the package ioredis: npm install ioredis", {
      cause
    });
  });
}
function answers(reply, calls) {
  if (!Array.isArray(reply) || reply.length !== calls * INTEGERS_PER_CALL || !reply.every(Number.isSafeInteger)) {
    throw new StoreConfigurationError(
      `redis store: the script answered ${describe(reply)} where integers were due`
    );
  }
  const numbers = reply;
  return Array.from({ length: calls }, (_, call) => {
    const [allowed, remaining, wait, reset, now] = numbers.slice(call * INTEGERS_PER_CALL);
    return { allowed: allowed === 1, remaining, wait, reset, now };
  });
}
function checkUrl(url) {
  if (!/^(?:rediss?|valkeys?):\/\//.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(url)}`
    );
  }
  return url;
}
function checkClient(client) {
  if (typeof client?.evalsha !== "function" || typeof client.eval !== "function" || typeof client.del !== "function") {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(client)}`
    );
  }
  return client;
}
export {
  RateLimiter,
  fixedWindow,
  redisStore,
  tokenBucket
};
