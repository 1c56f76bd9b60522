import { randomUUID } from 'node:crypto';
import { isObject, signedHeaders, signingKey } from '../../../core/kernel/index.ts';
import { version } from '../../../core/kernel/version.ts';
import type { Upstream } from '../../../core/upstream/types.ts';
import type { Cancellation, Clock, Secret } from '../../../plugin/index.ts';
import { CallGate } from './call-gate.ts';

export interface AskedText {
  readonly role?: string;
  readonly kind: string;
  readonly place: string;
  readonly text: string;
}

export interface Question {
  readonly guard: string;
  readonly on: 'input' | 'output';
  readonly action: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly texts: readonly AskedText[];
}

export interface Answer {
  readonly verdict: 'pass' | 'deny' | 'mask';
  readonly message: string | undefined;
  /** Other texts by the index of the text in the question. */
  readonly texts: ReadonlyMap<number, string>;
}

interface WebhookOptions {
  readonly url: string;
  readonly secret: Secret;
  readonly timeout_ms: number;
  readonly connections: number;
  readonly allow_insecure: boolean;
}

export interface GuardWebhookTools {
  readonly clock: Clock;
  readonly exchange: Upstream['exchange'];
}

const MAX_ANSWER = 16 * 1024 * 1024;

/** Asks an address of the operator. The contract is in docs/plugins/guards.md. */
export class GuardWebhook {
  readonly #options: WebhookOptions;
  readonly #tools: GuardWebhookTools;
  readonly #key: Buffer;
  readonly #gate: CallGate;

  constructor(options: Readonly<Record<string, unknown>>, tools: GuardWebhookTools) {
    // The options have passed the schema of the check.
    this.#options = options as unknown as WebhookOptions;
    this.#tools = tools;
    const { secret, connections } = this.#options;
    const key = signingKey(secret);
    if (!key) throw new Error('the secret of a webhook has a wrong form');
    this.#key = key;
    this.#gate = new CallGate({ clock: tools.clock, running: connections });
  }

  /** Rejects when there is no answer that can be read, in time, and with the reason of the cancellation. */
  async ask(question: Question, cancellation?: Cancellation): Promise<Answer> {
    const { timeout_ms } = this.#options;
    const deadline = this.#tools.clock.now() + timeout_ms;
    const call = async (): Promise<Answer> => {
      const body = JSON.stringify({ version: 1, ...question });
      const { status, bytes, text } = await this.#tools.exchange({
        url: this.#options.url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': `gatehouse/${version().version}`,
          // Not the id of the request, which a caller may choose: a receiver may leave out an id that it has seen.
          ...signedHeaders(randomUUID(), this.#tools.clock.wall(), body, this.#key),
        },
        body,
        maxBytes: MAX_ANSWER,
        connections: this.#options.connections,
        allowInsecure: this.#options.allow_insecure,
        timeoutMs: Math.max(1, deadline - this.#tools.clock.now()),
        ...(cancellation && { cancellation }),
      });
      if (status !== 200) throw new Error(`the webhook answered HTTP ${status}`);
      return readAnswer(bytes?.toString() ?? text, question.texts.length);
    };
    return this.#gate.run(deadline, call, cancellation);
  }
}

const VERDICTS: ReadonlySet<unknown> = new Set(['pass', 'deny', 'mask']);

/** Throws for an answer that is not as the contract says. */
export function readAnswer(json: string, asked: number): Answer {
  const value: unknown = JSON.parse(json);
  if (!isObject(value) || !VERDICTS.has(value['verdict'])) throw new Error('the answer has no verdict');
  const { message } = value;
  const list = value['texts'] ?? [];
  if (!Array.isArray(list)) throw new Error('`texts` of the answer is no list');
  const texts = new Map<number, string>();
  for (const one of list as readonly unknown[]) {
    const item: Readonly<Record<string, unknown>> = isObject(one) ? one : {};
    const { index, text } = item;
    if (
      typeof index !== 'number' ||
      !Number.isInteger(index) ||
      index < 0 ||
      index >= asked ||
      typeof text !== 'string'
    )
      throw new Error('a text of the answer has no index of a text that was asked about, or is no text');
    texts.set(index, text);
  }
  return {
    verdict: value['verdict'] as Answer['verdict'],
    message: typeof message === 'string' ? message.slice(0, 500) : undefined,
    texts,
  };
}
