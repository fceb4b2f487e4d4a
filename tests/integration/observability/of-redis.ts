/** The metrics of redis_exporter that queries name. */
export const OF_REDIS = ['redis_evicted_keys_total', 'redis_memory_used_bytes', 'redis_memory_max_bytes'];
