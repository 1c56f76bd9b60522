import { metric } from '../../core/record/metrics/metric-spec.ts';

export const WORKER_METRICS = {
  workers: metric({
    name: 'gatehouse_workers',
    help: 'Worker processes that serve requests. Only with --workers.',
    aggregator: 'primary',
  }),
  workerExits: metric({
    name: 'gatehouse_worker_exits_total',
    help: 'Worker processes that ended unexpectedly, by reason: code (an error in it), signal (killed by the system, for example out of memory, or by the primary; see gatehouse_worker_kills_total). Only with --workers.',
    labels: ['reason'],
    aggregator: 'primary',
  }),
  workersKilled: metric({
    name: 'gatehouse_worker_kills_total',
    help: 'Worker processes that the primary killed, by reason: blocked (its event loop did not run for 10 s), drain (it did not end in time), start (it did not begin to serve). Only with --workers.',
    labels: ['reason'],
    aggregator: 'primary',
  }),
  workerRequestsCut: metric({
    name: 'gatehouse_worker_requests_cut_total',
    help: 'Requests in flight in workers that were killed or crashed, as each worker last reported, up to 250 ms before its end. No other metric counts these requests. Only with --workers.',
    aggregator: 'primary',
  }),
  workerConnectionsCut: metric({
    name: 'gatehouse_worker_connections_cut_total',
    help: 'Connections of clients that closed with workers that were killed or crashed, including idle ones, with the same accuracy as gatehouse_worker_requests_cut_total. Only with --workers.',
    aggregator: 'primary',
  }),
};
