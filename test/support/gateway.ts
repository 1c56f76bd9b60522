import './add-ons.ts';
import { rmSync } from 'node:fs';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { describeRun } from '../../src/addons/explain/explain/describe/index.ts';
import { Agreement } from './agreement.ts';
import { isFull } from './effort.ts';
import { KEY, writeSettings, type TestSettings } from './write-settings.ts';

export { KEY, writeSettings, type TestSettings };

export interface TestGateway {
  readonly gateway: Gateway;
  /** The settings folder. */
  readonly configs: string;
  readonly url: string;
  readonly statusUrl: string;
  /** Log lines so far, parsed. */
  readonly logs: readonly Record<string, unknown>[];
  /** All that was logged, as text. */
  readonly logText: () => string;
  close(): Promise<void>;
}

/** A real gateway on loopback, its log kept in memory. */
export async function startTestGateway(
  settings: TestSettings = {},
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const dir = writeSettings(settings);
  const lines: string[] = [];
  const logTo = { write: (line: string) => void lines.push(line) };
  try {
    const all = { configs: dir, env: {}, logTo, ...options };
    const agreement = new Agreement(all, describeRun, isFull('agreement') ? 1 : 4);
    const gateway = await startGateway({ watch: agreement.watch, ...all, files: agreement.files });
    return {
      gateway,
      configs: dir,
      url: gateway.data.url,
      statusUrl: gateway.status.url,
      get logs() {
        // A look-up of records has the access lines of all ended requests written first.
        gateway.records({ limit: 0 });
        return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      },
      logText() {
        gateway.records({ limit: 0 });
        return lines.join('');
      },
      async close() {
        await gateway.close();
        await agreement.check();
        rmSync(dir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** Only a test that waits in vain takes so long, however busy the machine is. */
const LIMIT_MS = 110_000;

/** Resolves when `condition` holds; for what happens soon after an event, such as the end of a request. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const from = performance.now();
  while (!(await condition())) {
    if (performance.now() - from > LIMIT_MS) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
