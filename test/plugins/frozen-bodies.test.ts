import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, openaiReply } from '../support/upstream.ts';
import { CLIENT_APIS, send, TARGETS } from './client-apis.ts';
import { startOutsideGateway, type OutsideGateway } from './outside-gateway.ts';

const LEVELS = ['request', 'attempt'] as const;
const READS = { value: 'body.value(options.text[0])', json: 'body.json()[options.text[0]]' } as const;
const OPTIONS = `options: { type: 'object', additionalProperties: false, properties: { text: {} } }`;

const plugins = LEVELS.flatMap((level) =>
  Object.entries(READS).map(([how, read]) => ({
    name: `mask-${level}-${how}`,
    level,
    more: OPTIONS,
    body: `const body = ctx.${level === 'attempt' ? 'attempt' : 'exchange.request'}.body;
      let at = ${read};
      for (const key of options.text.slice(1, -1)) at = at[key];
      at[options.text.at(-1)] = 'masked';
      await next();`,
  })),
);

/** Every plugin in a config of its own, for each client API. */
const configs = Object.fromEntries(
  CLIENT_APIS.flatMap(({ name: api, text }) =>
    plugins.map(({ name, level }) => [
      `${name}-${api}`,
      {
        plugins: [
          { plugin: name, options: { text } },
          ...(level === 'request' ? ['metadata', 'route'] : ['override', 'transform', 'retry', 'send']),
        ],
      },
    ]),
  ),
);

let started: OutsideGateway;
beforeAll(async () => {
  started = await startOutsideGateway({
    plugins,
    upstream: (_, res) => json(res, openaiReply('hello')),
    gateway: configs,
  });
});
afterAll(() => started[Symbol.asyncDispose]());

const CASES = CLIENT_APIS.flatMap((api) =>
  TARGETS.flatMap((target) => plugins.map(({ name }) => ({ api, door: api.name, target, name }))),
);

describe('a request body that an external plugin writes to', () => {
  it.each(CASES)('$door to $target: $name gets a TypeError, and nothing is sent', async ({ api, target, name }) => {
    const before = started.upstream.seen.length;
    const headers = { 'x-gateway-config': `${name}-${api.name}` };
    const response = await send(started.gateway.url, api, target, { headers });
    const text = await response.text();
    expect([response.status, text], text).toEqual([500, expect.not.stringContaining('masked')]);
    expect(started.upstream.seen.length).toBe(before);
    const id = response.headers.get('x-gateway-request-id');
    const lines = started.gateway.logs.filter((line) => line['request_id'] === id && line['msg'] === 'a plugin failed');
    expect(lines).toMatchObject([{ plugin: name, err: { message: expect.stringContaining('read only property') } }]);
  });

  it('can be cloned, and replaced by an edit, for a target of either format', async () => {
    await using edited = await startOutsideGateway({
      plugins: [
        {
          name: 'mask',
          level: 'attempt',
          body: `const messages = structuredClone(ctx.attempt.body.value('messages'));
            messages[0].content = 'masked';
            ctx.attempt.body = ctx.attempt.body.edit([{ path: ['messages'], value: messages, source: 'mask' }]);
            await next();`,
        },
      ],
      upstream: (_, res) => json(res, openaiReply('hello')),
      chains: { attempt: ['mask', 'override', 'transform', 'retry', 'send'] },
    });
    // The format of the client, and another.
    for (const target of ['@openai/m', '@claude/claude-sonnet-4-5'])
      await send(edited.gateway.url, CLIENT_APIS[0]!, target);
    const sent = edited.upstream.seen.map(({ text }) => [text.includes('masked'), text.includes('secret')]);
    expect(sent).toEqual([
      [true, false],
      [true, false],
    ]);
  });
});
