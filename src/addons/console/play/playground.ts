import type { ClientRequest, Server } from 'node:http';
import { lendKey } from '../../../core/settings/compile/lent-keys.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { callLocally, replyOf, type LocalCall } from './local-call.ts';
import type { Piece } from './long-answers.ts';

/** A request in the name of a key. Plain: it goes to a worker. */
export interface PlayQuestion extends LocalCall {
  readonly id: string;
  readonly as: string;
}

/** Headers of a reply that are about its connection. */
const OF_THE_WIRE: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'set-cookie',
]);

/** Sends requests in the name of keys through the request path of this process. Limits and budgets of the key count. */
export class Playground {
  readonly #server: () => Server | undefined;
  readonly #tell: (piece: Piece) => void;
  /** Undefined: it has no connection yet. */
  readonly #running = new Map<string, ClientRequest | undefined>();

  constructor(server: () => Server | undefined, tell: (piece: Piece) => void) {
    this.#server = server;
    this.#tell = tell;
  }

  /** Resolves when the reply has ended. Never rejects. */
  async run({ id, as, method, path, headers, body }: PlayQuestion): Promise<void> {
    const key = lendKey(as);
    const server = this.#server();
    this.#running.set(id, undefined);
    try {
      if (!key || !server) throw new Error('too many requests of the playground are under way');
      const own = { ...headers, 'x-request-id': `playground-${id}`, authorization: `Bearer ${key.secret}` };
      const call = await callLocally(server, { method, path, headers: own, body });
      // Its reader has left.
      if (!this.#running.has(id)) call.destroy();
      else this.#running.set(id, call);
      const reply = await replyOf(call);
      const shown = Object.entries(reply.headers).flatMap(([name, value]) =>
        OF_THE_WIRE.has(name) || value === undefined ? [] : [[name, [value].flat().join(', ')]],
      );
      this.#tell({
        id,
        head: { status: reply.statusCode ?? 0, headers: Object.fromEntries(shown) as Record<string, string> },
      });
      for await (const bytes of reply as AsyncIterable<Buffer>) this.#tell({ id, bytes: bytes.toString('base64') });
      this.#tell({ id, end: true });
    } catch (error) {
      this.#tell({ id, failed: messageOf(error) });
    } finally {
      this.#running.delete(id);
      key?.end();
    }
  }

  /** The gateway ends the call of the upstream, as for any client that leaves. */
  stop(id: string): void {
    const call = this.#running.get(id);
    if (call) call.destroy();
    else this.#running.delete(id);
  }
}
