import '../support/add-ons.ts';
import { welcome } from '../../src/core/commands/welcome.ts';
import { startPrimary } from '../../src/core/process/gateway.ts';
import { WorkerProcessPool } from '../../src/addons/workers/worker-pool.ts';

/** `gatehouse serve --configs DIR --workers N`, but that a worker which hangs is killed after 3 s instead of 10. */
const [, configs = '', , size] = process.argv.slice(3);
const gateway = await startPrimary(
  { configs, env: process.env },
  (tools) => new WorkerProcessPool({ size: Number(size), configs, silenceMs: 3000 }, tools),
);
process.stdout.write(welcome(gateway));
