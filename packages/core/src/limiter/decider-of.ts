import { Pipeline, type PipelineOptions } from '../pipeline/pipeline.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';

/** Decides a limiter's calls: a store in this process itself, or the pipeline to a remote store. Memory decides while that store is out. */
export const deciderOf = <S extends Store>(store: S, options: PipelineOptions): Pipeline | S =>
  store.remote ? new Pipeline(store, options, memoryStore) : store;
