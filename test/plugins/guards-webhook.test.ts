import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply, startUpstream, type Script } from '../support/upstream.ts';

const BYTES = Buffer.alloc(32, 7);
const SECRET = `whsec_${BYTES.toString('base64')}`;

interface Setup {
  readonly guard?: object;
  readonly options?: object;
}

/** A gateway whose guard asks a webhook, and the webhook. */
async function start(script: Script, { guard = {}, options = {} }: Setup = {}) {
  const hook = await startUpstream(script);
  onTestFinished(() => hook.close());
  const all = { url: `${hook.url}/guard`, secret: SECRET, allow_insecure: true, timeout_ms: 60_000, ...options };
  const pair = await startPair((_, res) => json(res, openaiReply('the answer')), {
    server: { guards: [{ name: 'policy', check: 'webhook', ...guard, options: all }] },
  });
  return { ...pair, hook };
}

const ask = async ({ gateway }: Pick<Pair, 'gateway'>, content: unknown = 'the question', signal?: AbortSignal) => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content }] }),
  });
  return { status: response.status, text: await response.text() };
};

const PASS: Script = (_, res) => json(res, { verdict: 'pass' });

describe('a webhook', () => {
  it('gets the texts, signed as Standard Webhooks say', async () => {
    const served = await start(PASS, { guard: { on: ['input', 'output'] } });
    expect((await ask(served)).status).toBe(200);
    const [input, output] = served.hook.seen;
    expect(input!.json).toMatchObject({
      version: 1,
      guard: 'policy',
      on: 'input',
      action: 'deny',
      request: { operation: 'chat.completions', model: '@openai/m' },
      texts: [{ role: 'user', kind: 'text', place: 'messages.0.content', text: 'the question' }],
    });
    expect(output!.json).toMatchObject({ on: 'output', texts: [{ kind: 'text', text: 'the answer' }] });
    for (const { headers, text } of [input!, output!]) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
      const signature = createHmac('sha256', BYTES).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signature}`);
      expect(headers['authorization']).toBeUndefined();
    }
    expect(served.gateway.logText()).not.toContain(BYTES.toString('base64'));
  });

  it('denies with its own message', async () => {
    const served = await start((_, res) => json(res, { verdict: 'deny', message: 'Ask legal first.' }));
    const { status, text } = await ask(served);
    expect([status, text]).toEqual([400, expect.stringContaining('Ask legal first.')]);
    expect(served.upstream.seen).toEqual([]);
  });

  it.each([
    ['another status', (_, res) => json(res, { verdict: 'pass' }, 500)],
    ['no JSON', (_, res) => void res.end('pass')],
    ['no verdict', (_, res) => json(res, { ok: true })],
    ['an unknown verdict', (_, res) => json(res, { verdict: 'perhaps' })],
    ['a text that was not asked about', (_, res) => json(res, { verdict: 'mask', texts: [{ index: 7, text: 'x' }] })],
    ['a text that is none', (_, res) => json(res, { verdict: 'mask', texts: [{ index: 0, text: 1 }] })],
    ['an end without an answer', (_, res) => void res.destroy()],
  ] as const satisfies readonly (readonly [string, Script])[])(
    'that answers with %s denies the request',
    async (_, script) => {
      const served = await start(script);
      const { status, text } = await ask(served);
      expect([status, text]).toEqual([503, expect.stringContaining('guard_failed')]);
      expect(served.upstream.seen).toEqual([]);
      expect(text).not.toContain('the question');
    },
  );

  it.each(['input', 'output'])('that would mask a text on %s and sends no other fails', async (on) => {
    const served = await start((_, res) => json(res, { verdict: 'mask' }), { guard: { action: 'mask', on: [on] } });
    const { status, text } = await ask(served);
    expect([status, text]).toEqual([503, expect.stringContaining('guard_failed')]);
  });

  it('that hangs denies after its timeout, and lets pass with `on_error: allow`', async () => {
    const hangs: Script = () => {};
    const denied = await start(hangs, { options: { timeout_ms: 50 } });
    expect((await ask(denied)).status).toBe(503);
    const allowed = await start(hangs, { guard: { on_error: 'allow' }, options: { timeout_ms: 50 } });
    expect((await ask(allowed)).status).toBe(200);
    const isLine = ({ guards }: Record<string, unknown>): boolean => Array.isArray(guards);
    await until(() => allowed.gateway.logs.some(isLine), 'the access line is written');
    expect(allowed.gateway.logs.findLast(isLine)).toMatchObject({ guards: ['policy:input:skipped'] });
    expect(allowed.gateway.logs).toContainEqual(
      expect.objectContaining({ msg: 'a guard could not check, and let it pass', guard: 'policy', on: 'input' }),
    );
  });

  it('that fails again and again is not called for some seconds, and each request that passes is counted and logged', async () => {
    const served = await start((_, res) => json(res, {}, 500), { guard: { on_error: 'allow' } });
    for (let at = 0; at < 8; at += 1) expect((await ask(served)).status).toBe(200);
    expect(served.hook.seen).toHaveLength(5);
    const skipped = 'gatehouse_guard_verdicts_total{guard="policy",on="input",action="deny",verdict="skipped"} 8';
    const metrics = async (): Promise<string> => (await fetch(`${served.gateway.statusUrl}/metrics`)).text();
    await until(async () => (await metrics()).includes(skipped), 'all are counted');
    const isOpen = ({ msg }: Record<string, unknown>): boolean => msg === 'a guard could not check, and let it pass';
    expect(served.gateway.logs.filter(isOpen)).toHaveLength(8);
    expect(JSON.stringify(served.gateway.logs.findLast(isOpen))).toContain('the next one is tried in some seconds');
  });

  it('is not called at an address of the own network', async () => {
    const served = await start(PASS, { options: { allow_insecure: false, url: 'https://127.0.0.1:1/guard' } });
    expect((await ask(served)).status).toBe(503);
    expect(served.hook.seen).toEqual([]);
  });

  it('is asked without a wait by a guard that observes', async () => {
    const answers: (() => void)[] = [];
    const served = await start(
      (_, res) => new Promise((resolve) => void answers.push(() => resolve(json(res, { verdict: 'deny' })))),
      { guard: { action: 'observe', on: ['input', 'output'] } },
    );
    expect((await ask(served)).status).toBe(200);
    await until(() => answers.length === 2, 'the webhook was asked about the request and its reply');
    for (const answer of answers) answer();
    // The request has ended by now.
    const counted = (on: string): string =>
      `gatehouse_guard_verdicts_total{guard="policy",on="${on}",action="observe",verdict="observed"} 1`;
    const metrics = async (): Promise<string> => (await fetch(`${served.gateway.statusUrl}/metrics`)).text();
    for (const on of ['input', 'output'])
      await until(async () => (await metrics()).includes(counted(on)), `the verdict on ${on} counts`);
  });

  it.each(['input', 'output'])('is cancelled when the client leaves that waits for its verdict on %s', async (on) => {
    const served = await start(() => {}, { guard: { on: [on] } });
    const leaving = new AbortController();
    const asked = ask(served, 'the question', leaving.signal);
    await until(() => served.hook.seen.length === 1, 'the webhook was asked');
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until(() => served.hook.seen[0]!.aborted, 'the webhook sees its caller leave');
    await until(() => served.gateway.logs.some(({ guards }) => Array.isArray(guards)), 'the request has ended');
    expect(served.gateway.logs.findLast(({ guards }) => Array.isArray(guards))).toMatchObject({
      guards: [`policy:${on}:skipped`],
    });
    expect(served.upstream.seen).toHaveLength(on === 'input' ? 0 : 1);
  });

  it('that is dead costs 200 requests at once no more than their refusals', async () => {
    const served = await start(() => {}, { options: { timeout_ms: 200, connections: 4 } });
    const replies = await Promise.all(Array.from({ length: 200 }, () => ask(served)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
    expect(served.hook.seen.length).toBeLessThan(200);
    expect(served.upstream.seen).toEqual([]);
  });

  it('has not read the message of a failed upstream, which is withheld', async () => {
    const hook = await startUpstream(PASS);
    onTestFinished(() => hook.close());
    const options = { url: hook.url, secret: SECRET, allow_insecure: true, timeout_ms: 60_000 };
    const { gateway } = await startPair((_, res) => json(res, { error: { message: 'canary' } }, 400), {
      server: { guards: [{ name: 'policy', check: 'webhook', on: ['output'], options }] },
    });
    const { text } = await ask({ gateway });
    expect(text).toContain('Its message is withheld');
    expect(text).not.toContain('canary');
  });
});
