import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError } from '../../src/plugin/index.ts';
import type { Operation } from '../../src/core/kernel/index.ts';
import {
  createAttempt,
  createExchange,
  createReply,
  createSource,
  createTry,
  runPlugin,
  type ExchangeParts,
} from '../../src/plugin/testing/index.ts';
import errors from './index.ts';

type Format = Operation['format'];
const shape = (api: string): Partial<Format> => ({
  contentType: { body: `application/${api}+json`, stream: 'text/event-stream' },
  encodeError: ({ status, message, type, code, param, requestId }) => ({
    status: status === 503 ? 529 : status,
    body: { api, status, message, type, code, param, requestId },
  }),
});
const aTry = createTry({ endedAt: 1, status: 503 });

async function fail(thrown: unknown, parts: ExchangeParts = {}, tries: readonly number[] = []) {
  const exchange = createExchange(parts);
  for (const count of tries) createAttempt(exchange, { tries: Array.from({ length: count }, () => aTry) });
  const { log } = await runPlugin(errors, {
    exchange,
    needs: { defaultFormat: shape('default') },
    next: () => {
      throw thrown;
    },
  });
  const { body } = exchange.reply!;
  if (!Buffer.isBuffer(body)) throw new Error('an error is a plain body');
  return {
    exchange,
    reply: exchange.reply!,
    json: JSON.parse(body.toString()) as Record<string, unknown>,
    log,
    length: body.length,
  };
}

describe('errors', () => {
  it('does nothing without a failure', async () => {
    const exchange = createExchange();
    const reply = createReply('{}');
    await runPlugin(errors, {
      exchange,
      needs: { defaultFormat: shape('default') },
      next: () => void (exchange.reply = reply),
    });
    expect(exchange).toMatchObject({ reply, error: undefined });
  });

  it('renders a failure in the format of the operation', async () => {
    // The plugin reads only the format of an operation.
    const operation = { format: shape('messages') } as Operation;
    const { exchange, reply, json, length } = await fail(new GatewayError('invalid_request', 'No.', { param: 'n' }), {
      operation,
      id: 'r-7',
    });
    expect(json).toEqual({
      api: 'messages',
      status: 400,
      message: 'No.',
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'n',
      requestId: 'r-7',
    });
    expect(reply).toMatchObject({
      status: 400,
      stream: false,
      headers: { 'content-type': 'application/messages+json', 'content-length': String(length) },
    });
    expect(exchange.error).toMatchObject({ code: 'invalid_request' });
  });

  it('renders it in the default format without an operation', async () => {
    expect((await fail(new GatewayError('not_found', 'No such route.'))).json).toMatchObject({
      api: 'default',
      status: 404,
    });
  });

  it('answers with the format’s status for the failure', async () => {
    const { reply, json } = await fail(new UpstreamError('overloaded', 'busy'));
    expect([reply.status, json['status']]).toEqual([529, 503]);
  });

  it('renders the initial error of an exchange without running the chain', async () => {
    const exchange = createExchange({ error: new GatewayError('method_not_allowed', 'GET it.') });
    const { nextCalls } = await runPlugin(errors, { exchange, needs: { defaultFormat: shape('default') } });
    expect(nextCalls).toBe(0);
    expect(exchange.reply?.status).toBe(405);
  });

  it.each([
    ['an Error', new Error('database password is hunter2')],
    ['a string', 'hunter2'],
    ['nothing', undefined],
  ])('tells the client nothing of %s thrown inside, and logs it under the request id', async (_, thrown) => {
    const { json, reply, log } = await fail(thrown, { id: 'r-9' });
    expect(reply.status).toBe(500);
    expect(JSON.stringify(json)).not.toContain('hunter2');
    expect(log).toMatchObject([{ level: 50, request_id: 'r-9' }]);
  });

  it('does not log a failure with a code of its own, which the access line reports', async () => {
    expect((await fail(new UpstreamError('overloaded', 'busy'))).log).toEqual([]);
  });

  it('cancels the reply that the failure replaces', async () => {
    const source = createSource();
    await fail(new Error('after next()'), { reply: createReply(source) });
    expect(source.calls).toEqual(['cancel']);
  });

  it.each([
    [1500, '2', '1500'],
    [20.2, '1', '21'],
    [0, '0', '0'],
  ])('passes a wait of %d ms on, rounded up', async (retryAfterMs, seconds, ms) => {
    const { reply } = await fail(new UpstreamError('rate_limit_exceeded', 'slow down', { retryAfterMs }));
    expect(reply.headers).toMatchObject({ 'retry-after': seconds, 'retry-after-ms': ms });
  });

  it.each([
    ['no attempt', [], undefined],
    ['one attempt of one try', [1], undefined],
    ['an attempt that was retried', [2], 'false'],
    ['a fallback', [1, 1], 'false'],
    ['a fallback to which nothing was sent', [1, 0], undefined],
  ])('after %s tells SDKs %s', async (_, tries, expected) => {
    const { reply } = await fail(new UpstreamError('overloaded', 'busy'), {}, tries);
    expect(reply.headers['x-should-retry']).toBe(expected);
  });

  it.each([
    ['a refusal of the gateway’s own', new GatewayError('model_not_allowed', 'no'), 'false'],
    ['a refusal of the gateway’s own', new GatewayError('missing_api_key', 'no'), 'false'],
    ['the gateway’s key, refused by the upstream', new UpstreamError('upstream_credentials_refused', 'no'), 'false'],
    [
      'the gateway’s key, refused by an upstream that advises a retry',
      new UpstreamError('upstream_credentials_refused', 'no', { shouldRetry: true }),
      'false',
    ],
    ['a refusal of the upstream’s', new UpstreamError('upstream_permission', 'no', { shouldRetry: true }), 'false'],
    [
      'a caller’s own token, refused',
      new UpstreamError('invalid_api_key', 'no', { toCallersToken: true, shouldRetry: true }),
      'false',
    ],
    ['an invalid request', new GatewayError('invalid_request', 'no'), undefined],
  ])('after %s tells SDKs whether to try again', async (_, error, expected) => {
    expect((await fail(error, {}, [1])).reply.headers['x-should-retry']).toBe(expected);
  });

  it.each([
    ['its own word', [1], false, 'false'],
    ['its own word', [1], true, 'true'],
    ['no more after a retry', [2], true, 'false'],
    ['no more after a fallback', [1, 1], true, 'false'],
  ])('tells SDKs of the upstream %s: %j tries, %j is %s', async (_, tries, shouldRetry, expected) => {
    const { reply } = await fail(new UpstreamError('overloaded', 'busy', { shouldRetry }), {}, tries);
    expect(reply.headers['x-should-retry']).toBe(expected);
  });

  it('does not count the calls of one batch as retries', async () => {
    const exchange = createExchange();
    createAttempt(exchange, { tries: [aTry, { ...aTry, call: 1 }] });
    await runPlugin(errors, {
      exchange,
      needs: { defaultFormat: shape('default') },
      next: () => {
        throw new UpstreamError('overloaded', 'busy');
      },
    });
    expect(exchange.reply?.headers).not.toHaveProperty('x-should-retry');
  });

  it('lets SDKs retry at another gateway when this one stops', async () => {
    const stopping = new GatewayError('shutting_down', 'over', { retryAfterMs: 1000 });
    const { reply } = await fail(stopping, {}, [1, 1]);
    expect(reply.headers).not.toHaveProperty('x-should-retry');
    expect(reply.headers['retry-after']).toBe('1');
  });
});
