import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../core/settings/read/load.ts';
import { diskFiles } from '../../core/settings/source/files.ts';
import type { CaseOutcome } from './outcome.ts';
import { caseOf, ENTRIES, TARGETS, type CaseParts } from './run.testkit.ts';
import { runCase } from './runner.ts';

const api = new URL('../../plugin/index.ts', import.meta.url).href;

const runWith = async (create: string): Promise<CaseOutcome> => (await runAllWith(create))[0]!;

/** Settings with a request plugin with this `create`, on disk, because modules are loaded from there. */
async function runAllWith(create: string, parts: CaseParts = {}): Promise<readonly CaseOutcome[]> {
  const configs = mkdtempSync(join(tmpdir(), 'gatehouse-config-tests-'));
  onTestFinished(() => rmSync(configs, { recursive: true, force: true }));
  const plugin = `{ name: 'outside', level: 'request', options: { type: 'object', additionalProperties: false }, create(${create} }`;
  writeFileSync(
    join(configs, 'outside.ts'),
    `import { readFile } from 'node:fs/promises';\nimport { promisify } from 'node:util';\nimport { gzip } from 'node:zlib';\nimport { pbkdf2 } from 'node:crypto';\n` +
      `import { definePlugin } from '${api}';\nexport default definePlugin(${plugin});\n`,
  );
  const chains = { request: ['outside', 'metadata', 'route'] };
  mkdirSync(join(configs, 'gateway'));
  const files = {
    'server.yaml': { plugins: ['./outside.ts'], chains },
    'catalog.yaml': { providers: ENTRIES },
    'keys.yaml': { keys: [{ id: 'team', key: '${env:TEAM_KEY}' }] },
    'gateway/prod.yaml': TARGETS.openai,
  };
  for (const [name, file] of Object.entries(files)) writeFileSync(join(configs, name), JSON.stringify(file));
  const loaded = await loadSettings(configs, { env: {}, files: diskFiles, fakeMissing: true });
  return runCase({ configs, env: {}, loaded }, caseOf({ upstream: [{ answer: 'Hello' }], ...parts }));
}

it('lets external plugins wait for files and threads before time passes', async () => {
  const outcome = await runWith(`) { return async (ctx, next) => {
    for (let time = 0; time < 5; time += 1) await promisify(gzip)(await readFile(import.meta.filename));
    await next();
    ctx.exchange.reply.headers['x-plugin'] = 'was here';
  }; }`);
  expect(outcome).toMatchObject({ status: 200, headers: { 'x-plugin': 'was here' }, faults: [] });
});

it('lets them wait for some time', async () => {
  const outcome = await runWith(`) { return async (ctx, next) => {
    for (let time = 0; time < 5; time += 1) await promisify(pbkdf2)('a', 'b', 20_000, 64, 'sha512');
    await new Promise((resolve) => setTimeout(resolve, 60));
    await next();
    ctx.exchange.reply.headers['x-plugin'] = 'was here';
  }; }`);
  expect(outcome).toMatchObject({ status: 200, headers: { 'x-plugin': 'was here' }, faults: [] });
});

it('gives them the test clock', async () => {
  const outcome = await runWith(`{ host }) { return async (ctx, next) => {
    await host.clock.sleep(3_600_000);
    await next();
  }; }`);
  expect(outcome).toMatchObject({
    status: 504,
    attempts: [],
    faults: [expect.stringContaining('no upstream was called')],
  });
});

const NEVER_ENDS = ') { return () => new Promise(() => {}); }';

it('aborts one that never lets a request end, as the gateway does', async () => {
  const outcome = await runWith(NEVER_ENDS);
  expect(outcome).toMatchObject({ status: 504, attempts: [] });
});

it('sends the further requests after an aborted one', async () => {
  const outcomes = await runAllWith(NEVER_ENDS, { next: [{ expect: {} }] });
  expect(outcomes.map(({ status }) => status)).toEqual([504, 504]);
});

it('waits for one that never closes only in test time', async () => {
  const outcome = await runWith(`{ host }) { host.onClose(() => new Promise(() => {})); return (_, next) => next(); }`);
  expect(outcome).toMatchObject({ status: 200, faults: [] });
});
