import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, RetryError, streamText } from 'ai';
import OpenAI, { APIError as OpenAIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FALLBACK, healthy, PRIMARY, refuse } from '../faults/kit/deeds.ts';
import type { DialectName } from '../faults/kit/dialects.ts';
import { startRig, type Rig } from '../faults/kit/rig.ts';
import { AFTER_CONTENT, configFor, configId, REFUSALS, SILENCES, type Row, type Setup } from '../faults/scenarios.ts';
import { oneInFour } from '../support/effort.ts';
import { KEY, until } from '../support/gateway.ts';

/**
 * The faults of test/faults as the code of an application meets them: what the SDK throws, what it has told until then, and how
 * often it asks by itself.
 */

interface Wish {
  readonly stream: boolean;
  readonly config: string;
  readonly maxRetries?: number;
  readonly onText: (text: string) => void;
}

/** What user code catches. */
interface Caught {
  readonly name: string;
  readonly status: number | undefined;
  /** Its message and whatever else it carries of the body. */
  readonly said: string;
}

interface Client {
  readonly name: string;
  readonly api: 'chat' | 'messages';
  /** Speaks its own API, and another one. */
  readonly upstreams: readonly DialectName[];
  /** Throws what the SDK throws, in a stream where user code reads it. */
  ask(url: string, wish: Wish): Promise<void>;
  caught(error: unknown): Caught;
  /** Name of the error class for an answer that is no success. */
  className(status: number): string;
  /** Name of the error class for a stream that breaks. */
  readonly brokenName: string;
  /** The SDK asks again as `x-should-retry` says. */
  readonly heeds: boolean;
}

const CLASSES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  429: 'RateLimitError',
};
const classOf = (status: number): string => CLASSES[status] ?? 'InternalServerError';
const headersFor = (config: string) => ({ 'x-gateway-api-key': KEY, 'x-gateway-config': config });
const messages = [{ role: 'user' as const, content: 'Hallo' }];

const openai: Client = {
  name: 'openai',
  api: 'chat',
  upstreams: ['openai', 'anthropic'],
  async ask(url, { stream, config, maxRetries = 0, onText }) {
    const options = { baseURL: `${url}/v1`, apiKey: 'ya29.caller', maxRetries, defaultHeaders: headersFor(config) };
    const { completions } = new OpenAI(options).chat;
    const body = { model: 'any', max_tokens: 64, messages };
    if (!stream) {
      const { choices } = await completions.create(body);
      return onText(choices[0]?.message.content ?? '');
    }
    for await (const { choices } of await completions.create({ ...body, stream: true }))
      onText(choices[0]?.delta.content ?? '');
  },
  caught(error) {
    if (!(error instanceof OpenAIError)) throw error;
    return { name: error.constructor.name, status: error.status, said: `${error.code} ${error.message}` };
  },
  className: classOf,
  brokenName: 'APIError',
  heeds: true,
};

const anthropic: Client = {
  name: '@anthropic-ai/sdk',
  api: 'messages',
  upstreams: ['anthropic', 'openai'],
  async ask(url, { stream, config, maxRetries = 0, onText }) {
    const options = {
      baseURL: url,
      apiKey: null,
      authToken: 'ya29.caller',
      maxRetries,
      defaultHeaders: headersFor(config),
    };
    const client = new Anthropic(options);
    const body = { model: 'any', max_tokens: 64, messages };
    if (!stream) {
      for (const block of (await client.messages.create(body)).content) if (block.type === 'text') onText(block.text);
      return;
    }
    for await (const event of await client.messages.create({ ...body, stream: true }))
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText(event.delta.text);
  },
  caught(error) {
    if (!(error instanceof AnthropicError)) throw error;
    return { name: error.constructor.name, status: error.status, said: JSON.stringify(error.error) };
  },
  className: (status) => ({ 504: 'GatewayTimeoutError', 529: 'OverloadedError' })[status] ?? classOf(status),
  brokenName: 'APIError',
  heeds: true,
};

const ai: Client = {
  name: 'ai',
  api: 'chat',
  upstreams: ['openai', 'anthropic'],
  async ask(url, { stream, config, maxRetries = 0, onText }) {
    const options = { name: 'gateway', baseURL: `${url}/v1`, apiKey: 'ya29.caller', headers: headersFor(config) };
    const model = createOpenAICompatible(options).chatModel('any');
    const asked = { model, prompt: 'Hallo', maxOutputTokens: 64, maxRetries };
    if (!stream) return onText((await generateText(asked)).text);
    const { fullStream } = streamText({ ...asked, onError: () => {} });
    for await (const part of fullStream) {
      if (part.type === 'text-delta') onText(part.text);
      if (part.type === 'error') throw part.error;
    }
  },
  caught(thrown) {
    const error = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
    if (APICallError.isInstance(error))
      return { name: error.name, status: error.statusCode, said: `${error.message} ${error.responseBody}` };
    // The error event's own object, as it came.
    return { name: typeof error, status: undefined, said: JSON.stringify(error) };
  },
  className: () => 'AI_APICallError',
  brokenName: 'object',
  heeds: false,
};

const CLIENTS = [openai, anthropic, ai];
const ROWS = [...REFUSALS, ...SILENCES, ...AFTER_CONTENT].filter(
  // The gateway's own tests cover transient failures; a filter gives an answer, not a failure.
  ({ fault }) => !/once|without Retry-After|filter|within its time|529/.test(fault),
);
const SETUPS: readonly Setup[] = ['alone', 'fallback', 'complete'];

interface Case {
  readonly row: Row;
  readonly setup: Setup;
  readonly dialect: DialectName;
  readonly stream: boolean;
}

const casesOf = ({ upstreams }: Client): readonly (readonly [string, Case])[] =>
  ROWS.flatMap((row) =>
    upstreams
      .filter((dialect) => row.dialects?.includes(dialect) ?? true)
      .flatMap((dialect) =>
        (row.forms ?? (['plain', 'stream'] as const)).flatMap((form) =>
          SETUPS.filter((setup) => setup !== 'complete' || form === 'stream').map(
            (setup) =>
              [
                `${row.fault} (${dialect}, ${form}, ${setup})`,
                { row, setup, dialect, stream: form === 'stream' },
              ] as const,
          ),
        ),
      ),
  );

/** Without timeouts of its own. */
const NO_ROW: Row = { ...ROWS[0]!, fault: '' };

let rig: Rig;
beforeAll(async () => {
  const rows = ROWS.flatMap((row) => (['openai', 'anthropic'] as const).map((dialect) => [row, dialect] as const));
  rig = await startRig(
    Object.fromEntries(
      [...rows, [NO_ROW, 'openai'] as const].flatMap(([row, dialect]) =>
        [...SETUPS, 'retry' as const].map((setup) => [configId(dialect, setup, row), configFor(dialect, setup, row)]),
      ),
    ),
  );
});
afterAll(() => rig.close());

/** What came of it, and what had been told by then. */
async function meet(client: Client, wish: Omit<Wish, 'onText'>, held: boolean) {
  const heard = Promise.withResolvers<void>();
  rig.primary.setHeard(held || !wish.stream ? Promise.resolve() : heard.promise);
  rig.primary.forget();
  rig.fallback.forget();
  let text = '';
  const onText = (piece: string): void => {
    text += piece;
    if (piece !== '') heard.resolve();
  };
  const caught = await client.ask(rig.gateway.url, { ...wish, onText }).then(() => undefined, client.caught);
  return { caught, text };
}

const statusOf = ({ status = 0, code }: Row, { api }: Client): number => {
  if (code !== 'overloaded') return status;
  return api === 'chat' ? 503 : 529;
};

describe.each(CLIENTS.map((client) => [client.name, client] as const))('code that uses %s', (_, client) => {
  it.each(oneInFour('clients', CLIENTS.indexOf(client), casesOf(client)))(
    'meets %s',
    async (_title, { row, setup, dialect, stream }) => {
      rig.primary.does(row.deed);
      const config = configId(dialect, setup, row);
      const { caught, text } = await meet(client, { stream, config }, setup === 'complete');
      const { end } = row.outcome[setup];
      if (end === 'primary' || end === 'fallback') {
        expect(caught).toBeUndefined();
        return expect(text, 'the whole answer, of one model').toBe(
          (end === 'primary' ? PRIMARY : FALLBACK).words.join(''),
        );
      }
      if (end === 'told') {
        const status = statusOf(row, client);
        expect(caught).toEqual({ name: client.className(status), status, said: expect.stringContaining(row.code!) });
        return expect(text).toBe('');
      }
      expect(caught).toEqual({ name: client.brokenName, status: undefined, said: expect.stringContaining(row.code!) });
      expect(text, 'what it had been told').not.toBe('');
      expect(PRIMARY.words.join('').startsWith(text), text).toBe(true);
    },
  );

  it.each([
    ['again by itself, where the gateway has tried once', 'alone', [2, 0]],
    ['no more, where the gateway has tried again', 'retry', [3, 0]],
    ['no more, where the gateway has asked another target', 'fallback', [1, 1]],
  ] as const)('asks %s', async (_title, setup, visits) => {
    const busy = refuse({ status: 503, message: 'Overloaded.' }, { 'retry-after-ms': '20' });
    rig.primary.does(busy);
    rig.fallback.does(busy);
    const { caught } = await meet(
      client,
      { stream: false, config: configId('openai', setup, NO_ROW), maxRetries: 1 },
      false,
    );
    rig.fallback.does(healthy(FALLBACK));
    const status = client.api === 'chat' ? 503 : 529;
    expect(caught).toMatchObject({ name: client.className(status), status });
    // The AI SDK knows no `x-should-retry`: set `maxRetries: 0` with it, or it repeats every request.
    const times = client.heeds || setup === 'alone' ? 1 : 2;
    expect([rig.primary.visits.length, rig.fallback.visits.length]).toEqual(visits.map((count) => count * times));
  });

  it('leaves no request under way', () =>
    until(() => rig.gateway.gateway.upstream.stats().every(({ running }) => running === 0), 'all have ended'));
});
