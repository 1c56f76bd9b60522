import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { KEY } from '../../support/gateway.ts';
import { hasGeminiEnd, readGemini } from './gemini-reader.ts';
import { readChat, readMessages, readResponse, type Json, type View } from './readers.ts';

/** `gemini_array` is Gemini's API without `alt=sse`: its streams are one JSON array. */
export type Api = 'chat' | 'messages' | 'responses' | 'gemini' | 'gemini_array';

const GEMINI = '/v1beta/models/any';
const PATHS: Readonly<Record<Api, (stream: boolean) => string>> = {
  chat: () => '/v1/chat/completions',
  messages: () => '/v1/messages',
  responses: () => '/v1/responses',
  gemini: (stream) => (stream ? `${GEMINI}:streamGenerateContent?alt=sse` : `${GEMINI}:generateContent`),
  gemini_array: () => `${GEMINI}:streamGenerateContent`,
};

const messages = [{ role: 'user', content: 'Hallo' }];
const ofGemini = () => ({
  contents: [{ role: 'user', parts: [{ text: 'Hallo' }] }],
  generationConfig: { maxOutputTokens: 64 },
});
const BODIES: Readonly<Record<Api, (stream: boolean) => object>> = {
  chat: (stream) => ({
    model: 'any',
    max_tokens: 64,
    messages,
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  messages: (stream) => ({ model: 'any', max_tokens: 64, messages, ...(stream && { stream }) }),
  responses: (stream) => ({ model: 'any', max_output_tokens: 64, input: 'Hallo', ...(stream && { stream }) }),
  gemini: ofGemini,
  gemini_array: ofGemini,
};

export interface Ask {
  readonly api: Api;
  readonly stream: boolean;
  readonly config: string;
  /** The config holds the reply back until it is whole. */
  readonly held?: boolean;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the client got, read as its SDK would read it. */
export interface Received extends View {
  readonly id: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** The connection broke under the reply. */
  readonly broken: boolean;
  /** The reply is a stream, in events or as an array. */
  readonly isStream: boolean;
  /** Ends of a stream: its mark, or an error event. One is right. */
  readonly ends: readonly ('complete' | 'error')[];
  /** Nothing came after the end. */
  readonly endsLast: boolean;
}

export interface OpenCall {
  /** When the first bytes of a body are here. */
  readonly firstBytes: Promise<void>;
  readonly done: Promise<Received>;
  readonly response: Promise<IncomingMessage>;
  leave(): void;
}

/** Sends over a connection of its own, with nothing between the test and the bytes. */
export function call(url: string, ask: Ask): OpenCall {
  const body = JSON.stringify({ ...BODIES[ask.api](ask.stream), ...ask.body });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-gateway-api-key': KEY,
    'x-gateway-config': ask.config,
    authorization: 'Bearer ya29.caller',
    ...ask.headers,
  };
  const req = request(`${url}${PATHS[ask.api](ask.stream)}`, { method: 'POST', headers, agent: false });
  const response = new Promise<IncomingMessage>((resolve, reject) => req.on('response', resolve).on('error', reject));
  const firstBytes = response.then((res) => new Promise<void>((resolve) => res.once('data', () => resolve())));
  const done = response.then((res) => read(res, ask));
  // Whoever looks at one of them need not look at the others.
  for (const promise of [firstBytes, done]) promise.catch(() => {});
  req.end(body);
  return { response, firstBytes, done, leave: () => void req.destroy() };
}

async function read(res: IncomingMessage, ask: Ask): Promise<Received> {
  const pieces: Buffer[] = [];
  let broken = false;
  res.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise<void>((resolve) => {
    res.on('end', resolve).on('close', resolve);
    res.on('error', () => (broken = true));
  });
  const raw = Buffer.concat(pieces).toString();
  const { headers, statusCode: status = 0 } = res;
  const isSse = String(headers['content-type']).startsWith('text/event-stream');
  const events = isSse ? eventsOf(raw) : [JSON.parse(raw || '{}') as Json | Json[]].flat();
  const isStream = isSse || (ask.api === 'gemini_array' && status === 200);
  return {
    id: String(headers['x-gateway-request-id']),
    status,
    headers,
    raw,
    broken: broken || !res.complete,
    isStream,
    ...READERS[ask.api](events),
    ...endsOf(events, ask.api, isStream),
  };
}

/** Throws where an event is not whole: a client's parser would, too. */
function eventsOf(raw: string): Json[] {
  const blocks = raw.split(/\r?\n\r?\n/);
  if (blocks.pop() !== '') throw new Error(`the stream ends inside an event: ${raw.slice(-200)}`);
  return blocks.flatMap((block) => {
    const lines = block.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    const payload = lines.map((line) => line.slice(5).trimStart()).join('\n');
    if (payload === '') return [];
    return payload === '[DONE]' ? [payload] : [JSON.parse(payload) as Json];
  });
}

function endsOf(events: readonly Json[], api: Api, isStream: boolean): Pick<Received, 'ends' | 'endsLast'> {
  if (!isStream) return { ends: [], endsLast: true };
  const marks = events.map((event, index) => {
    if (event === '[DONE]') return 'complete' as const;
    const next = events[index + 1];
    // As OpenAI does, the gateway reports a failure by two events, of which the second one is the end.
    if (event['type'] === 'error' && typeof next === 'object' && next['type'] === 'response.failed') return undefined;
    if (event['error'] || event['type'] === 'response.failed') return 'error' as const;
    // The mark of Open Responses follows the last event; OpenAI sends none.
    return isEnd(event, api) && next !== '[DONE]' ? ('complete' as const) : undefined;
  });
  return { ends: marks.filter((mark) => mark !== undefined), endsLast: marks.at(-1) !== undefined };
}

/** Chat completions end with `[DONE]` alone. */
function isEnd(event: Exclude<Json, '[DONE]'>, api: Api): boolean {
  if (api === 'messages') return event['type'] === 'message_stop';
  if (api === 'responses') return event['type'] === 'response.completed' || event['type'] === 'response.incomplete';
  return api.startsWith('gemini') && hasGeminiEnd(event);
}

const READERS: Readonly<Record<Api, (events: readonly Json[]) => View>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponse,
  gemini: readGemini,
  gemini_array: readGemini,
};
