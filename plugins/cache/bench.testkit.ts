import { chatCompletions } from '../../src/core/operations/openai.ts';
import { createSignals } from '../../src/formats/events.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { toMiddleware } from '../../src/core/kernel/define.ts';
import type { Attempt, Exchange, ResolvedTarget, SemanticCache, Target } from '../../src/core/kernel/index.ts';
import {
  createAttempt,
  createCaller,
  createContext,
  createExchange,
  createFakeClock,
  type ExchangeParts,
} from '../../src/plugin/testing/index.ts';
import { createHost } from '../../src/plugin/testing/run-plugin.ts';
import { createReplyCache } from '../../src/core/translate/cached-replies.ts';
import { MemoryReplyStore } from '../../src/core/memory/reply-cache.ts';
import cache from './index.ts';

export const resolvedTarget = (model: string, parts: Partial<ResolvedTarget> = {}): ResolvedTarget => ({
  slug: 'openai',
  provider: 'simulator',
  semconvName: 'simulator',
  model,
  modelLabel: model,
  origin: 'https://example.com',
  path: '/v1/chat/completions',
  headers: {},
  format: 'openai-chat',
  host: 'direct',
  timeouts: {},
  ...parts,
});

export const messages = [{ role: 'user', content: 'hi' }];

export interface AskParts extends ExchangeParts {
  readonly target?: Partial<Target>;
  readonly timeouts?: Attempt['timeouts'];
}

export interface Asked {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  /** Rejects with the error of the plugin. */
  readonly done: Promise<void>;
}

/** Of targets whose cache compares no meanings. */
const NO_SEMANTIC_CACHE = {} as SemanticCache;

/**
 * One instance of the plugin over a real store, and a function that sends requests through it. `next` plays the
 * upstream.
 */
export async function createBench(
  limits: { maxBytes?: number; maxEntryBytes?: number } = {},
  semantic = NO_SEMANTIC_CACHE,
) {
  const clock = createFakeClock();
  const store = new MemoryReplyStore({
    clock,
    limits: {
      maxBytes: limits.maxBytes ?? 1_000_000,
      maxEntryBytes: limits.maxEntryBytes ?? 100_000,
    },
  });
  const targets = {
    resolve: (exchange: Exchange, _target: Target, model: string) => {
      const denied = exchange.caller?.models;
      if (denied && !denied.includes(model)) throw new GatewayError('model_not_allowed', `not ${model}`);
      return resolvedTarget(model);
    },
  };
  const { host } = createHost(cache, { clock, needs: { targets, semantic, cache: createReplyCache(store, clock) } });
  const middleware = toMiddleware(await cache.create({ options: {}, host }));

  function ask(next: (asked: Omit<Asked, 'done'>) => Promise<void> | void, parts: AskParts = {}): Asked {
    const { target, timeouts, json, ...rest } = parts;
    const exchange = createExchange({
      operation: chatCompletions,
      caller: createCaller({ keyId: 'a' }),
      json: { model: 'm', messages, ...json },
      ...rest,
    });
    const attempt = createAttempt(exchange, {
      target: { cache: { maxAgeMs: 60_000, scope: 'key' }, ...target },
      startedAt: clock.now(),
      ...(timeouts && { timeouts }),
    });
    const done = middleware(createContext(exchange, attempt), async () => next({ exchange, attempt }));
    // Prevents an unhandled rejection; tests may await `done` later.
    done.catch(() => undefined);
    return { exchange, attempt, done };
  }
  return { clock, store, ask };
}

/**
 * Sets the attempt's reply and signals as an answering upstream would: a complete reply unless `parts` overrides it.
 */
export function answers(attempt: Attempt, body: NonNullable<Attempt['reply']>['body'], parts: object = {}): void {
  attempt.signals = { ...createSignals(), ended: true, usage: { input: 3, output: 2, total: 5 } };
  const stream = attempt.body.value('stream') === true;
  attempt.reply = {
    status: 200,
    headers: { 'content-type': stream ? 'text/event-stream' : 'application/json', 'request-id': 'up' },
    body,
    stream,
    ...parts,
  };
}

export const plainReply = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-kept',
    object: 'chat.completion',
    created: 1_795_132_800,
    model: 'upstream-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  });

/** A complete stream without a usage chunk, as for a client that did not request one. */
export const streamReply = (...texts: readonly string[]): string =>
  [{ role: 'assistant', content: '' }, ...texts.map((content) => ({ content })), {}]
    .map((delta, index) => ({
      id: 'chatcmpl-kept',
      object: 'chat.completion.chunk',
      created: 1_795_132_800,
      model: 'upstream-model',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: index > texts.length ? 'stop' : null }],
    }))
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('') + 'data: [DONE]\n\n';
