/** Phrases that are hard to read, as a regular expression of words, with what to write. */
export const PHRASES: Readonly<Record<string, string>> = {
  'who waits?': 'the subject is the call: "a waiting call"',
  'who (?:comes|came)': 'the subject is the call: "the next call", "a later call"',
  whoever: 'name the subject: "a client that", "every call that"',
  'those who': 'name them: "waiting calls", "users that"',
  'those which': 'repeat the noun: "the keys that"',
  'that which': 'repeat the noun: "the slot that"',
  'that of': 'repeat the noun: "the clock of the master"',
  'for whom': 'name the subject: "calls that nothing waits for"',
  'so many': 'say the number, or name its variable',
  'so few': 'say the number, or name its variable',
  'so long': 'say the time, or "that long"',
  anew: 'write "again", or "from the start"',
  besides: 'write "also"',
  'for to': 'write "to" or "because"',
  'goes at': 'a call passes, starts or resolves',
  'is due to': 'write "must" or "will"',
  'all the same': 'write "still"',
  'called off': 'write "cancelled"',
  'of today': 'write "today\'s" or "present"',
  'stood still': 'write "was blocked"',
  '(?:is|are|was|were|be) told(?! apart)': 'write "gets", "receives" or "learns", or name the value',
};

/** Names that had to be explained, and what they became. */
export const NAMES: Readonly<Record<string, string>> = {
  'Asked|Asking|Promised|Passing|Deciding|Remembering|Refreshing': 'PendingCall, or by what it holds',
  Bookings: 'WaitQueue',
  'Loosenings?': 'Invalidations',
  'Stocks?': 'PermitPool',
  'Line|Turn|Patience': 'LeaseQueue, WakeSignal, WaitLimits',
  'Places?|LimiterPlace|placeOf': 'StorageKeys, LimiterBaseOptions, resolveClient',
  RedisWakeUps: 'ReleaseSubscriber',
  'BUSY|CALM': 'EVENT_LOOP_LAG, EVENT_QUIET_PERIOD',
  'lookOut|eachItsOwn|standIn': 'probe, perRequest, fallback',
  'as_of|asOf|lanes?|attend': 'a verb on KeyState, or a key group',
  '[Oo]rdeal|[Hh]eats?|Sky|[Ss]hower|[Hh]unt|[Ww]eather': 'outage, raceRun, faults, mutationRun',
};
