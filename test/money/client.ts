import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_OUTPUT, STREAMED, type Action } from './bill.ts';
import { KEY } from './settings.ts';

export interface ClientSetup {
  readonly url: string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A number for the model of the next request: each has one of its own. */
  readonly next: () => number;
  readonly actions: readonly Action[];
  /** Clients disconnect in the middle of half of their slow streams, and before half of their slow replies. */
  readonly leaves: boolean;
  /** Between two requests, at most. */
  readonly pauseMs: number;
}

/** After a request that got no answer: the gateway is starting. */
const REFUSED_MS = 100;
/** A client leaves so long after its request, when the upstream has it, and before a slow reply. */
const LEFT_MS = 200;

/** Sends requests one after the other, each for a model of its own, until it is stopped. */
export class Client {
  readonly #setup: ClientSetup;
  #stopped = false;
  /** Requests that were answered. */
  answered = 0;
  readonly statuses = new Set<number>();

  constructor(setup: ClientSetup) {
    this.#setup = setup;
  }

  async run(): Promise<void> {
    const { random, actions, leaves, pauseMs } = this.#setup;
    while (!this.#stopped) {
      const action = actions[Math.floor(random() * actions.length)]!;
      const isLeft = leaves && (action === 'slow-stream' || action === 'slow') && random() < 0.5;
      const isSent = await this.#send(action, isLeft).catch(() => false);
      await sleep(isSent ? random() * pauseMs : REFUSED_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** @param isLeft the client disconnects in the middle of its stream, or before its reply */
  async #send(action: Action, isLeft: boolean): Promise<boolean> {
    const { url, next } = this.#setup;
    const stream = STREAMED.has(action);
    const leaving = isLeft && action === 'slow' ? AbortSignal.timeout(LEFT_MS) : null;
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({
        model: `m-${next()}`,
        max_tokens: MAX_OUTPUT,
        messages: [{ role: 'user', content: action }],
        ...(stream && { stream, stream_options: { include_usage: true } }),
      }),
    });
    this.answered += 1;
    this.statuses.add(reply.status);
    const reader = reply.body!.getReader();
    for (let pieces = 0; ; pieces += 1) {
      const { done } = await reader.read();
      if (done) return true;
      if (isLeft && pieces === 1) {
        await reader.cancel();
        return true;
      }
    }
  }
}
