import type { ServerResponse } from 'node:http';
import { json, startUpstream, type ScriptedUpstream, type SeenRequest } from '../../support/upstream.ts';
import { anthropic } from './anthropic.ts';
import { answerTo, failureOf, Refusal, type Answer, type Ask, type Failure } from './ask.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { responses } from './responses.ts';
import { taskOf } from './tasks.ts';
import type { Wire } from './wire.ts';

/** The credential that the gateway must send; the upstream refuses requests without it. */
export const KEYS = { openai: 'sk-upstream', anthropic: 'sk-ant-upstream', google: 'ya29.upstream' } as const;

const ROUTES: readonly (readonly [RegExp, Wire])[] = [
  [/\/models\/[^:]+:(?:streamGenerateContent\?alt=sse|generateContent)$/, gemini],
  [/\/publishers\/anthropic\/models\/[^:]+:(?:streamRawPredict|rawPredict)$/, anthropic],
  [/^\/v1\/messages(?:\?|$)/, anthropic],
  [/\/chat\/completions$/, openai],
  [/\/responses$/, responses],
];

/** What the upstream does with a request that its wire allows. */
export interface Play {
  /** `body`: the text of the request. */
  readonly answer: (ask: Ask, body: string) => Answer | Failure;
  /** Told of each request that breaks a rule of its wire. */
  readonly refused?: (message: string) => void;
  /** Seconds that a 429 asks the client to wait. */
  readonly retryAfter?: number;
}

const BY_QUESTION: Play = { answer: (ask) => failureOf(ask.question) ?? answerTo(ask) };

/** Every upstream of the matrix on one port: which one a request is for is in its path. */
export const startStrictUpstream = (play: () => Play = () => BY_QUESTION): Promise<ScriptedUpstream> =>
  startUpstream((request, res) => serve(request, res, play()));

async function serve(request: SeenRequest, res: ServerResponse, play: Play): Promise<void> {
  if (request.url === '/token') return json(res, { access_token: KEYS.google, expires_in: 3599, token_type: 'Bearer' });
  const task = taskOf(request.url);
  const wire = ROUTES.find(([pattern]) => pattern.test(request.url))?.[1] ?? openai;
  try {
    if (!hasCredential(request)) return fail(res, wire, 401, 'Invalid credentials.');
    if (task) return json(res, task(request));
    if (!ROUTES.some(([pattern]) => pattern.test(request.url))) return fail(res, wire, 404, `No route ${request.url}.`);
    const ask = wire.read(request);
    const said = play.answer(ask, request.text);
    if (typeof said === 'object') return await answer(request, res, wire, ask.stream, said);
    await misbehave(request, res, wire, said, play.retryAfter);
  } catch (error) {
    play.refused?.(String(error));
    // A fault of this file has to show as one, not as a request that hangs.
    if (!(error instanceof Refusal)) return fail(res, wire, 500, `The scripted upstream broke: ${String(error)}`);
    fail(res, wire, 400, error.message);
  }
}

function hasCredential({ url, headers }: SeenRequest): boolean {
  if (url.includes('/projects/')) return headers.authorization === `Bearer ${KEYS.google}`;
  if (url.startsWith('/v1/messages')) return headers['x-api-key'] === KEYS.anthropic;
  return headers.authorization === `Bearer ${KEYS.openai}`;
}

function fail(res: ServerResponse, wire: Wire, status: number, message: string, retryAfter?: number): void {
  const error = wire.error(status, message, retryAfter);
  json(res, error.body, error.status, error.headers);
}

async function answer(
  request: SeenRequest,
  res: ServerResponse,
  wire: Wire,
  stream: boolean,
  said: Answer,
): Promise<void> {
  if (!stream) return json(res, wire.reply(said, request));
  await send(res, wire.stream(said, request));
  res.end();
}

const BEGUN = { thought: undefined, text: 'So far', calls: [] };

async function misbehave(
  request: SeenRequest,
  res: ServerResponse,
  wire: Wire,
  failure: Failure,
  retryAfter?: number,
): Promise<void> {
  if (typeof failure === 'number') return fail(res, wire, failure, `The model says ${failure}.`, retryAfter);
  if (failure === 'silence') return;
  const frames = wire.stream(BEGUN, request);
  const begun = frames.slice(0, frames.findIndex((frame) => frame.includes('So ')) + 1);
  await send(res, begun);
  if (failure === 'hang') return;
  if (failure === 'cut') return cut(res);
  await send(res, [wire.streamError]);
  res.end();
}

/** The connection breaks when the client has read what came before. */
async function cut(res: ServerResponse): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  res.destroy();
}

/** One frame per packet, as models write them. */
async function send(res: ServerResponse, frames: readonly string[]): Promise<void> {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) {
    if (res.destroyed) return;
    res.write(frame);
    await new Promise(setImmediate);
  }
}
