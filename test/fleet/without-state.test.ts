import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayProcess } from '../money/gateway.ts';
import { until, writeSettings } from '../support/gateway.ts';
import { freePort } from '../support/postgres.ts';

/** Notes each module that its process loads. */
const HOOK = `import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); } });`;

const FLEET = /node_modules\/(pg|@redis\/client|aws4fetch)\/|src\/addons\/(postgres\/store|postgres\/tables)\//g;

/** Packages and folders of a fleet that a gateway with this `state` loads at its start, when `isEnough`. */
async function loadedWith(
  folder: string,
  state: object,
  isEnough: (found: ReadonlySet<string>) => boolean,
): Promise<ReadonlySet<string>> {
  const [port, statusPort] = [await freePort(), await freePort()];
  const list = join(folder, `loaded-${port}`);
  const hook = join(folder, 'hook.mjs');
  writeFileSync(hook, HOOK);
  writeFileSync(list, '');
  const configs = writeSettings({ server: { listen: { port }, status: { port: statusPort }, ...state } });
  const gateway = new GatewayProcess(['--configs', configs], `http://127.0.0.1:${statusPort}`);
  const read = () => [...readFileSync(list, 'utf8').matchAll(FLEET)].map(([, name, path]) => (name ?? path)!);
  // It is not ready while its store does not answer.
  let isOver = false;
  const started = gateway.start({ NODE_OPTIONS: `--import ${pathToFileURL(hook).href}`, LOADED: list }).then(
    () => (isOver = true),
    () => (isOver = true),
  );
  try {
    await until(() => isOver || isEnough(new Set(read())), 'the gateway has loaded its modules');
    expect(readFileSync(list, 'utf8')).toContain('src/core/process/gateway.ts');
    return new Set(read());
  } finally {
    await gateway.end('SIGKILL');
    await started;
    rmSync(configs, { recursive: true });
  }
}

describe('the modules of a fleet', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'gatehouse-loaded-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are loaded by no gateway without `state`', async () => {
    expect(await loadedWith(folder, {}, () => false)).toEqual(new Set());
  }, 600_000);

  it('are loaded by one whose `state` names PostgreSQL and Valkey, although neither answers', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const store = { type: 'postgres', url: `\${env:NONE:-postgres://ann:secret@127.0.0.1:${port}/none}` };
    const shared = { type: 'valkey', url: `\${env:NONE:-redis://127.0.0.1:${other}}` };
    const dir = join(folder, 'state');
    const all = new Set(['pg', '@redis/client', 'postgres/store', 'postgres/tables']);
    const found = await loadedWith(folder, { state: { store, shared, dir } }, (some) => some.size === all.size);
    expect(found).toEqual(all);
  }, 600_000);
});
