import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

const ANY = { 'if-match': '*' };
const VERSION = {
  model: '@openai/m',
  text: 'Summarise: {{ticket}}',
  variables: { ticket: { schema: { type: 'string' } } },
};
const FILE = `# By hand.\nlabels: { production: 1 }\nversions:\n  1:\n    model: "@openai/m"\n    text: "Hello {{name}}"\n    variables: { name: {} }\n`;
let upstream: ScriptedUpstream;
let admin: AdminGateway;
let token: string;

const start = async (setup: Parameters<typeof startAdmin>[0] = {}): Promise<void> => {
  admin = await startAdmin({
    catalog: {
      providers: [
        { slug: 'sim', provider: 'simulator' },
        { slug: 'openai', provider: 'openai', api_key: 'k', base_url: `${upstream.url}/v1`, allow_insecure: true },
      ],
    },
    gateway: { default: {} },
    teams: { teams: { search: {} } },
    ...setup,
  });
};

beforeEach(async () => {
  upstream = await startUpstream(({ json: body }, res) => {
    const text = JSON.stringify(body['messages']);
    json(
      res,
      openaiReply(text.includes('JSON') ? '{"title":"x"}' : `Reply to ${text}`, {
        usage: { prompt_tokens: 7, completion_tokens: 5 },
      }),
    );
  });
  await start();
  token = await admin.token('admin');
});
afterEach(async () => {
  await admin.close();
  await upstream.close();
});

const call = (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
  admin.ask(method, path, { token, ...(body && { body }), headers });

const create = (id = 'summary', version: object = VERSION): Promise<Answer> =>
  call('POST', '/prompts', { id, spec: { versions: { 1: version } } });

async function sent(prompt: string, variables: object): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${admin.gateway.data.url}/v1/prompts/${prompt}/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ variables }),
  });
  return { status: reply.status, text: await reply.text() };
}

describe('a prompt that the store has', () => {
  it('serves at once, is released and promoted, and is there after a restart', async () => {
    const created = await create();
    expect([created.status, created.json.owner]).toEqual([201, 'store']);
    expect(await sent('summary', { ticket: 'It burns' })).toMatchObject({
      status: 200,
      text: expect.stringContaining('It burns'),
    });
    const draft = await call('POST', '/prompts/summary:promote', { version: 1, label: 'production' }, ANY);
    expect([draft.status, draft.json.errors[0].pointer]).toEqual([422, '/version']);
    const released = await call('POST', '/prompts/summary:release', { version: 1 }, ANY);
    expect(released.json.spec.versions[1].digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    const promoted = await call(
      'POST',
      '/prompts/summary:promote',
      { version: 1, label: 'production' },
      { 'if-match': released.json.etag },
    );
    expect(promoted.json.spec.labels).toEqual({ production: 1 });
    expect(
      (await call('POST', '/prompts/summary:promote', { version: 1, label: 'b' }, { 'if-match': released.json.etag }))
        .status,
    ).toBe(412);
    expect((await sent('summary@production', { ticket: 'x' })).status).toBe(200);
    const actions = (await call('GET', '/audit?object_kind=prompts')).json.items.map(
      ({ reason }: { reason: string }) => reason,
    );
    expect(actions).toEqual(['prompts.promote', 'prompts.release', 'prompts.create']);
    admin = await admin.restart();
    expect((await sent('summary@production', { ticket: 'x' })).status).toBe(200);
    expect((await call('GET', '/find?q=summ')).json.items).toEqual([
      { kind: 'prompts', id: 'summary', place: 'store' },
    ]);
  });

  it('has every label whose move was answered, however many move at once', async () => {
    await create();
    await call('POST', '/prompts/summary:release', { version: 1 }, ANY);
    const labels = ['blue', 'green', 'red', 'white'];
    const moves = await Promise.all(
      labels.map((label) => call('POST', '/prompts/summary:promote', { version: 1, label }, ANY)),
    );
    const moved = labels.filter((_, index) => moves[index]!.status === 200);
    expect(moves.filter(({ status }) => status !== 200 && status !== 412)).toEqual([]);
    expect(moved.length).toBeGreaterThan(0);
    expect(Object.keys((await call('GET', '/prompts/summary')).json.spec.labels).sort()).toEqual(moved);
  });

  it('never changes what is released, and takes new versions beside it', async () => {
    await create();
    await call('POST', '/prompts/summary:release', { version: 1 }, ANY);
    for (const version of [{ text: 'Other: {{ticket}}' }, { digest: null }, null]) {
      const changed = await call('PATCH', '/prompts/summary', { spec: { versions: { 1: version, 2: VERSION } } }, ANY);
      expect([changed.status, changed.json.errors?.[0]?.pointer]).toEqual([422, '/spec/versions/1']);
    }
    const added = await call(
      'PATCH',
      '/prompts/summary',
      { spec: { versions: { 2: { ...VERSION, text: 'Short: {{ticket}}' } } } },
      ANY,
    );
    expect(added.status).toBe(200);
    expect((await sent('summary', { ticket: 'x' })).text).toContain('Short: x');
    expect((await sent('summary@1', { ticket: 'x' })).text).toContain('Summarise: x');
    expect((await call('DELETE', '/prompts/summary', undefined, ANY)).status).toBe(204);
    expect((await sent('summary', { ticket: 'x' })).status).toBe(404);
  });

  it('that is wrong is refused with the place of each mistake, and nothing has changed', async () => {
    const mistakes = async (version: object): Promise<unknown> =>
      (await create('summary', version)).json.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(await mistakes({ text: '{{unknown}}' })).toEqual(['/spec/versions/1/text']);
    expect(await mistakes({ ...VERSION, model: '@none/m' })).toEqual(['/spec/versions/1/model']);
    expect(await mistakes({ ...VERSION, colour: 'red' })).toEqual([expect.stringContaining('/spec/versions/1')]);
    expect(await mistakes({ ...VERSION, digest: `sha256:${'0'.repeat(64)}` })).toEqual(['/spec/versions/1/digest']);
    expect(
      (await call('POST', '/prompts?dry_run=true', { id: 'summary', spec: { versions: { 1: VERSION } } })).status,
    ).toBe(201);
    expect((await call('GET', '/prompts')).json.items).toEqual([]);
    expect((await call('GET', '/settings')).json.reload.ok).toBe(true);
  });

  it('stays while a config pins it, and one in a file of the same name is refused with its place', async () => {
    await create();
    writeFileSync(join(admin.configs, 'gateway/pinned.yaml'), 'provider: "@openai"\nprompts: { summary: 1 }\n');
    expect(await admin.gateway.reload()).not.toMatchObject({ outcome: 'refused' });
    expect((await call('DELETE', '/prompts/summary', undefined, ANY)).json.code).toBe('settings_refused');
    mkdirSync(join(admin.configs, 'prompts'), { recursive: true });
    writeFileSync(join(admin.configs, 'prompts/summary.yaml'), FILE);
    expect(await admin.gateway.reload()).toMatchObject({
      outcome: 'refused',
      diagnostics: expect.arrayContaining([
        expect.objectContaining({
          file: expect.stringMatching(/prompts\/summary\.yaml$/),
          message: expect.stringContaining('also in the store'),
        }),
      ]),
    });
    expect((await sent('summary', { ticket: 'x' })).status).toBe(200);
  });
});

describe('a version of a prompt', () => {
  it('is rendered, saved or not, by any role', async () => {
    await create();
    const viewer = await admin.token('viewer');
    const render = (body: object) => admin.ask('POST', '/prompts/summary:render', { token: viewer, body });
    expect((await render({ variables: { ticket: 'It burns' } })).json).toEqual({
      version: 1,
      request: { model: '@openai/m', messages: [{ role: 'user', content: 'Summarise: It burns' }] },
    });
    const unsaved = await render({
      draft: { text: 'Be {{tone}}', variables: { tone: {} } },
      variables: { tone: 'brief' },
    });
    expect(unsaved.json).toMatchObject({ version: null, request: { messages: [{ content: 'Be brief' }] } });
    expect((await render({ variables: { ticket: 1 } })).json.errors[0].pointer).toBe('/variables/ticket');
    expect((await render({ draft: { text: '{{x}}' } })).json.errors[0].pointer).toBe('/draft/text');
    expect((await render({ version: '9' })).status).toBe(404);
  });

  it('runs cases beside another one, in the name of a key, and says which reply is not as expected', async () => {
    await create();
    const body = {
      as: 'test',
      versions: [
        { version: '1' },
        { draft: { model: '@openai/m', text: 'As JSON: {{ticket}}', variables: { ticket: {} } } },
      ],
      cases: [
        { variables: { ticket: 'It burns' }, text: 'It burns' },
        { variables: { ticket: 'x' }, schema: { type: 'object', required: ['title'] } },
        { variables: {} },
      ],
    };
    const { text, status } = await call('POST', '/prompts/summary:run', body);
    expect(status).toBe(200);
    const events = text
      .split('\n\n')
      .filter(Boolean)
      .map((event) => JSON.parse(event.split('data: ')[1]!) as Record<string, unknown>);
    expect(events.map(({ case: of, version, ok }) => [of, version, ok])).toEqual([
      [0, 0, true],
      [0, 1, false],
      [1, 0, false],
      [1, 1, true],
      [2, 0, false],
      [2, 1, false],
      [undefined, undefined, undefined],
    ]);
    expect(events[0]).toMatchObject({ status: 200, tokens: { input: 7, output: 5 }, request_id: expect.any(String) });
    expect(events[1]).toMatchObject({ problem: 'The reply does not have the expected text.' });
    expect(events[2]).toMatchObject({ problem: 'The reply is not JSON.' });
    expect(events[4]).toMatchObject({ status: 400, problem: expect.stringContaining('ticket') });
    expect(events.at(-1)).toEqual({ passed: 2, failed: 4 });
    const wrong = await call('POST', '/prompts/summary:run', {
      ...body,
      cases: [{ schema: { type: 'string', pattern: '(' } }],
    });
    expect(wrong.json.errors[0].pointer).toBe('/cases/0/schema');
    expect((await call('POST', '/prompts/summary:run', { ...body, as: 'none' })).status).toBe(404);
  });
});

it('A prompt of a file is released and promoted by patches that `git apply` takes, and is read and not written', async () => {
  mkdirSync(join(admin.configs, 'prompts'), { recursive: true });
  const path = join(admin.configs, 'prompts/hello.yaml');
  writeFileSync(path, FILE.replace('labels: { production: 1 }\n', ''));
  await admin.gateway.reload();
  expect((await call('GET', '/prompts/hello')).json).toMatchObject({
    owner: 'prompts/hello.yaml:1',
    spec: { versions: { 1: { text: 'Hello {{name}}' } } },
  });
  expect((await call('PATCH', '/prompts/hello', { spec: { description: 'x' } }, ANY)).json.code).toBe('owned_by_files');
  const apply = async (body: object): Promise<void> => {
    const { json: draft } = await call('POST', '/prompts:draft', { id: 'hello', ...body });
    expect(draft.diagnostics).toEqual([]);
    writeFileSync(join(admin.configs, 'p.patch'), draft.patch);
    execFileSync('git', ['apply', 'p.patch'], { cwd: admin.configs });
    expect(await admin.gateway.reload()).not.toMatchObject({ outcome: 'refused' });
  };
  await apply({ release: 1 });
  await apply({ promote: { version: 1, label: 'production' } });
  const { versions } = (await call('GET', '/prompts/hello')).json.spec;
  await apply({
    spec: {
      ...(await call('GET', '/prompts/hello')).json.spec,
      versions: { ...versions, 2: { ...versions[1], digest: undefined, text: 'Hi {{name}}' } },
    },
  });
  expect(readFileSync(path, 'utf8')).toMatch(/^# By hand\.\n/);
  expect((await sent('hello@production', { name: 'Ann' })).text).toContain('Hello Ann');
  expect((await sent('hello', { name: 'Ann' })).text).toContain('Hi Ann');
  const fresh = await call('POST', '/prompts:draft', { id: 'fresh', spec: { versions: { 1: VERSION } } });
  expect(fresh.json.patch).toMatch(/^--- \/dev\/null\n\+\+\+ b\/prompts\/fresh\.yaml\n@@ -0,0 \+1,\d+ @@\n\+versions:/);
});
