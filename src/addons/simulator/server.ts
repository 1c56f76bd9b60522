import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { play } from './play.ts';
import { CHAT_PATH, EMBEDDINGS_PATH } from './paths.ts';
import { plainScript, type ScriptStep } from './script.ts';
import { Simulation } from './simulate.ts';
import { errorBody } from '../../core/dry-run/openai-error.ts';

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
  /** Closes the server and breaks running replies. */
  close(): Promise<void>;
}

/** An OpenAI upstream on a real socket, so that timeouts, aborts, retries and cut streams are real. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulation = new Simulation(() => systemClock.wall());
  const server = createServer((request, response) => {
    serve(request, response, simulation).catch((error: unknown) => {
      // A bug in the simulator itself.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(`The simulator failed: ${String(error)}`);
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, options.port ?? 0);
  if (options.background) server.unref();
  return { url: urlOf(server), close: () => close(server) };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Exclusive: cluster workers would otherwise share one port, and requests of one worker could reach another's simulator.
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function urlOf(server: Server): string {
  // A listening TCP server has an AddressInfo.
  const { address, port } = server.address() as AddressInfo;
  return `http://${address}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(request: IncomingMessage, response: ServerResponse, simulation: Simulation): Promise<void> {
  try {
    await play(await stepsFor(request, simulation), response, systemClock);
  } catch (error) {
    if (request.complete) throw error;
    // The client disconnected while sending, so no answer is possible.
    response.destroy();
  }
}

async function stepsFor(request: IncomingMessage, simulation: Simulation): Promise<readonly ScriptStep[]> {
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  if (path !== CHAT_PATH && path !== EMBEDDINGS_PATH) {
    const served = `POST ${CHAT_PATH} and POST ${EMBEDDINGS_PATH}`;
    return refusal(404, `The simulator does not serve ${request.method} ${path}, only ${served}.`);
  }
  if (request.method !== 'POST') return refusal(405, `${path} accepts POST only.`);
  const body = await readBody(request);
  if (!body) return refusal(413, `The body exceeds ${MAX_BODY} bytes.`);
  return path === CHAT_PATH ? simulation.run(body) : simulation.embed(body);
}

const refusal = (status: number, message: string): ScriptStep[] =>
  plainScript(status, errorBody(status, message), { connection: 'close' });

/** Reads by events, so that a `sim-fast` reply costs the same as one of bare node:http (measured). Undefined: too large. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= MAX_BODY) pieces.push(piece);
      else resolve(undefined);
    });
    request.on('end', () => resolve(Buffer.concat(pieces)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the client disconnected while sending')));
  });
}
