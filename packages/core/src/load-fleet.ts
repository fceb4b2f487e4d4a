import { fleet } from '#platform';

/**
 * What `@sluice/fleet` has for core. It loads at the first option that needs it, so that a program without these options neither installs nor
 * loads it. Each caller names the exports that it uses.
 * @param option for the error: `redisStore: usage`
 * @throws TypeError if the package cannot be loaded
 */
export function loadFleet<Exports>(option: string): Exports {
  const loaded = fleet();
  if ('exports' in loaded) return loaded.exports as Exports;
  const { code, message } = loaded.cause as Error & { readonly code?: unknown };
  const remedy =
    code === 'MODULE_NOT_FOUND'
      ? 'install it (npm install @sluice/fleet)'
      : `${message}. In a bundle, leave it outside (external: ['@sluice/fleet'])`;
  throw new TypeError(`${option} needs the package @sluice/fleet: ${remedy}`, { cause: loaded.cause });
}
