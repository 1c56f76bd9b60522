import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { ScriptStep } from './script.ts';

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
