const { FORCE_COLOR: _, CLICOLOR_FORCE: __, REDIS_URL: ___, ...own } = process.env;

/**
 * The environment of programs that tests start: ours, without the address of a Redis, and without colours, because tests read the
 * output.
 */
export const programEnv: NodeJS.ProcessEnv = { ...own, NO_COLOR: '1' };
