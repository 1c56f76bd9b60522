import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the scripted upstream does with a request; the client asks for it in its message. */
export const ACTIONS = ['reply', 'slow', 'stream', 'slow-stream', 'no-usage', 'cut', 'drop', 'busy', 'refuse'] as const;
export type Action = (typeof ACTIONS)[number];
/** Actions whose whole charge the gateway learns, unless a process is killed or the client leaves. */
export const EXACT_ACTIONS = ['reply', 'slow', 'stream', 'slow-stream', 'busy', 'refuse'] as const satisfies Action[];
export const STREAMED: ReadonlySet<Action> = new Set<Action>(['stream', 'slow-stream', 'no-usage', 'cut']);

/** USD per million tokens: 1,000 nano-USD for a token of the prompt, 10,000 for one of the answer. */
export const PRICES = { input: 1, output: 10 };
const nanoOf = (input: number, output: number): number => input * 1_000 + output * 10_000;

/** The shortest prompt of a client, a half of its 78 bytes, has a bound of 39 tokens, and `max_tokens` bounds the answer: a reserve covers every charge. */
const MAX_INPUT = 39;
export const MAX_OUTPUT = 50;

/** What one request cost. */
export interface Charge {
  readonly action: Action;
  readonly nano: number;
}

/** An upstream on loopback that charges each request it gets, whatever becomes of its reply. */
export interface BillingUpstream {
  readonly url: string;
  /** By model: each request names one of its own. */
  readonly charges: ReadonlyMap<string, readonly Charge[]>;
  close(): Promise<void>;
}

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
}

/** @param random from 0 to 1 */
export async function startBilling(random: () => number): Promise<BillingUpstream> {
  const charges = new Map<string, Charge[]>();
  const seen = new Set<string>();
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => void pieces.push(piece));
    req.on('error', () => {});
    res.on('error', () => {});
    req.on('end', () => {
      const { model, messages } = JSON.parse(Buffer.concat(pieces).toString()) as Asked;
      const action = messages[0]!.content as Action;
      if (action === 'refuse') return void fail(res, 400);
      if (action === 'busy' && !seen.has(model)) {
        seen.add(model);
        return void fail(res, 503);
      }
      const input = 10 + Math.floor(random() * (MAX_INPUT - 10));
      const output = 2 + Math.floor(random() * (MAX_OUTPUT - 2));
      charges.set(model, [...(charges.get(model) ?? []), { action, nano: nanoOf(input, output) }]);
      void reply(res, action, { model, input, output, isAgain: seen.has(model) });
      seen.add(model);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    charges,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const fail = (res: ServerResponse, status: number): ServerResponse =>
  res
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { message: 'scripted', type: 'error' } }));

interface Answer {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  /** The upstream has seen the model before: a fallback after `drop`. */
  readonly isAgain: boolean;
}

async function reply(res: ServerResponse, action: Action, answer: Answer): Promise<void> {
  const { model, input, output, isAgain } = answer;
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  if (action === 'drop' && !isAgain) {
    // A connection that ends without any byte looks like one that had died before, on which the gateway sends again.
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"id":');
    await sleep(5);
    return void res.destroy();
  }
  if (action === 'slow') await sleep(400);
  if (STREAMED.has(action)) return stream(res, action, { model, usage });
  res.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_795_132_800,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop', logprobs: null }],
      usage,
    }),
  );
}

async function stream(
  res: ServerResponse,
  action: Action,
  { model, usage }: { readonly model: string; readonly usage: object },
): Promise<void> {
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_795_132_800, model, ...more })}\n\n`;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let piece = 0; piece < 5; piece += 1) {
    if (res.destroyed) return;
    res.write(
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: `w${piece} ` }, finish_reason: null }] }),
    );
    await sleep(action === 'slow-stream' ? 100 : 2);
    if (action === 'cut' && piece === 2) return void res.destroy();
  }
  res.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  if (action !== 'no-usage') res.write(chunk({ choices: [], usage }));
  res.end('data: [DONE]\n\n');
}
