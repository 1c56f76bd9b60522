import { rmSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { follow, readChecklists } from './checklists.ts';
import { copyRepository, run, serve, writeFiles, type Ended, type Serving } from './copy.ts';

const ROOT = join(import.meta.dirname, '../..');
const checklists = readChecklists(ROOT);

/** How many files each kind of addition may take at most. */
const MOST: Readonly<Record<string, number>> = {
  'A provider': 3,
  'An operation': 4,
  'A config key': 3,
  'A metric': 1,
};

/** Those of `npm run generate` that write something new here; the others have tests of their own. */
const GENERATORS = [
  'schemas/generate.ts',
  'build/record-code/main.ts',
  'test/plugins/readme.ts',
  'test/telemetry/metrics-table.ts',
];

let copy: string;
let generated: readonly Ended[];
let types: Promise<Ended>;
const touched = new Map<string, ReadonlySet<string>>();
beforeAll(async () => {
  copy = copyRepository();
  for (const checklist of checklists) touched.set(checklist.title, follow(copy, checklist));
  generated = await Promise.all(GENERATORS.map((script) => run(copy, process.execPath, [script])));
  // Meanwhile the gateway of the copy is asked.
  types = run(copy, 'tsc', ['-p', 'tsconfig.build.json', '--noEmit']);
}, 120_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

it('CONTRIBUTING.md has a checklist for everything that is added most often', () => {
  expect(checklists.map(({ title }) => title)).toEqual([
    'A provider',
    'An operation',
    'An operation with a task of its own',
    'A format',
    'A config key',
    'A metric',
    'A plugin',
  ]);
});

describe.each(checklists)('the checklist "$title"', ({ title, promised }) => {
  it('touches as many files as its title says, and no more than it may', () => {
    const files = touched.get(title)!;
    expect([...files]).toHaveLength(promised);
    expect(files.size).toBeLessThanOrEqual(MOST[title] ?? files.size);
  });
});

describe('a copy of the repository that has followed all checklists', () => {
  it('generates its files', () => {
    expect(generated).toEqual(GENERATORS.map(() => ({ code: 0, output: '' })));
  });

  it('documents the key, the entry of the provider, the metric and the options of the plugin', () => {
    const read = (name: string) => readFileSync(join(copy, name), 'utf8');
    expect(read('docs/reference/settings/server.md')).toContain(
      '| `limits.keep_alive_time`<br>time, default `75s` | How long an idle connection of a client is kept.',
    );
    expect(read('docs/reference/settings/catalog.md')).toContain('with `provider: echo`');
    expect(read('plugins/telemetry/README.md')).toContain(
      '| `gatehouse_request_attempts_total` | counter | `route`, `stream` |',
    );
    expect(read('plugins/note/README.md')).toContain('| `text` | string | `"hello"` | Value of the header. |');
  });

  it('keeps the walls', async () => {
    const { code, output } = await run(copy, 'vitest', ['run', '--project', 'crossing', 'test/architecture.test.ts']);
    expect(code, output).toBe(0);
  }, 240_000);

  it('translates in the new format, in both directions', async () => {
    const { code, output } = await run(copy, process.execPath, ['--input-type=module', '--eval', TRANSLATE]);
    expect(code, output).toBe(0);
    const { request, losses, events } = JSON.parse(output) as Record<string, unknown>;
    expect(request).toEqual({ model: 'm', prompt: 'Hello', limit: 5, stream: true });
    expect(losses).toEqual(['seed']);
    expect(events).toBe('Hello');
  });
});

const TRANSLATE = `
import { formats } from './src/formats/index.ts';
import { finish } from './src/formats/steps.ts';
import { translateRequest } from './src/formats/translate.ts';

const reply = { model: 'm', newCallId: () => 'call' };
const target = { model: 'm', host: 'direct', strict: true };
const body = { model: 'x', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5, seed: 1, stream: true };
const { 'openai-chat': client, plain: upstream } = formats;
const encoded = finish(translateRequest(body, { client, upstream, target, reply }));
const decoder = upstream.decodeStream(reply);
const events = ['{"text":"Hel"}\\n{"te', 'xt":"lo"}\\n{"end":true}\\n'].flatMap((text) => decoder.push(Buffer.from(text)));
const stream = client.encodeStream({ id: 'i', created: 1, strict: true, includeUsage: false, model: 'm' });
const chunks = stream.push([...events, ...decoder.end()]).split('\\n\\n').filter((text) => text.startsWith('data: {'));
console.log(JSON.stringify({
  request: encoded.body,
  losses: encoded.losses.map(({ param }) => param),
  events: chunks.map((text) => JSON.parse(text.slice(6)).choices[0]?.delta.content ?? '').join(''),
}));
`;

const REPLIES: Readonly<Record<string, object>> = {
  '/base/v1/rerank': { results: [{ index: 0 }] },
  '/base/v2/embeddings': { object: 'list', model: 'demo', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] },
};

describe('its gateway', () => {
  let folder: string;
  let upstream: ScriptedUpstream;
  let gateway: Serving;
  beforeAll(async () => {
    upstream = await startUpstream(({ url }, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(REPLIES[url] ?? CHAT));
    });
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-contributing-settings-'));
    writeFiles(folder, settings(upstream.url, { keep_alive_time: '7s' }));
    gateway = await serve(copy, folder);
  }, 60_000);
  afterAll(async () => {
    gateway?.child.kill('SIGKILL');
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (path: string, body: object): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: 'Hello' }];

  it('accepts a catalog entry of the new provider, and refuses one without its key', async () => {
    const validate = () => run(copy, process.execPath, ['src/cli/main.ts', 'validate', '--configs', folder]);
    expect(await validate()).toMatchObject({ code: 0 });
    writeFiles(folder, { 'catalog.yaml': { providers: [{ slug: 'echo', provider: 'echo' }] } });
    const { code, output } = await validate();
    expect([code, output]).toEqual([1, expect.stringContaining('`api_key` is missing')]);
    writeFiles(folder, settings(upstream.url, { keep_alive_time: 'soon' }));
    const wrong = await validate();
    expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining('keep_alive_time')]);
    writeFiles(folder, settings(upstream.url, { keep_alive_time: '7s' }));
  }, 60_000);

  it('sends a request to the upstream of the new provider, with its credential', async () => {
    const response = await ask('/v1/chat/completions', { model: '@echo/demo', messages });
    expect([response.status, await response.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
    const { url, headers, json } = upstream.seen.at(-1)!;
    expect([url, headers['x-echo-key'], json['model']]).toEqual(['/base/v2/chat', 'echo-key-0123456789', 'demo']);
    // The key and the plugin.
    expect(response.headers.get('keep-alive')).toBe('timeout=7');
    expect(response.headers.get('x-note')).toBe('tested');
  });

  it('asks the new provider for embeddings, and refuses images', async () => {
    const answered = await ask('/v1/embeddings', { model: '@echo/demo', input: 'x' });
    expect([answered.status, await answered.json()]).toMatchObject([200, { data: [{ embedding: [0.5] }] }]);
    expect(upstream.seen.at(-1)!.url).toBe('/base/v2/embeddings');
    const refused = await ask('/v1/images/generations', { model: '@echo/demo', prompt: 'x' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'unsupported_task' } }]);
  });

  it('answers the new operation, with the model of its path', async () => {
    const response = await ask('/openai/deployments/@echo/demo/chat/completions', { messages });
    expect(response.status).toBe(200);
    expect(upstream.seen.at(-1)!.json['model']).toBe('demo');
  });

  it('answers the new task where a provider has it, and refuses it elsewhere', async () => {
    const answered = await ask('/v1/rerank', { model: '@openai/m', query: 'x' });
    expect([answered.status, await answered.json()]).toEqual([200, { results: [{ index: 0 }] }]);
    expect(upstream.seen.at(-1)!.url).toBe('/base/v1/rerank');
    const refused = await ask('/v1/rerank', { model: '@echo/m', query: 'x' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'unsupported_task' } }]);
  });

  it('shows the new metric in the scrape', async () => {
    await ask('/v1/chat/completions', { model: '@echo/demo', messages });
    const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(text).toMatch(/^gatehouse_request_attempts_total\{route="\/v1\/chat\/completions",stream="false"\} [12]$/m);
  });
});

it('the copy compiles', async () => {
  expect(await types).toEqual({ code: 0, output: '' });
}, 120_000);

const CHAT = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'demo',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};

function settings(upstream: string, limits: object): Readonly<Record<string, unknown>> {
  const local = { host: '127.0.0.1', port: 0 };
  const entry = { base_url: `${upstream}/base`, allow_insecure: true };
  return {
    'server.yaml': {
      listen: local,
      status: local,
      admin: { enabled: false },
      limits,
      chains: { request: ['metadata', { plugin: 'note', options: { text: 'tested' } }, 'route'] },
    },
    'catalog.yaml': {
      providers: [
        { slug: 'echo', provider: 'echo', api_key: 'echo-key-0123456789', ...entry },
        { slug: 'openai', provider: 'openai', ...entry, base_url: `${upstream}/base/v1` },
      ],
    },
    'keys.yaml': { keys: [{ id: 'test', key: KEY }] },
  };
}
