import { afterEach, describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { Fleet, type FleetSettings } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const config = (model: string): object => ({
  provider: '@own',
  reply_headers: ['explain_id'],
  override_params: { model },
});

interface Crowd {
  readonly upstream: ScriptedUpstream;
  readonly fleet: Fleet;
  readonly url: string;
  readonly explainUrl: string;
}

/** Never ends, and says so, where a request has `x-hang`. */
const WAITS = `import { definePlugin } from 'gatehouse/plugin';
export default definePlugin({
  name: 'waits',
  level: 'request',
  options: { type: 'object', properties: {} },
  pure: true,
  create: () => async (ctx, next) => {
    if (ctx.get('x-hang') === '') return next();
    process.stdout.write('a plugin waits\\n');
    await new Promise(() => {});
  },
});
`;

async function start({ server: more, files = {} }: Pick<FleetSettings, 'server' | 'files'> = {}): Promise<Crowd> {
  const upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
  ended.push(() => upstream.close());
  const server = { reload: { watch: false }, ...more };
  const fleet = new Fleet({ upstream: upstream.url, gateway: { it: config('one') }, server, files });
  ended.push(() => fleet.end());
  const { url } = await fleet.listens();
  const [, adminUrl] = /\/admin\/v1\/requests\) on (\S+)/.exec(fleet.said)!;
  return { upstream, fleet, url, explainUrl: `${adminUrl}/admin/v1/explain` };
}

/** On a connection of its own, so that another worker may take it. */
async function chat(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-gateway-config': 'it',
      connection: 'close',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.headers.get('x-gateway-explain-id')!;
}

async function explained(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, init);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Record<string, unknown>;
}

const question = (more: object = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ headers: { 'x-gateway-config': 'it' }, body: { model: 'm', messages: [] }, ...more }),
});

const sending = (model: string): object => ({ targets: [{ outbound: { body: { model } } }] });

describe('gatehouse serve --workers', () => {
  it('explains a request whichever worker had it, with the settings it ran on, and says which', async () => {
    const { upstream, fleet, url, explainUrl } = await start();
    const ids: string[] = [];
    for (let round = 0; round < 6; round += 1) ids.push(await chat(url));
    const workers = new Set<unknown>();
    for (const id of ids) {
      const reported = await explained(`${explainUrl}/${id}`);
      expect(reported).toMatchObject({ ...sending('one'), record: { explain_id: id, status: 200 } });
      workers.add(reported['worker']);
    }
    expect(workers).toEqual(new Set([1, 2]));
    expect((await fetch(`${explainUrl}/nobody`)).status).toBe(404);

    fleet.write('gateway/it.yaml', config('two'));
    fleet.signal('SIGHUP');
    await until(() => fleet.lines.filter(({ msg }) => msg === 'settings reloaded').length === 3, 'all have');
    await chat(url);
    expect(upstream.seen.at(-1)?.json['model']).toBe('two');
    for (const id of ids) expect(await explained(`${explainUrl}/${id}`)).toMatchObject(sending('one'));
    expect(await explained(explainUrl, question())).toMatchObject(sending('two'));
  });

  it('answers a question by one of them, and refuses what is wrong with it', async () => {
    const { upstream, explainUrl } = await start();
    const answers = [await explained(explainUrl, question()), await explained(explainUrl, question({ key: 'test' }))];
    expect(answers).toMatchObject([sending('one'), { ...sending('one'), caller: { key: 'test' } }]);
    expect(new Set(answers.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    expect(upstream.seen).toEqual([]);
    const refused = await fetch(explainUrl, question({ key: 'tset' }));
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { code: 'unknown_key', detail: expect.stringContaining('Did you mean "test"?') },
    ]);
    expect((await fetch(explainUrl, question({ headers: 1 }))).status).toBe(422);
  });

  it('explains a request though another worker hangs', async () => {
    const { fleet, url, explainUrl } = await start();
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) ids.push(await chat(url));
    const workerOf = new Map<string, unknown>();
    for (const id of ids) workerOf.set(id, (await explained(`${explainUrl}/${id}`))['worker']);
    const pid = fleet.lines.find(({ msg, worker }) => msg === 'a worker serves' && worker === 1)!['pid'];
    process.kill(Number(pid), 'SIGSTOP');
    ended.push(() => process.kill(Number(pid), 'SIGCONT'));
    expect([...workerOf.values()]).toContain(2);
    for (const [id, worker] of workerOf)
      if (worker === 2) expect(await explained(`${explainUrl}/${id}`)).toMatchObject({ worker: 2 });
    // The one that hangs may have it: to come back later is all that can be said.
    const unknown = await fetch(`${explainUrl}/nobody`);
    expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('explains what the others had when a worker has died, and says of its own that they are gone', async () => {
    const { fleet, url, explainUrl } = await start();
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) ids.push(await chat(url));
    const workerOf = new Map<string, unknown>();
    for (const id of ids) workerOf.set(id, (await explained(`${explainUrl}/${id}`))['worker']);
    expect(new Set(workerOf.values())).toEqual(new Set([1, 2]));
    const serves = (worker: number) =>
      fleet.lines.find((line) => line['msg'] === 'a worker serves' && line['worker'] === worker);
    process.kill(Number(serves(1)!['pid']), 'SIGKILL');
    await until(() => serves(3) !== undefined, 'another takes its place');
    for (const [id, worker] of workerOf) {
      const response = await fetch(`${explainUrl}/${id}`);
      expect([worker, response.status]).toEqual([worker, worker === 1 ? 404 : 200]);
      expect(await response.text()).toContain(worker === 1 ? 'until it ends' : '"worker":2');
    }
  });

  it('ends while a question is open, without killing a worker', async () => {
    const server = { plugins: ['./waits.mjs'], chains: { request: ['metadata', 'waits', 'route'] } };
    const { fleet, explainUrl } = await start({ server, files: { 'waits.mjs': WAITS } });
    const open = fetch(explainUrl, question({ headers: { 'x-gateway-config': 'it', 'x-hang': '1' } })).then(
      ({ status }) => status,
      () => 'cut',
    );
    await until(() => fleet.said.includes('a plugin waits'), 'it is answered');
    fleet.signal('SIGTERM');
    expect(await fleet.exited).toBe(0);
    // Told to come back, or cut: the listener ends, too.
    expect([503, 'cut']).toContain(await open);
  });
});
