import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorBody } from '../../formats/openai-chat/error-body.ts';
import { plainScript, type ScriptStep } from './script.ts';
import { Simulation } from './simulate.ts';
import { setImmediate, setTimeout } from 'node:timers/promises';

const CHAT_PATH = '/v1/chat/completions';
const EMBEDDINGS_PATH = '/v1/embeddings';
const MAX_BODY = 64 * 1024 * 1024;
/** Longer than the gateway's pools keep a connection, so that a reused socket is never one that this side has just closed. */
const KEEP_ALIVE_MS = 120_000;

interface SimulatorOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** The server does not keep the process alive. */
  readonly background?: boolean;
}

export interface Simulator {
  readonly url: string;
  close(): Promise<void>;
}

/** An OpenAI upstream on a real socket, so that timeouts, aborts, retries and cut streams are real. */
export async function startSimulator({ port = 0, background }: SimulatorOptions = {}): Promise<Simulator> {
  const simulation = new Simulation();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const served = stepsFor(request, simulation).then((steps) => play(steps, response));
    // The client disconnected while sending, so no answer is possible, or the simulator has a bug.
    served.catch(() => response.destroy());
  });
  // Exclusive: cluster workers would otherwise share one port, and requests of one worker could reach another's simulator.
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  await once(server, 'listening');
  if (background) server.unref();
  // A listening TCP server has an AddressInfo.
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.address}:${address.port}`,
    async close() {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

async function stepsFor(request: IncomingMessage, simulation: Simulation): Promise<readonly ScriptStep[]> {
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  if (path !== CHAT_PATH && path !== EMBEDDINGS_PATH) {
    const served = `POST ${CHAT_PATH} and POST ${EMBEDDINGS_PATH}`;
    return refusal(404, `The simulator does not serve ${request.method} ${path}, only ${served}.`);
  }
  if (request.method !== 'POST') return refusal(405, `${path} accepts POST only.`);
  const pieces: Buffer[] = [];
  let length = 0;
  const arriving: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const piece of arriving) {
    length += piece.length;
    if (length > MAX_BODY) return refusal(413, `The body exceeds ${MAX_BODY} bytes.`);
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  return path === CHAT_PATH ? simulation.run(body) : simulation.embed(body);
}

const refusal = (status: number, message: string): ScriptStep[] =>
  plainScript(status, errorBody(status, message), { connection: 'close' });

const PING_MS = 100;

/** Performs the steps on the socket, with backpressure, until they are done or the client has disconnected. */
export async function play(steps: readonly ScriptStep[], response: ServerResponse): Promise<void> {
  const departure = new AbortController();
  response.once('close', () => departure.abort());
  try {
    for (const step of steps) {
      if (departure.signal.aborted) return;
      // The common steps finish synchronously and need no promise.
      const waiting = perform(step, response, departure.signal);
      if (waiting) await waiting;
    }
  } catch (error) {
    if (!departure.signal.aborted) throw error;
  }
}

function perform(step: ScriptStep, response: ServerResponse, signal: AbortSignal): Promise<unknown> | undefined {
  switch (step.kind) {
    case 'head':
      response.writeHead(step.status, step.headers);
      return undefined;
    case 'send':
      return response.write(step.bytes) ? undefined : once(response, 'drain', { signal });
    case 'wait':
      if (step.ms === 0) return setImmediate(undefined, { signal });
      flush(response);
      return step.pings ? ping(step.ms, response, signal) : setTimeout(step.ms, undefined, { signal });
    case 'hold':
      flush(response);
      return once(response, 'close');
    case 'cut':
      return breakOff(response);
    case 'end':
      response.end();
      return undefined;
  }
}

/** Sends comment lines until the time is over. */
async function ping(ms: number, response: ServerResponse, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= PING_MS) {
    response.write(': ping\n\n');
    await setTimeout(Math.min(left, PING_MS), undefined, { signal });
  }
}

/** Sends the headers, which node:http holds back until the first write, before a delay. */
function flush(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
}

/** Destroys the socket after the written bytes are sent, so that the client sees the break after those bytes. */
async function breakOff(response: ServerResponse): Promise<void> {
  if (response.headersSent) {
    await new Promise((resolve) => response.write('', resolve));
    await setImmediate();
  }
  response.socket?.destroy();
}
