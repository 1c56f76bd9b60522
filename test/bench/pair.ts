/**
 * `node pair.ts SETTINGS SETTINGS_BESIDE [BUILD]`: two gateways in one process, the second of another build if one is named. In processes of
 * their own, the same code differs by a quarter from start to start, which is more than a plugin costs.
 */
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import type { startGateway } from '../../src/core/process/gateway.ts';

const [, , settings, beside, build = packageFile('')] = process.argv;

async function start(configs: string, from: string): ReturnType<typeof startGateway> {
  await import(join(from, 'test/support/add-ons.ts'));
  const module = (await import(join(from, 'src/core/process/gateway.ts'))) as { startGateway: typeof startGateway };
  return module.startGateway({ configs, env: process.env });
}

const gateways = [await start(settings!, packageFile('')), await start(beside!, build)];
process.once(
  'SIGTERM',
  () => void Promise.all(gateways.map((gateway) => gateway.close())).finally(() => process.exit()),
);
