import { Server, ServerResponse, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Session, type Profiler } from 'node:inspector';
import type { CountedCalls, Phase } from './calls.ts';

// Loaded into the gateway with `--import`. Counts the calls of each function by V8's precise coverage, apart for two
// phases: a request until its reply has been written, and what follows until the next request. Requests must come one
// after another.

const session = new Session();
session.connect();
// The answer of a session in its own process arrives before `post` returns.
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let counts = new Map<string, number>();
let read: string[] = [];
let passes = 0;

/** Adds the calls since the last time to a phase. */
function take(phase: Phase): void {
  session.post('Profiler.takePreciseCoverage', (_, answer?: Profiler.TakePreciseCoverageReturnType) => {
    for (const { url, functions } of answer?.result ?? [])
      for (const { functionName, ranges } of functions) {
        const [{ count, startOffset }] = ranges as [Profiler.CoverageRange];
        if (count === 0) continue;
        const key = `${phase} ${url} ${startOffset} ${functionName}`;
        counts.set(key, (counts.get(key) ?? 0) + count);
      }
  });
}

/** Counts each read of a header by its name, and each loop over the names, which may read the value of the name that it is at. */
function watched(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  let at: string | symbol | undefined;
  return new Proxy(headers, {
    ownKeys(target) {
      passes += 1;
      // A loop ends before anything that waits for it.
      queueMicrotask(() => (at = undefined));
      return Reflect.ownKeys(target);
    },
    // `for … in` asks for each name before it goes on to it.
    getOwnPropertyDescriptor(target, name) {
      at = name;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get(target, name) {
      if (typeof name === 'string' && name !== at) read.push(name);
      at = undefined;
      return Reflect.get(target, name);
    },
  });
}

const { emit: emitOfServer } = Server.prototype;
Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
  if (event === 'request') {
    take('record');
    const [req] = args as [IncomingMessage];
    req.headers = watched(req.headers);
  }
  return Reflect.apply(emitOfServer, this, [event, ...args]);
};
const { emit: emitOfResponse } = ServerResponse.prototype;
ServerResponse.prototype.emit = function (this: ServerResponse, event: string, ...args: unknown[]) {
  if (event === 'finish') take('request');
  return Reflect.apply(emitOfResponse, this, [event, ...args]);
};

/** Longer than a record waits for others to be written with it. */
const SETTLED_MS = 10;

process.on('message', (request) => {
  setTimeout(() => {
    take('record');
    process.send?.({ counts: [...counts], read, passes } satisfies CountedCalls);
    if (request === 'begin') counts = new Map();
    if (request === 'begin') read = [];
    if (request === 'begin') passes = 0;
  }, SETTLED_MS);
});
process.channel?.unref();
