import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { KEY, startTestGateway, until, writeSettings, type TestGateway } from '../support/gateway.ts';
import {
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

const BREAKER = { failures: 3, min_requests: 3, failure_rate: 0.5, window: '60s', cooldown: '10s' };
const FALLBACK = {
  strategy: { mode: 'fallback' },
  circuit_breaker: BREAKER,
  targets: [
    { provider: '@first', override_params: { model: 'm' } },
    { provider: '@second', override_params: { model: 'n' } },
  ],
};

const answers: Script = (_, res) => json(res, openaiReply('well'));
const refuses =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_, res) =>
    json(res, { error: { message: `no ${status}` } }, status, headers);
const breaks: Script = (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: 'half of ' }), null]);

let first: ScriptedUpstream;
let second: ScriptedUpstream;
let gateway: TestGateway;
let dir: string;
/** What each upstream does now. */
let does: { first: Script; second: Script };
/** The gateway's clock stands still, unless it `runs`; its timers are real. */
let now: number;
let runs: boolean;

beforeEach(async () => {
  now = 1000;
  runs = false;
  does = { first: answers, second: answers };
  first = await startUpstream((...request) => does.first(...request));
  second = await startUpstream((...request) => does.second(...request));
});
afterEach(async () => {
  await gateway.close();
  await Promise.all([first.close(), second.close()]);
  rmSync(dir, { recursive: true, force: true });
});

const write = (id: string, config: object): void =>
  writeFileSync(join(dir, 'gateway', `${id}.yaml`), JSON.stringify(config));

async function start(config: object = FALLBACK): Promise<void> {
  const entry = { provider: 'simulator', allow_insecure: true };
  dir = writeSettings({
    server: {
      listen: { host: '127.0.0.1', port: 0 },
      status: { host: '127.0.0.1', port: 0 },
      admin: { port: 0 },
      reload: { watch: false, debounce: '1ms' },
    },
    catalog: {
      providers: [
        { slug: 'first', base_url: first.url, ...entry },
        { slug: 'second', base_url: second.url, ...entry },
      ],
    },
    keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, inline_configs: true }] },
    gateway: { it: config },
  });
  const clock = { ...systemClock, now: () => (runs ? systemClock.now() : now) };
  gateway = await startTestGateway({}, { configs: dir, clock });
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** `config.targets[1]` */
  readonly from: string | null;
}

async function chat(body: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it', ...headers },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  const text = await response.text();
  return { status: response.status, text, from: response.headers.get('x-gateway-last-used-option-index') };
}

async function times(count: number, body: object = {}, headers: Record<string, string> = {}): Promise<Answer[]> {
  const all: Answer[] = [];
  for (let done = 0; done < count; done += 1) all.push(await chat(body, headers));
  return all;
}

const status = async (path: string): Promise<string> => (await fetch(`${gateway.statusUrl}${path}`)).text();
const seriesOf = async (name: string): Promise<string[]> =>
  (await status('/metrics')).split('\n').filter((line) => line.startsWith(`gatehouse_${name}{`));
const healthy = async (): Promise<string[]> =>
  (await seriesOf('upstream_target_healthy')).map((line) => line.replace(/^.*target="([^"]*)".*\} /, '$1 '));
const transitions = async (target: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await seriesOf('circuit_breaker_transitions_total'))
      .filter((line) => line.includes(`target="${target}"`))
      .map((line) => /to="(\w+)"\} (\d+)/.exec(line)!)
      .map(([, to, count]) => [to!, Number(count)]),
  );
const targetLines = async (): Promise<string[]> =>
  (await status('/readyz?verbose')).split('\n').filter((line) => line.startsWith('target '));

const FIRST = 'config.targets[0]';
const SECOND = 'config.targets[1]';

describe('an upstream that flaps', () => {
  it('is left alone while it fails, tried now and then, and back once it has recovered', async () => {
    await start();
    does.first = refuses(503);
    const minute: Answer[] = [];
    for (const end = now + 60_000; now < end; now += 1000) minute.push(await chat());
    expect(new Set(minute.map(({ status: code, from }) => `${code} ${from}`))).toEqual(new Set([`200 ${SECOND}`]));
    expect(first.seen.length, 'three to open it, then one each cooldown').toBe(3 + 5);
    does.first = answers;
    const back: (string | null)[] = [];
    for (let second = 0; second < 12; second += 1, now += 1000) back.push((await chat()).from);
    expect(back.indexOf(FIRST)).toBeLessThanOrEqual(10);
    expect(back.slice(back.indexOf(FIRST)), 'and stays').not.toContain(SECOND);
    expect(await transitions(FIRST)).toEqual({ open: 6, half_open: 6, closed: 1 });
  });

  it('has one probe at a time, however many requests there are', async () => {
    await start();
    does.first = refuses(503);
    await times(3);
    now += 10_000;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    does.first = async (request, res, index) => {
      await held;
      await answers(request, res, index);
    };
    const before = first.seen.length;
    const probe = chat();
    await until(() => first.seen.length > before, 'the probe has arrived');
    const others = await Promise.all(Array.from({ length: 10 }, () => chat()));
    expect(new Set(others.map(({ from }) => from))).toEqual(new Set([SECOND]));
    expect(first.seen.length).toBe(before + 1);
    release();
    expect((await probe).from).toBe(FIRST);
    expect((await chat()).from).toBe(FIRST);
  });

  it('is tried by the next one when the client of a probe leaves', async () => {
    await start();
    does.first = refuses(503);
    await times(3);
    now += 10_000;
    does.first = () => {};
    const before = first.seen.length;
    const leaving = new AbortController();
    const probe = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
      signal: leaving.signal,
    }).catch(() => {});
    await until(() => first.seen.length > before, 'the probe has arrived');
    leaving.abort();
    await probe;
    await until(() => first.seen.at(-1)!.aborted, 'its upstream knows');
    does.first = answers;
    expect((await chat()).from).toBe(FIRST);
  });
});

describe('what counts', () => {
  it.each([
    ['a refusal of the request itself', refuses(400)],
    ['an unknown model', refuses(404)],
    ['a lack of permission', refuses(403)],
  ])('is not %s', async (_, script) => {
    await start({ ...FALLBACK, strategy: { mode: 'fallback', on_status_codes: [400, 403, 404] } });
    does.first = script;
    await times(6);
    expect([first.seen.length, await transitions(FIRST)]).toEqual([6, { open: 0, half_open: 0, closed: 0 }]);
  });

  it.each([
    ['a refused key of the entry', refuses(401)],
    ['an account without money', refuses(402)],
  ])('is %s, and no request fails', async (_, script) => {
    await start();
    does.first = script;
    for (const { status: code } of await times(6)) expect(code).toBe(200);
    expect([first.seen.length, (await transitions(FIRST)).open]).toEqual([3, 1]);
  });

  it('is a stream that breaks after it has begun, and it counts once', async () => {
    await start();
    does.first = breaks;
    for (const { status: code, text } of await times(3, { stream: true })) {
      expect(code).toBe(200);
      expect(text).toContain('stream_interrupted');
    }
    await until(() => gateway.logText().includes('circuit breaker opened'), 'the breaker opened');
    expect(await targetLines()).toContainEqual(expect.stringContaining(`${FIRST} first: open, 3 of 3 requests failed`));
    expect((await chat({ stream: true })).from).toBe(SECOND);
  });

  it('is not a caller that has no time', async () => {
    runs = true;
    await start();
    does.first = () => {};
    await times(5, {}, { 'x-gateway-request-timeout': '20' });
    expect(await healthy()).toContain(`${FIRST} 1`);
  });

  it('is not a caller that had no time to wait for the answer of another request', async () => {
    runs = true;
    const quick = { ...BREAKER, failures: 1, min_requests: 1 };
    await start({ ...FALLBACK, circuit_breaker: quick, cache: { mode: 'exact' } });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    does.first = async (request, res, index) => {
      await held;
      await answers(request, res, index);
    };
    const leader = chat();
    await until(() => first.seen.length > 0, 'the first of the two has arrived');
    const follower = await chat({}, { 'x-gateway-request-timeout': '20' });
    expect([follower.status, first.seen.length, await healthy()]).toEqual([504, 1, [`${FIRST} 1`, `${SECOND} 1`]]);
    release();
    expect((await leader).from).toBe(FIRST);
  });

  it('is not a host that a caller has chosen', async () => {
    const { host } = new URL(first.url);
    await start({ circuit_breaker: BREAKER, custom_hosts: { hosts: [host], allow_insecure: true } });
    does.first = refuses(503);
    const own = await times(5, {}, { 'x-gateway-custom-host': `${first.url}/v1` });
    expect([own.at(-1)?.status, first.seen.length, await healthy()]).toEqual([503, 5, ['config 1']]);
    does.first = answers;
    await times(1, { model: '@first/m' });
    does.first = refuses(503);
    await times(5, { model: '@first/m' });
    expect(await healthy(), 'as it does elsewhere').toEqual(['config 0']);
    does.first = answers;
    expect((await chat({}, { 'x-gateway-custom-host': `${first.url}/v1` })).status).toBe(200);
    expect(await healthy(), 'nor does its answer').toEqual(['config 0']);
  });

  it('is no answer within the deadline of the config', async () => {
    await start({ ...FALLBACK, deadline: '20ms' });
    // The clock advances when the upstream gets the request, however long that takes.
    does.first = () => void (now += 20);
    await times(3);
    expect(await healthy()).toContain(`${FIRST} 0`);
    expect((await chat()).from).toBe(SECOND);
  });

  it('is a Retry-After that is longer than the cooldown', async () => {
    await start();
    does.first = refuses(429, { 'retry-after': '40' });
    await times(3);
    expect((await targetLines())[0]).toContain('may be probed in 40 s');
    does.first = answers;
    now += 39_000;
    expect((await chat()).from).toBe(SECOND);
    now += 1000;
    expect((await chat()).from).toBe(FIRST);
  });
});

describe('where all are open', () => {
  it('the one whose cooldown ends soonest is tried', async () => {
    await start();
    does = { first: refuses(429, { 'retry-after': '60' }), second: refuses(503) };
    await times(3);
    expect(await healthy()).toEqual([`${FIRST} 0`, `${SECOND} 0`]);
    const seen = [first.seen.length, second.seen.length];
    expect((await chat()).status).toBe(503);
    expect([first.seen.length, second.seen.length]).toEqual([seen[0], seen[1]! + 1]);
    does.second = answers;
    expect(await chat()).toMatchObject({ status: 200, from: SECOND });
    expect(await healthy()).toEqual([`${FIRST} 0`, `${SECOND} 1`]);
  });

  it('who could take the request, it is tried: the caller is not told that its prompt is too long for all', async () => {
    await start();
    const tooLong: Script = (_, res) =>
      json(res, { error: { message: 'too long', code: 'context_length_exceeded' } }, 400);
    does = { first: refuses(503), second: tooLong };
    expect((await times(3)).map(({ status: code }) => code)).toEqual([503, 503, 503]);
    expect(await healthy()).toEqual([`${FIRST} 0`, `${SECOND} 1`]);
    expect(await chat()).toMatchObject({ status: 503, from: FIRST });
    does.first = answers;
    expect(await chat()).toMatchObject({ status: 200, from: FIRST });
    expect(await healthy()).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
  });

  it('or there is but one, it is tried', async () => {
    await start({ provider: '@first', override_params: { model: 'm' }, circuit_breaker: BREAKER });
    does.first = refuses(503);
    expect((await times(6)).map(({ status: code }) => code)).toEqual([503, 503, 503, 503, 503, 503]);
    expect([first.seen.length, await healthy()]).toEqual([6, ['config 0']]);
  });
});

describe('without circuit_breaker', () => {
  it('no target is skipped, but its health is reported', async () => {
    const { circuit_breaker: _, ...plain } = FALLBACK;
    await start(plain);
    expect(await healthy()).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
    does.first = refuses(503);
    await times(7);
    expect([first.seen.length, await healthy()]).toEqual([7, [`${FIRST} 0`, `${SECOND} 1`]]);
    expect(await targetLines()).toEqual([
      `target it ${FIRST} first: open (no circuit_breaker), 7 of 7 requests failed recently, still receives requests, last error overloaded 0 s ago`,
      `target it ${SECOND} second: closed (no circuit_breaker), 0 of 7 requests failed recently`,
    ]);
    expect(gateway.logs).toContainEqual(expect.objectContaining({ level: 'warn', msg: 'a target keeps failing' }));
    expect(await seriesOf('circuit_breaker_transitions_total')).toEqual([]);
  });
});

describe('a reload', () => {
  it('leaves a target open that it leaves as it is, and begins anew with one that it changes', async () => {
    await start();
    does.first = refuses(503);
    await times(3);
    write('it', { ...FALLBACK, name: 'another name' });
    expect((await gateway.gateway.reload()).outcome).toBe('changed');
    expect([(await chat()).from, first.seen.length]).toEqual([SECOND, 3]);
    expect((await targetLines())[0]).toContain('open');

    const [, other] = FALLBACK.targets;
    write('it', { ...FALLBACK, targets: [{ provider: '@first', override_params: { model: 'better' } }, other] });
    await gateway.gateway.reload();
    does.first = answers;
    expect((await chat()).from).toBe(FIRST);
    expect(await healthy()).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
  });

  it('takes targets that are no more out of the metrics, and puts new ones in', async () => {
    await start();
    write('it', { provider: '@second', override_params: { model: 'n' }, circuit_breaker: BREAKER });
    await gateway.gateway.reload();
    expect(await seriesOf('upstream_target_healthy')).toEqual([
      'gatehouse_upstream_target_healthy{config="it",target="config",target_name="",provider="second"} 1',
    ]);
    expect(await transitions('config')).toEqual({ open: 0, half_open: 0, closed: 0 });
    expect(await targetLines()).toHaveLength(1);
  });

  it('that is refused changes nothing', async () => {
    await start();
    does.first = refuses(503);
    await times(3);
    write('it', { ...FALLBACK, targets: [{ provider: '@nobody' }] });
    expect((await gateway.gateway.reload()).outcome).toBe('refused');
    expect(await healthy()).toEqual([`${FIRST} 0`, `${SECOND} 1`]);
    expect((await chat()).from).toBe(SECOND);
  });
});

describe('a config that came with the request', () => {
  it('has breakers of its own, and no series', async () => {
    await start();
    const inline = { 'x-gateway-config': JSON.stringify({ ...FALLBACK, name: 'mine' }) };
    const other = { 'x-gateway-config': JSON.stringify({ ...FALLBACK, name: 'another' }) };
    does.first = refuses(503);
    const series = (await seriesOf('upstream_target_healthy')).length;
    await times(5, {}, inline);
    expect(first.seen.length).toBe(3);
    expect(await healthy()).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
    await chat({}, other);
    expect(first.seen.length, 'another config is another target').toBe(4);
    expect((await seriesOf('upstream_target_healthy')).length).toBe(series);
    expect(gateway.logText()).not.toContain('circuit breaker opened');
  });

  it('keeps its breakers over a reload', async () => {
    await start();
    const inline = { 'x-gateway-config': JSON.stringify(FALLBACK) };
    does.first = refuses(503);
    await times(3, {}, inline);
    write('other', FALLBACK);
    await gateway.gateway.reload();
    await times(3, {}, inline);
    expect(first.seen.length).toBe(3);
  });
});

describe('the state of a breaker is visible', () => {
  it('in one log line when it opens and one when it closes', async () => {
    await start();
    does.first = refuses(503);
    for (const end = now + 30_000; now < end; now += 1000) await chat();
    does.first = answers;
    now += 10_000;
    await chat();
    const place = { config: 'it', target: FIRST, provider: 'first', error_code: 'overloaded' };
    expect(gateway.logs.filter(({ msg }) => String(msg).startsWith('circuit breaker'))).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: 'circuit breaker opened',
        ...place,
        failures: 3,
        requests: 3,
        retry_in_ms: 10_000,
      }),
      expect.objectContaining({ level: 'info', msg: 'circuit breaker closed', ...place }),
    ]);
  });

  it('at /readyz?verbose, which stays ready', async () => {
    await start();
    does.first = refuses(503);
    await times(3);
    now += 4000;
    const response = await fetch(`${gateway.statusUrl}/readyz?verbose`);
    expect(response.status).toBe(200);
    expect((await response.text()).split('\n').filter((line) => line !== '')).toEqual([
      'ok',
      'up for 4 s',
      `target it ${FIRST} first: open, 3 of 3 requests failed recently, may be probed in 6 s, last error overloaded 4 s ago`,
      `target it ${SECOND} second: closed, 0 of 3 requests failed recently`,
    ]);
    expect(await status('/readyz')).toBe('ok\n');
    now += 6000;
    expect((await targetLines())[0]).toContain('open, 3 of 3 requests failed recently, may be probed now');
  });
});

describe('a key that sends the name of a bad model', () => {
  const OPEN = { ...FALLBACK, targets: [{ provider: '@first' }, { provider: '@second' }] };
  const only =
    (script: Script): Script =>
    (request, res, index) =>
      (request.text.includes('bad-model') ? script : answers)(request, res, index);

  it.each([429, 500, 503])('takes the target from that model alone: %i', async (code) => {
    await start(OPEN);
    does.first = only(refuses(code));
    await times(4, { model: 'bad-model' });
    const before = first.seen.length;
    expect((await chat({ model: 'bad-model' })).from).toBe(SECOND);
    expect(first.seen.length).toBe(before);
    expect((await times(3, { model: 'good' })).map(({ from }) => from)).toEqual([FIRST, FIRST, FIRST]);
    expect(await healthy()).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
    expect(await transitions(FIRST)).toMatchObject({ open: 1 });
  });

  it.each([
    ['chat', () => '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
    ['Messages', () => '/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
    ['Responses', () => '/v1/responses', { input: 'hi' }],
    [
      'Gemini',
      (model: string) => `/v1beta/models/${model}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    ],
  ])('takes it from that model alone at every door: %s', async (_, pathOf, body) => {
    await start(OPEN);
    does.first = only(refuses(503));
    const ask = async (model: string): Promise<string | null> => {
      const path = pathOf(model);
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
        body: JSON.stringify({ ...body, ...(!path.includes(model) && { model }) }),
      });
      await response.text();
      return response.headers.get('x-gateway-last-used-option-index');
    };
    for (let count = 0; count < 3; count += 1) expect(await ask('bad-model')).toBe(SECOND);
    const before = first.seen.length;
    expect([await ask('bad-model'), first.seen.length]).toEqual([SECOND, before]);
    expect(await ask('good')).toBe(FIRST);
  });

  it('does not hide an outage: a model that has answered is named when it fails', async () => {
    await start(OPEN);
    await times(1, { model: 'good' });
    does.first = refuses(503);
    await times(3, { model: 'good' });
    expect((await chat({ model: 'good' })).from).toBe(SECOND);
    expect(await healthy()).toEqual([`${FIRST} 0`, `${SECOND} 1`]);
    expect(await targetLines()).toEqual([
      expect.stringContaining(`${FIRST} first: closed`),
      expect.stringContaining(`${FIRST} first "good": open, 3 of 4 requests`),
      expect.stringContaining(`${SECOND} second: closed`),
    ]);
    expect(gateway.logs.find(({ msg }) => msg === 'circuit breaker opened')).toMatchObject({ model: 'good' });
  });
});
