import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/plugin/index.ts';
import {
  RequestBody,
  type MediaInliner,
  type Outbound,
  type Prepared,
  type ResolvedTarget,
} from '../../src/core/kernel/index.ts';
import { createAttempt, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import transform from './index.ts';

const resolved: ResolvedTarget = {
  slug: 'claude',
  provider: 'anthropic',
  semconvName: 'anthropic',
  model: 'claude-x',
  modelLabel: 'claude-x',
  origin: 'https://example.com',
  path: '/v1/messages',
  headers: {},
  format: 'anthropic-messages',
  host: 'direct',
  timeouts: {},
};

const outbound: Outbound = {
  origin: resolved.origin,
  path: resolved.path,
  headers: {},
  body: '{}',
  stream: false,
  contentType: undefined,
  openReader: () => {
    throw new Error('nothing is sent here');
  },
  decodeError: () => ({ status: 500, message: '' }),
};

const seed = { param: 'seed', action: 'dropped', reason: 'no such parameter' } as const;
const user = { param: 'user', action: 'downgraded', reason: 'only a hash' } as const;

type Inline = MediaInliner['inline'];

const nothing: Inline = () => undefined;

async function transformed(
  json: Record<string, unknown>,
  losses: Prepared['losses'] = [],
  { strictParams = false, inline = nothing }: { strictParams?: boolean; inline?: Inline } = {},
) {
  const exchange = createExchange({ json, strictParams });
  const attempt = createAttempt(exchange);
  const asked: unknown[] = [];
  const written: unknown[] = [];
  let nextCalls = 0;
  const failure = await runPlugin(transform, {
    exchange,
    attempt,
    needs: {
      targets: { resolve: (_exchange, target, model, stream) => (asked.push({ target, model, stream }), resolved) },
      media: { inline },
      translate: { prepare: (_, { body }) => (written.push(body.json()), { outbound, losses }) },
    },
    next: () => void (nextCalls += 1),
  }).catch((error: unknown) => error);
  return { attempt, asked, written, failure: failure instanceof Error ? failure : undefined, nextCalls };
}

describe('transform', () => {
  it.each([
    ['plain', { model: '@claude/claude-x' }, false],
    ['plain, with stream: false', { model: '@claude/claude-x', stream: false }, false],
    ['plain, with stream: null', { model: '@claude/claude-x', stream: null }, false],
    ['stream', { model: '@claude/claude-x', stream: true }, true],
  ])('resolves the target of a %s request by the model this attempt asks for', async (_, json, stream) => {
    const { attempt, asked } = await transformed(json);
    expect(asked).toEqual([{ target: attempt.target, model: '@claude/claude-x', stream }]);
    expect(attempt.resolved).toBe(resolved);
    expect(attempt.outbound).toBe(outbound);
  });

  it('lets the resolver decide about a request without a model', async () => {
    expect((await transformed({})).asked).toMatchObject([{ model: '' }]);
  });

  it('records the losses on the attempt and continues', async () => {
    const { attempt, failure, nextCalls } = await transformed({ model: 'm' }, [seed, user]);
    expect(failure).toBeUndefined();
    expect(attempt.losses).toEqual([seed, user]);
    expect(nextCalls).toBe(1);
  });

  it('with strict params, rejects a request with losses, names all of them and sends nothing', async () => {
    const { failure, nextCalls } = await transformed({ model: 'm' }, [seed, user], { strictParams: true });
    expect(failure).toBeInstanceOf(GatewayError);
    expect(failure).toMatchObject({
      code: 'unsupported_parameter',
      status: 400,
      param: 'seed',
      message: 'The target cannot express: seed (no such parameter); user (only a hash).',
    });
    expect(nextCalls).toBe(0);
  });

  it('with strict params, names the first losses and counts unnamed ones and those beyond the message limit', async () => {
    const many = Array.from({ length: 100 }, (_, at) => ({ ...seed, param: `${'x'.repeat(100)}${at}` }));
    const further = { ...seed, param: '(+99900 more)', count: 99_900 };
    const { failure } = await transformed({ model: 'm' }, [...many, further], { strictParams: true });
    const { message, param } = failure as GatewayError;
    expect(param).toBe(many[0]!.param);
    expect(message.length).toBeLessThan(5000);
    const [, left] = /; and (\d+) more\.$/.exec(message)!;
    expect(message.split('; ').length - 1 + Number(left)).toBe(100_000);
  });

  it('with strict params, counts losses when none has a name', async () => {
    const { failure } = await transformed({ model: 'm' }, [{ ...seed, param: '(+7 more)', count: 7 }], {
      strictParams: true,
    });
    expect(failure).toMatchObject({ param: null, message: 'The target cannot express: 7 parameters.' });
  });

  it('with strict params, accepts a request without losses', async () => {
    expect(await transformed({ model: 'm' }, [], { strictParams: true })).toMatchObject({
      failure: undefined,
      nextCalls: 1,
    });
  });

  it('encodes the request with inlined media, but keeps the body without them', async () => {
    const inlined = RequestBody.read(Buffer.from('{"model":"m","with":"media"}'), 8);
    const { attempt, written, failure, nextCalls } = await transformed({ model: 'm' }, [], {
      inline: () => Promise.resolve(inlined),
    });
    expect(failure).toBeUndefined();
    expect(written).toEqual([{ model: 'm', with: 'media' }]);
    expect(attempt.body.json()).toEqual({ model: 'm' });
    expect(nextCalls).toBe(1);
  });

  it('sends nothing when media cannot be fetched', async () => {
    const refused = new GatewayError('invalid_value', 'It cannot be fetched.', { param: 'messages[0].content[0]' });
    const run = await transformed({ model: 'm' }, [], { inline: () => Promise.reject(refused) });
    expect(run).toMatchObject({ failure: refused, written: [], nextCalls: 0 });
  });
});
