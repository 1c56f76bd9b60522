import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Explanation, TargetExplanation } from '../../src/addons/explain/explanation/explanation.ts';
import { describeRun } from '../../src/addons/explain/explain/describe/index.ts';
import { Agreement } from '../support/agreement.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { entriesFor, json, openaiReply, startUpstream, type Script } from '../support/upstream.ts';

// Every gateway that the tests start is compared with explain when it ends (test/support/gateway.ts). Here the comparison
// itself is tried: plugins that say they are pure, and do something else every time.
const answer: Script = (_, res) => json(res, openaiReply('Hello'));

const API = pathToFileURL(join(import.meta.dirname, '../../src/plugin/index.ts')).href;

/** A plugin that calls itself pure; `work` has `calls`, which counts up from one request to the next. */
const plugin = (level: string, work: string): string => `
import { definePlugin } from ${JSON.stringify(API)};
let calls = 0;
export default definePlugin({
  name: 'liar', level: '${level}', pure: true,
  options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => async (ctx, next) => { calls += 1; ${work} },
});`;

const target = { provider: '@openai', override_params: { model: 'gpt-4o' } };
const ATTEMPT = ['override', 'liar', 'transform', 'retry', 'send'];

async function serveWith(level: 'request' | 'attempt', work: string, tell = describeRun): Promise<Agreement> {
  const upstream = await startUpstream(answer);
  onTestFinished(() => upstream.close());
  const chain = level === 'attempt' ? { attempt: ATTEMPT } : { request: ['metadata', 'liar', 'route'] };
  const configs = writeSettings({
    server: { plugins: ['./liar.mjs'], chains: chain },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: { it: { strategy: { mode: 'loadbalance' }, targets: [target, { ...target, weight: 3 }] } },
  });
  writeFileSync(join(configs, 'liar.mjs'), plugin(level, work));
  const agreement = new Agreement({ configs, env: {} }, tell);
  const gateway = await startGateway({
    configs,
    env: {},
    logTo: { write() {} },
    files: agreement.files,
    watch: agreement.watch,
  });
  const response = await fetch(`${gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-gateway-config': 'it' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  await gateway.close();
  return agreement;
}

describe('explain and what was served are compared', () => {
  it('and agree where nothing lies', async () => {
    const agreement = await serveWith('attempt', 'await next();');
    await agreement.check();
    expect(agreement.tally).toMatchObject({ compared: 1, attempts: 1 });
  });

  it.each([
    [
      'a field of the body',
      'attempt',
      'ctx.attempt.body = ctx.attempt.body.edit([{ path: ["seed"], value: calls, source: "liar" }]); await next();',
    ],
    [
      'a loss',
      'attempt',
      'ctx.attempt.losses.push({ param: `p${calls}`, action: "dropped", reason: "" }); await next();',
    ],
    ['a label', 'request', 'ctx.exchange.labels = { calls: String(calls) }; await next();'],
    ['metadata', 'request', 'ctx.exchange.metadata = { calls: String(calls) }; await next();'],
    ['the deadline', 'request', 'ctx.exchange.deadline += calls * 1000; await next();'],
    ['who asks', 'request', 'ctx.exchange.caller = { ...ctx.exchange.caller, keyId: `key-${calls}` }; await next();'],
  ] as const)('and disagree about %s', async (_, level, work) => {
    const agreement = await serveWith(level, work);
    await expect(agreement.check()).rejects.toThrow(/deeply equal/);
  });

  it('and disagree about the draw', async () => {
    const agreement = await serveWith(
      'attempt',
      'ctx.exchange.draws[0] = ctx.attempt.number === 0 && ctx.attempt.target.path.endsWith("[0]") ? 0.9 : 0; await next();',
    );
    await expect(agreement.check()).rejects.toThrow(/deeply equal/);
  });

  const target = (lie: (reported: TargetExplanation) => Partial<TargetExplanation>) => (reported: Explanation) => ({
    targets: reported.targets.map((one) => ({ ...one, ...lie(one) })),
  });
  const outbound = (lie: (reported: NonNullable<TargetExplanation['outbound']>) => object) =>
    target(({ outbound: reported }) => ({ outbound: reported && { ...reported, ...lie(reported) } }));

  it.each<[string, (reported: Explanation) => Partial<Explanation>]>([
    ['the URL', outbound(({ url }) => ({ url: `${url}/` }))],
    ['a header', outbound(({ headers }) => ({ headers: headers.filter(({ name }) => name !== 'content-type') }))],
    ['the body', outbound(({ body }) => ({ body: [body] }))],
    ['whether it is a stream', outbound(({ stream }) => ({ stream: !stream }))],
    ['a difference of the bodies', outbound(({ diff }) => ({ diff: diff.slice(1) }))],
    ['the body as the settings leave it', target(() => ({ body: {} }))],
    ['a loss', target(() => ({ losses: [{ param: 'seed', action: 'dropped', reason: '' }] }))],
    ['a timeout', target(({ timeouts }) => ({ timeouts: { ...timeouts, idle: { ...timeouts['idle']!, ms: 1 } } }))],
    ['why it is asked', target(() => ({ why: 'nothing' }))],
    [
      'the order of targets',
      ({ targets }) => ({ targets: targets.map((one, number) => ({ ...one, number: number + 1 })) }),
    ],
    ['the deadline', ({ deadline }) => ({ deadline: { ...deadline, ms: 1 } })],
    ['labels', () => ({ labels: { of: 'nobody' } })],
    ['metadata', () => ({ metadata: { of: 'nobody' } })],
    ['the config', ({ config }) => ({ config: { ...config!, hash: '' } })],
    ['the caller', ({ caller }) => ({ caller: { ...caller!, key: 'another' } })],
    ['the plugins', ({ plugins }) => ({ plugins: plugins.slice(1) })],
    ['a secret', () => ({ notes: [KEY] })],
    [
      'a place in a file',
      ({ deadline }) => ({
        deadline: {
          ...deadline,
          source: { kind: 'settings', setting: 'deadline', at: { file: 'server.yaml', line: 99, column: 1 } },
        },
      }),
    ],
  ])('and so is the output: %s', async (_, lie) => {
    const agreement = await serveWith('attempt', 'await next();', (seen) => {
      const reported = describeRun(seen);
      return { ...reported, ...lie(reported) };
    });
    await expect(agreement.check()).rejects.toThrow(/expected/);
  });
});
