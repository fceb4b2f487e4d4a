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
  'at the most': 'write "at most"',
  'for ever': 'write "forever" or "without end"',
  'stands(?! (?:still|for|in for))': 'write "is"',
  'who is (?:denied|due|let|served)': 'name the subject: "a denied request"',
  'somebody|anybody': 'name the subject: "another call", "another client"',
  'turned away': 'write "denied"',
  'comes? due': 'write "passes", or "at its moment"',
  'one another': 'write "each other"',
  'of today': 'write "today\'s" or "present"',
  'stood still': 'write "was blocked"',
  as_of: 'a verb on key_state, as in key-state.lua',
  '(?:is|are|was|were|be) told(?! apart)': 'write "gets", "receives" or "learns", or name the value',
};

/** The same for titles of tests and for comments. A variable, a prompt or a command of Redis may have such a name. */
export const SPOKEN: Readonly<Record<string, string>> = {
  '[Tt]old(?! apart)': 'write "gets", "receives" or "learns", or name the value',
  '[Aa]sk(?:s|ed|ing)?(?! for confirmation)': 'write "calls", "sends", "reads" or "needs"',
  '[Qq]uestions?': 'write "call", "request" or "confirmation"',
  '[Ww]hat is(?! wrong)': 'name the subject: "the stored value", "a mistake"',
};

/** The folders whose titles, and whose comments, have none of them. Add a folder that was reworded. */
export const REWORDED = {
  titles: /./,
  comments: /^(?!packages\/(?:core|fleet|http)\/)/,
};
