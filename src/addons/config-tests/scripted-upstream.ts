import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseDuration } from '../../core/kernel/units.ts';
import type { Wire } from '../../core/upstream/index.ts';
import type { RecordedReply } from '../../core/process/recordings-port.ts';
import type { Calls, PlacedCall } from './calls.ts';
import { turn, type CaseTime } from './case-time.ts';
import { MemorySocket } from './memory-socket.ts';
import { writeAnswer, type WrittenReply } from './write-answer.ts';

/** Resolves every name to one public address, which the egress guard allows. */
export const lookUpAnything = (): Promise<readonly string[]> => Promise.resolve(['8.8.8.8']);

/** All upstreams, in memory: each call gets its answer from the case, on its own connection. */
export function createScriptedUpstream(calls: () => Calls, time: CaseTime): Wire {
  const server = createServer((req, res) => void serve(req, res));
  // Disables node:http's own timeouts, which run on real time.
  Object.assign(server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, timeout: 0, maxHeadersCount: 0 });

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.on('error', () => {});
    const body = await read(req);
    const call = body === undefined ? undefined : calls().arrive(req.url ?? '', body);
    if (!call?.answer) return void res.destroy();
    await new Play(res, call, time).run(body ?? '');
  }

  return {
    connect({ hostname, port }) {
      const [near, far] = MemorySocket.pair(time.traffic);
      const call = calls().dial(hostname, port);
      const refused = call && (!call.answer || call.answer.fault === 'refuse');
      const stand = (): void => {
        if (near.destroyed) return;
        if (refused) return void near.destroy(refusal());
        server.emit('connection', far);
        near.emit('connect');
      };
      time.traffic.carry(() => {
        if (refused) wait(call, time, stand);
        else stand();
      });
      return near;
    },
    // No TLS in memory.
    secure: ({ httpSocket }, callback) => callback(null, httpSocket!),
  };
}

const refusal = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function wait({ answer }: PlacedCall, { clock }: CaseTime, then: () => void): void {
  const ms = answer?.delay === undefined ? 0 : parseDuration(answer.delay);
  if (ms === 0) then();
  else clock.after(ms, then);
}

async function read(req: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of req) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString();
  } catch {
    // The gateway has aborted the call.
    return undefined;
  }
}

class Play {
  readonly #res: ServerResponse;
  readonly #call: PlacedCall;
  readonly #time: CaseTime;

  constructor(res: ServerResponse, call: PlacedCall, time: CaseTime) {
    this.#res = res;
    this.#call = call;
    this.#time = time;
  }

  async run(request: string): Promise<void> {
    const { answer = {}, spoken } = this.#call;
    if (answer.recorded) return this.#recorded(answer.recorded);
    if (answer.fault === 'hang') return;
    await this.#sleep(answer.delay);
    if (answer.fault === 'reset') return void this.#res.destroy();
    const written = writeAnswer(answer, spoken, request);
    // Closes every connection: a kept-alive connection that dies is silently retried, and a case should not depend on
    // whether calls share one. A cut connection ends anyway, without an announcement.
    const headers = { ...written.headers, ...(answer.fault !== 'cut' && { connection: 'close' }) };
    if (written.stream) await this.#stream(written, headers);
    else await this.#plain(written, headers);
  }

  async #recorded({ status, headers, pieces, end }: RecordedReply): Promise<void> {
    let at = pieces[0]?.[0] ?? 0;
    await this.#sleep(at);
    this.#res.writeHead(status, { ...headers, ...(end === 'complete' && { connection: 'close' }) });
    for (const [ms, bytes] of pieces) {
      await this.#sleep(ms - at);
      at = ms;
      if (this.#res.destroyed) return;
      if (!this.#res.write(bytes)) await this.#drained();
      await turn();
    }
    if (end === 'complete') this.#res.end();
    else if (end === 'cut') await this.#cut();
  }

  async #plain({ status, pieces }: WrittenReply, headers: Record<string, string>): Promise<void> {
    const body = Buffer.from(pieces.join(''));
    const cut = this.#call.answer?.fault === 'cut';
    this.#res.writeHead(status, { ...headers, ...(status !== 204 && { 'content-length': String(body.length) }) });
    if (!cut) return void this.#res.end(body);
    this.#res.write(body.subarray(0, Math.floor(body.length / 2)));
    await this.#cut();
  }

  async #stream(
    { status, pieces, cutBehind = pieces.length - 1 }: WrittenReply,
    headers: Record<string, string>,
  ): Promise<void> {
    const { pause, fault } = this.#call.answer ?? {};
    this.#res.writeHead(status, headers);
    const sent = fault === 'cut' ? pieces.slice(0, cutBehind) : pieces;
    for (const [index, piece] of sent.entries()) {
      if (index > 0) await this.#sleep(pause);
      if (this.#res.destroyed) return;
      if (!this.#res.write(piece)) await this.#drained();
      // Each piece arrives separately.
      await turn();
    }
    if (fault === 'cut') await this.#cut();
    else this.#res.end();
  }

  /** Lets the client read the written bytes before the connection ends. */
  async #cut(): Promise<void> {
    this.#res.flushHeaders();
    await turn();
    this.#res.destroy();
  }

  #sleep(duration: string | number | undefined): Promise<void> {
    const ms = duration === undefined ? 0 : parseDuration(duration);
    if (ms === 0 || this.#res.destroyed) return Promise.resolve();
    // Bytes written before a pause are sent before it.
    if (this.#res.headersSent) this.#res.flushHeaders();
    return this.#time.clock.sleep(ms);
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.#res.once('drain', resolve).once('close', resolve));
  }
}
