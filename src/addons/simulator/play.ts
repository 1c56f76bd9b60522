import type { ServerResponse } from 'node:http';
import type { Clock } from '../../plugin/index.ts';
import type { ScriptStep } from './script.ts';

const PING_MS = 100;
const PING = ': ping\n\n';

/** Performs the steps on the socket, with backpressure, until they are done or the client has disconnected. */
export async function play(steps: readonly ScriptStep[], response: ServerResponse, clock: Clock): Promise<void> {
  const departure = new Departure(response);
  for (const step of steps) {
    if (departure.happened) break;
    // The common steps finish synchronously and need no promise.
    const waiting = perform(step, response, departure, clock);
    if (waiting) await waiting;
  }
}

/** Tracks the end of the connection, by either side. */
class Departure {
  happened = false;
  #wake: (() => void) | undefined;

  constructor(response: ServerResponse) {
    response.once('close', () => {
      this.happened = true;
      this.#wake?.();
    });
  }

  /** Resolves when `start` calls back or the client disconnects, then calls the function that `start` returned to clean up. */
  race(start: (done: () => void) => () => void): Promise<void> {
    if (this.happened) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        this.#wake = undefined;
        stop();
        resolve();
      };
      this.#wake = finish;
      const stop = start(finish);
    });
  }
}

function perform(
  step: ScriptStep,
  response: ServerResponse,
  departure: Departure,
  clock: Clock,
): Promise<void> | undefined {
  switch (step.kind) {
    case 'head':
      response.writeHead(step.status, step.headers);
      return undefined;
    case 'send':
      if (response.write(step.bytes)) return undefined;
      return departure.race((done) => {
        response.once('drain', done);
        return () => response.off('drain', done);
      });
    case 'wait':
    case 'ping':
      return pause(step, response, departure, clock);
    case 'hold':
      flush(response);
      return departure.race(() => () => {});
    case 'cut':
      return breakOff(response, departure);
    case 'end':
      response.end();
      return undefined;
  }
}

function pause(
  { kind, ms }: ScriptStep & { kind: 'wait' | 'ping' },
  response: ServerResponse,
  departure: Departure,
  clock: Clock,
): Promise<void> {
  if (ms > 0) flush(response);
  return departure.race((done) => {
    if (ms === 0) {
      const turn = setImmediate(done);
      return () => clearImmediate(turn);
    }
    const stopWaiting = clock.after(ms, done);
    const stopPinging = kind === 'ping' ? pingEvery(response, clock) : () => {};
    return () => {
      stopWaiting();
      stopPinging();
    };
  });
}

function pingEvery(response: ServerResponse, clock: Clock): () => void {
  let stop = () => {};
  const ping = () => {
    response.write(PING);
    stop = clock.after(PING_MS, ping);
  };
  ping();
  return () => stop();
}

/** Sends the headers, which node:http holds back until the first write, before a delay. */
function flush(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
}

/** Destroys the socket after the written bytes are sent, so that the client sees the break after those bytes. */
function breakOff(response: ServerResponse, departure: Departure): Promise<void> | undefined {
  const { socket } = response;
  if (!socket) return undefined;
  if (!response.headersSent) {
    socket.destroy();
    return undefined;
  }
  return departure.race((done) => {
    response.write('', () => setImmediate(() => socket.destroy()));
    response.once('close', done);
    return () => response.off('close', done);
  });
}
