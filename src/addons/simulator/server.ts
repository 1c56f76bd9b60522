import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorBody } from '../../formats/openai-chat/error-body.ts';
import { play } from './play.ts';
import { plainScript, type ScriptStep } from './script.ts';
import { Simulation } from './simulate.ts';

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
