import { availableParallelism } from 'node:os';
import { startPrimary, type GatewayOptions } from '../process/gateway.ts';
import type { Gateway } from '../process/running-gateway.ts';
import { WorkerProcessPool } from '../process/workers/worker-pool.ts';

export const MAX_WORKERS = 64;

/** Reads `--workers`: a number, or `auto` for one worker per processor. Undefined: neither. */
export function readWorkers(text: string): number | undefined {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MAX_WORKERS ? number : undefined;
}

/** Starts a gateway with `size` worker processes beside this one. */
export const startWorkers = (options: GatewayOptions, size: number): Promise<Gateway> =>
  startPrimary(options, (tools) => new WorkerProcessPool({ size, configs: options.configs }, tools));
