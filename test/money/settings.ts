import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRICES } from './bill.ts';

export const KEY = 'gatehouse-money-key-0123456789';

export interface Ports {
  readonly upstream: string;
  readonly port: number;
  readonly statusPort: number;
  readonly adminPort: number;
}

/** A key whose budget is used up by a few requests. */
export const SMALL_KEY = 'gatehouse-small-key-0123456789';

/** A key without a budget. */
export const FREE_KEY = 'gatehouse-free-key-0123456789';

export interface MoneySettings {
  /** `state.when_down`. */
  readonly whenDown?: object | undefined;
  /** Further keys of server.yaml, in place of those below. */
  readonly server?: object | undefined;
  /** Adds a key with a small budget. Such as `0.01 USD`. */
  readonly smallCap?: string | undefined;
}

/** Settings of a gateway with a state store, prices, and a budget that counts everything. Returns their folder. */
export function writeConfigs(
  folder: string,
  { upstream, port, statusPort, adminPort }: Ports,
  { whenDown, server, smallCap }: MoneySettings = {},
): string {
  const configs = join(folder, 'configs');
  mkdirSync(join(configs, 'gateway'), { recursive: true });
  const write = (name: string, value: object): void => writeFileSync(join(configs, name), JSON.stringify(value));
  write('server.yaml', {
    listen: { host: '127.0.0.1', port },
    status: { host: '127.0.0.1', port: statusPort },
    admin: { port: adminPort },
    default_config: 'main',
    drain: { delay: '0s', timeout: '2s' },
    telemetry: { log: { level: 'warn', access: 'off' } },
    state: { store: { type: 'sqlite', dir: join(folder, 'state') }, ...(whenDown && { when_down: whenDown }) },
    ...server,
  });
  const entry = (slug: string) => ({ slug, provider: 'simulator', base_url: upstream, allow_insecure: true });
  write('catalog.yaml', { providers: [entry('one'), entry('two')] });
  write('prices.yaml', { prices: [{ model: '*', usd: PRICES }] });
  write('keys.yaml', {
    keys: [
      { id: 'money', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '100000 USD', period: 'total' }] },
      { id: 'free', key: `\${env:NONE:-${FREE_KEY}}` },
      ...(smallCap === undefined
        ? []
        : [{ id: 'small', key: `\${env:NONE:-${SMALL_KEY}}`, budgets: [{ cap: smallCap, period: 'total' }] }]),
    ],
  });
  write('gateway/main.yaml', {
    strategy: { mode: 'fallback' },
    targets: ['@one', '@two'].map((provider) => ({ provider, retry: { attempts: 1, on_status_codes: [503] } })),
  });
  return configs;
}
