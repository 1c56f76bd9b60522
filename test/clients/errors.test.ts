import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneInFour } from '../support/effort.ts';
import { until } from '../support/gateway.ts';
import { DRIVERS } from './drivers/index.ts';
import type { Driver, Trouble, Wish } from './drivers/driver.ts';
import { faultOf } from './faults.ts';
import { startMatrix, UPSTREAMS, type Matrix } from './matrix.ts';
import { RETRY_AFTER } from './upstream/wire.ts';

/** Every class of error of every upstream, as each SDK's own error; and callers that leave. */

let matrix: Matrix;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

interface ErrorClass {
  readonly status: number;
  /** Name in the SDKs that have a class for each status. */
  readonly name: string;
  /** On the chat route and on the messages route (docs/protocols/errors.md#status-for-the-client). */
  readonly types: Readonly<Record<Driver['route'], string>>;
}

const CLASSES: readonly ErrorClass[] = [
  { status: 400, name: 'BadRequestError', types: { chat: 'invalid_request_error', messages: 'invalid_request_error' } },
  { status: 403, name: 'PermissionDeniedError', types: { chat: 'permission_error', messages: 'permission_error' } },
  { status: 404, name: 'NotFoundError', types: { chat: 'invalid_request_error', messages: 'not_found_error' } },
  { status: 413, name: 'APIError', types: { chat: 'invalid_request_error', messages: 'request_too_large' } },
  { status: 429, name: 'RateLimitError', types: { chat: 'rate_limit_error', messages: 'rate_limit_error' } },
  { status: 500, name: 'InternalServerError', types: { chat: 'server_error', messages: 'api_error' } },
  { status: 503, name: 'InternalServerError', types: { chat: 'server_error', messages: 'overloaded_error' } },
];

/** What an SDK calls it where that is not what OpenAI's does. */
const ai = () => 'AI_APICallError';
const OWN_NAMES: Readonly<Record<string, (status: number) => string | undefined>> = {
  '@anthropic-ai/sdk': (status) => ({ 413: 'ContentTooLargeError', 503: 'OverloadedError' })[status],
  'ai with @ai-sdk/openai': ai,
  'ai with @ai-sdk/openai-compatible': ai,
  'ai with @ai-sdk/anthropic': ai,
};

async function failing(driver: Driver, wish: Wish): Promise<Trouble> {
  try {
    await driver.converse(matrix, wish);
  } catch (error) {
    return driver.trouble(error);
  }
  throw new Error('There was no error.');
}

describe.each(DRIVERS)('$name', (driver) => {
  describe.each(UPSTREAMS)('asks $name', (upstream) => {
    const row = UPSTREAMS.indexOf(upstream) + DRIVERS.indexOf(driver);
    const { model } = upstream;
    const itsId = faultOf(driver, upstream, 'request id') ? it.fails : it;
    it.each(oneInFour('clients', row, CLASSES))('and throws $name for a $status', async ({ status, name, types }) => {
      for (const stream of [false, true]) {
        const trouble = await failing(driver, { model, question: `Fail ${status}`, stream });
        expect(trouble).toMatchObject({
          name: OWN_NAMES[driver.name]?.(status) ?? name,
          // Overloaded is a status of Anthropic's own on its own route.
          status: status === 503 && driver.route === 'messages' ? 529 : status,
          type: types[driver.route],
          message: expect.stringContaining(`The model says ${status}.`),
          retryAfter: status === 429 ? String(RETRY_AFTER) : undefined,
        });
      }
    });

    it('and throws InternalServerError for a 401, since the key is the gateway’s, without another try', async () => {
      for (const stream of [false, true]) {
        const before = matrix.upstream.seen.length;
        const trouble = await failing(driver, { model, question: 'Fail 401', stream });
        expect(trouble).toMatchObject({
          name: OWN_NAMES[driver.name]?.(502) ?? 'InternalServerError',
          status: 502,
          type: { chat: 'server_error', messages: 'api_error' }[driver.route],
          message: expect.stringContaining('The upstream refused the credentials of the catalog entry @'),
        });
        expect(trouble.message).not.toContain('The model says');
        const asked = matrix.upstream.seen.slice(before).filter(({ url }) => !url.endsWith('/token'));
        expect(asked.length).toBe(1);
      }
    });

    itsId('and gets the id under which the gateway records the failed request', async () => {
      const { requestId = '' } = await failing(driver, { model, question: 'Fail 400' });
      expect(requestId).not.toBe('');
      await until(() => matrix.gateway.logs.some((line) => line['request_id'] === requestId), 'the log has that id');
    });

    it('and throws when a stream breaks in the middle', async () => {
      let begun = false;
      const onText = () => {
        begun = true;
      };
      const trouble = await failing(driver, { model, question: 'Fail midstream', stream: true, onText });
      expect(trouble.message).toContain('overloaded');
      expect(trouble.type).toBe({ chat: 'server_error', messages: 'overloaded_error' }[driver.route]);
      expect(begun).toBe(true);
    });

    it('and leaves: a running stream ends upstream', async () => {
      const before = matrix.upstream.seen.length;
      const controller = new AbortController();
      const gone = driver.converse(matrix, {
        model,
        question: 'Hang',
        stream: true,
        signal: controller.signal,
        onText: () => controller.abort(),
      });
      // Some throw, some end the stream as if that were all.
      await gone.catch(() => undefined);
      await until(() => matrix.upstream.seen[before]?.aborted === true, 'the upstream saw the stream aborted');
    });

    it.skipIf(driver.lacks['leaving before a reply'])(
      'and leaves: a request without a reply ends upstream',
      async () => {
        const before = matrix.upstream.seen.length;
        const controller = new AbortController();
        const gone = driver.converse(matrix, { model, question: 'Silence', signal: controller.signal });
        // Before it rejects: later the rejection would be unhandled.
        const rejected = expect(gone).rejects.toThrow();
        await until(() => matrix.upstream.seen.length > before, 'the upstream was asked');
        controller.abort();
        await rejected;
        await until(() => matrix.upstream.seen[before]?.aborted === true, 'the upstream saw the request aborted');
      },
    );
  });

  it('throws for a key that the gateway does not know', async () => {
    const stranger = { baseUrl: matrix.baseUrl, key: 'not-a-key-0123456789' };
    const error: unknown = await driver
      .converse(stranger, { model: UPSTREAMS[0]!.model, question: 'Hi' })
      .catch((thrown: unknown) => thrown);
    expect(driver.trouble(error)).toMatchObject({ status: 401, type: 'authentication_error' });
  });
});
