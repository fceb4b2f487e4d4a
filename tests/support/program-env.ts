const { FORCE_COLOR: _, CLICOLOR_FORCE: __, REDIS_URL: ___, ...own } = process.env;

/**
 * The environment of the programs that tests start: ours, without a Redis that it may name, and without its wish for colours, because
 * tests read what programs print.
 */
export const programEnv: NodeJS.ProcessEnv = { ...own, NO_COLOR: '1' };
