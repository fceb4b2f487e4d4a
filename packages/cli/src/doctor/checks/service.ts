import { nodeCheck } from '../check.js';
import type { Info } from '../info.js';

interface Service {
  readonly name: string;
  readonly host: RegExp;
  readonly field?: readonly [name: string, value: RegExp];
  readonly trap: string;
  readonly fix: string;
}

const PARAMETER_GROUP = 'Set maxmemory-policy noeviction in the parameter group; CONFIG is not available.';

/** Pitfalls of services; docs/operations.md lists them. */
const SERVICES: readonly Service[] = [
  {
    name: 'MemoryDB',
    host: /\.memorydb\..*amazonaws\.com/,
    field: ['os', /Amazon MemoryDB/],
    trap: 'a cluster with TLS, whose writes wait for a log in several zones',
    fix: 'Connect with --cluster and TLS. Allow a longer deadline.',
  },
  {
    name: 'ElastiCache Serverless',
    host: /\.serverless\..*\.cache\.amazonaws\.com/,
    trap: 'users of other limiters report that its scripts may not call TIME',
    fix: 'Use ElastiCache with own nodes if calls reject with StoreConfigurationError.',
  },
  {
    name: 'ElastiCache',
    host: /\.cache\.amazonaws\.com/,
    field: ['os', /Amazon ElastiCache/],
    trap: 'the eviction policy is volatile-lru unless its parameter group says otherwise',
    fix: PARAMETER_GROUP,
  },
  {
    name: 'Upstash',
    host: /\.upstash\.io/,
    field: ['upstash_version', /./],
    trap: 'a script locks the whole database, and distances are long',
    fix: 'Allow a longer deadline; leave eviction off.',
  },
  {
    name: 'Redis Cloud',
    host: /\.(?:redis-cloud|redislabs|cloud\.rlrcp|redis\.rlrcp)\.com/,
    trap: 'the eviction policy is volatile-lru by default, and an Active-Active database counts each region apart',
    fix: 'Choose no eviction in the console. Do not use Active-Active.',
  },
  {
    name: 'Azure Managed Redis',
    host: /\.(?:redis|redisenterprise)\.(?:cache\.)?(?:azure|windows)\.net/,
    trap: 'its cluster policy decides which client fits, and the eviction policy is VolatileLRU by default',
    fix: 'With the OSS policy connect with --cluster, otherwise with --redis. Choose NoEviction.',
  },
  {
    name: 'OCI Cache',
    host: /\.oci\.oraclecloud\.com|\.redis\..*\.oci/,
    trap: 'its sharded clusters have neither EVAL nor EVALSHA',
    fix: 'Use a cluster that is not sharded.',
  },
];

export function serviceOf(host: string, info: Info): Service | undefined {
  return SERVICES.find(
    ({ host: pattern, field }) => pattern.test(host) || field?.[1].test(info.optional(field[0]) ?? ''),
  );
}

/** Detects the managed service, and reports its pitfalls. */
export const service = nodeCheck({
  about: 'service',
  why: { 'managed-service': 'Services differ from Redis in ways that no command shows.' },
  of: 'primaries',
  look({ address, info }, report) {
    const known = serviceOf(address.host, info);
    if (known !== undefined)
      report.note('managed-service', `This is ${known.name}: ${known.trap}`, known.fix);
  },
});
