import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

const text = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Writes a settings folder; ports are free ones on loopback. */
export function writeSettings(settings: TestSettings): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  mkdirSync(join(dir, 'gateway'));
  const server = settings.server ?? {};
  const loopback = { host: '127.0.0.1', port: 0 };
  const listen = { listen: loopback, status: loopback, admin: { port: 0, content: true } };
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
