import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { WORKER_METRICS } from './metrics.ts';

export const parts: AddOnParts = {
  metrics: WORKER_METRICS,
  runWorker: () => import('./worker-process.ts'),
  async startWorkers(options, size) {
    const [{ startPrimary }, { WorkerProcessPool }] = await Promise.all([
      import('../../core/process/gateway.ts'),
      import('./worker-pool.ts'),
    ]);
    return startPrimary(options, (tools) => new WorkerProcessPool({ size, configs: options.configs }, tools));
  },
};
