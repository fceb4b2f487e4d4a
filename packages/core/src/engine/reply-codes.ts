/** Codes of answers in a reply of `decide.lua`; its header says what follows each. `npm run scripts` writes them into the script. */
export const RATE_NOT_SET = -1;
export const FAILED = -2;
export const RUN = -3;
export const SAME_DENIED = -4;
export const SAME_ALLOWED = -5;
export const DENIED = -6;
export const ALLOWED = -7;
export const QUEUED = -8;
export const ELSEWHERE = -9;
export const UNDECLARED = -10;
