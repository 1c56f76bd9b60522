import './add-ons.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { describeRun } from '../../src/addons/explain/explain/describe/index.ts';
import { Agreement } from './agreement.ts';
import { isFull } from './effort.ts';

export const KEY = 'gatehouse-test-key-0123456789';

/** Text of the settings files, YAML or JSON (which is YAML). Gateway configs by id. */
export interface TestSettings {
  readonly server?: object | string;
  readonly catalog?: object | string;
  readonly keys?: object | string;
  readonly teams?: object | string;
  readonly prices?: object | string;
  readonly gateway?: Readonly<Record<string, object | string>>;
  /** Prompts by id. */
  readonly prompts?: Readonly<Record<string, object | string>>;
  /** Partials of prompts by name. */
  readonly partials?: Readonly<Record<string, string>>;
}

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

const text = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Writes a settings folder; ports are free ones on loopback. */
export function writeSettings(settings: TestSettings): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  mkdirSync(join(dir, 'gateway'));
  const server = settings.server ?? {};
  const loopback = { host: '127.0.0.1', port: 0 };
  const listen = { listen: loopback, status: loopback, admin: { port: 0 } };
  writeFileSync(join(dir, 'server.yaml'), typeof server === 'string' ? server : text({ ...listen, ...server }));
  writeFileSync(
    join(dir, 'catalog.yaml'),
    text(settings.catalog ?? { providers: [{ slug: 'sim', provider: 'simulator' }] }),
  );
  writeFileSync(
    join(dir, 'keys.yaml'),
    text(settings.keys ?? { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}` }] }),
  );
  if (settings.teams !== undefined) writeFileSync(join(dir, 'teams.yaml'), text(settings.teams));
  if (settings.prices) writeFileSync(join(dir, 'prices.yaml'), text(settings.prices));
  for (const [id, config] of Object.entries(settings.gateway ?? {}))
    writeFileSync(join(dir, 'gateway', `${id}.yaml`), text(config));
  const { prompts, partials = {} } = settings;
  if (prompts) mkdirSync(join(dir, 'prompts', 'partials'), { recursive: true });
  for (const [id, prompt] of Object.entries(prompts ?? {}))
    writeFileSync(join(dir, 'prompts', `${id}.yaml`), text(prompt));
  for (const [name, partial] of Object.entries(partials))
    writeFileSync(join(dir, 'prompts', 'partials', `${name}.txt`), partial);
  return dir;
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
const LIMIT_MS = 60_000;

/** Resolves when `condition` holds; for what happens soon after an event, such as the end of a request. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const from = performance.now();
  while (!(await condition())) {
    if (performance.now() - from > LIMIT_MS) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
