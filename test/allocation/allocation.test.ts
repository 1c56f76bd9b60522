import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startMeasured, type MeasuredGateway } from './measured-gateway.ts';

let gateway: MeasuredGateway;

beforeAll(async () => {
  gateway = await startMeasured();
});

afterAll(() => gateway.close());

const API = pathToFileURL(join(import.meta.dirname, '../../src/plugin/index.ts')).href;

/** Measured: 11.2. */
const EMPTY_KB = 13;

/** Compiled code allocates less, so the code must be compiled first. */
const WARM_UP = 3000;
const COUNT = 400;

/** KB per request. */
async function allocated({ sendAll, heapOf }: MeasuredGateway, model: string): Promise<number> {
  await sendAll(model, WARM_UP);
  let least = Infinity;
  // The lowest of three: timers, reloads of files and the compiler allocate now and then.
  for (let round = 0; round < 3; round += 1) {
    const before = await heapOf('gc');
    await sendAll(model, COUNT);
    least = Math.min(least, ((await heapOf('now')) - before) / COUNT / 1024);
  }
  console.log(`${model}: ${least.toFixed(1)} KB per request`);
  expect(least).toBeGreaterThan(5);
  return least;
}

it.each([
  ['in its own format', '@gpt/gpt-4o-mini', 51],
  ['translated for Claude', '@claude/claude-sonnet-4-5', 68],
])(
  'A chat of 1 KB %s (%s) allocates at most %d KB',
  async (_, model, most) => {
    expect(await allocated(gateway, model)).toBeLessThan(most);
  },
  120_000,
);

it('A chat of 1 KB allocates at most 76 KB with a store, budgets of a key, its team and its organization, and limits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-allocation-'));
  const budgets = [{ cap: '1000000 USD', period: 'month' }];
  const limits = { requests: '1000000/s' };
  const counted = await startMeasured({
    server: { state: { store: { type: 'sqlite', dir: folder } } },
    teams: { organizations: { acme: { budgets } }, teams: { search: { organization: 'acme', budgets, limits } } },
    keys: { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, team: 'search', budgets, limits }] },
  });
  try {
    expect(await allocated(counted, '@gpt/gpt-4o-mini')).toBeLessThan(76);
  } finally {
    await counted.close();
    rmSync(folder, { recursive: true });
  }
}, 120_000);

/** Settings with a plugin of each level that does nothing. */
function withEmptyPlugins(folder: string): object {
  const places = [
    ['entry', 'auth'],
    ['request', 'route'],
    ['attempt', 'transform'],
  ] as const;
  const modules = places.map(([level]) => {
    const module = join(folder, `${level}.mjs`);
    const create = 'create: () => async (ctx, next) => { await next(); }';
    const options = `options: { type: 'object', additionalProperties: false, properties: {} }`;
    const text = `definePlugin({ name: 'empty-${level}', level: '${level}', ${options}, ${create} })`;
    writeFileSync(module, `import { definePlugin } from ${JSON.stringify(API)};\nexport default ${text};\n`);
    return module;
  });
  const added = places.map(([level, before]) => [level, { add: [{ plugin: `empty-${level}`, before }] }]);
  return { plugins: modules, chains: Object.fromEntries(added) };
}

it(`Empty external plugins of the three levels add at most ${EMPTY_KB} KB to a chat of 1 KB`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-allocation-'));
  const counted = await startMeasured({ server: withEmptyPlugins(folder) });
  // A gateway that has served other tests has more of its code compiled.
  const plain = await startMeasured();
  try {
    const without = await allocated(plain, '@gpt/gpt-4o-mini');
    expect((await allocated(counted, '@gpt/gpt-4o-mini')) - without).toBeLessThan(EMPTY_KB);
  } finally {
    await plain.close();
    await counted.close();
    rmSync(folder, { recursive: true });
  }
}, 240_000);

/** Opens streams until the first event of each has arrived. */
async function openStreams(count: number, signal: AbortSignal): Promise<void> {
  const open = async (): Promise<void> => {
    const { body } = await gateway.post('@gpt/gpt-4o-mini', { stream: true, signal });
    await body!.getReader().read();
  };
  for (let opened = 0; opened < count; opened += 20) await Promise.all(Array.from({ length: 20 }, open));
}

const STREAMS = 300;

it('An open stream holds at most 24 KB of heap', async () => {
  const client = new AbortController();
  await openStreams(100, client.signal);
  let least = Infinity;
  // The lowest of three: on a loaded machine more of the code is compiled while streams are opened.
  for (let round = 0; round < 3; round += 1) {
    const before = await gateway.heapOf('gc');
    await openStreams(STREAMS, client.signal);
    least = Math.min(least, ((await gateway.heapOf('gc')) - before) / STREAMS / 1024);
  }
  client.abort();
  console.log(`${least.toFixed(1)} KB of heap per stream`);
  expect(least).toBeLessThan(24);
  expect(least).toBeGreaterThan(5);
}, 120_000);
