import { familiesOf } from '../../../core/record/metrics/metrics.ts';
import { metric } from '../../../core/record/metrics/metric-spec.ts';
import type { Metrics } from '../../../core/record/metrics/registry.ts';

/** The purpose of a command. */
export type Job = 'limits' | 'cache' | 'responses' | 'breakers' | 'connect';

export const SHARED_METRICS = {
  sharedUp: metric({
    name: 'gatehouse_shared_up',
    help: '1 while Valkey or Redis answers, 0 while equal parts of limits and the memory of the process take its place. Only with state.shared.',
    aggregator: 'min',
  }),
  sharedMembers: metric({
    name: 'gatehouse_shared_members',
    help: 'Processes that share limits, as was last heard; each has an equal part while Valkey or Redis is away. Only with state.shared.',
    aggregator: 'min',
  }),
  sharedCommands: metric({
    name: 'gatehouse_shared_commands_total',
    help: 'Commands to Valkey or Redis, by what they were for (limits, cache, responses, breakers, connect) and result: ok, slow (no answer within the limit), failed, away (not sent). Only with state.shared.',
    labels: ['job', 'result'],
  }),
  sharedLookups: metric({
    name: 'gatehouse_shared_cache_lookups_total',
    help: 'Look-ups for replies that other gateways have cached, by result: hit, miss, slow (not within 20 ms). Only with state.shared.',
    labels: ['result'],
  }),
  sharedDropped: metric({
    name: 'gatehouse_shared_cache_drops_total',
    help: 'Replies that were not written to Valkey or Redis, because 8 MiB of others waited to be written. Only with state.shared.',
  }),
};

export const sharedFamilies = ({ families }: Pick<Metrics, 'families'>) => familiesOf(families, SHARED_METRICS);

export type SharedFamilies = ReturnType<typeof sharedFamilies>;
