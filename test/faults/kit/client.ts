import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { KEY } from '../../support/gateway.ts';

export type Api = 'chat' | 'messages' | 'responses';
const PATHS: Readonly<Record<Api, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
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
export interface Received {
  readonly id: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** The connection broke under the reply. */
  readonly broken: boolean;
  readonly text: string;
  readonly finish: string | undefined;
  readonly model: string | undefined;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly error: { readonly code: string | undefined; readonly message: string } | undefined;
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
  const body = JSON.stringify({
    model: 'any',
    ...(ask.api === 'responses'
      ? { max_output_tokens: 64, input: 'Hallo' }
      : { max_tokens: 64, messages: [{ role: 'user', content: 'Hallo' }] }),
    ...(ask.stream && { stream: true }),
    ...(ask.stream && ask.api === 'chat' && { stream_options: { include_usage: true } }),
    ...ask.body,
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-gateway-api-key': KEY,
    'x-gateway-config': ask.config,
    authorization: 'Bearer ya29.caller',
    ...ask.headers,
  };
  const req = request(`${url}${PATHS[ask.api]}`, { method: 'POST', headers, agent: false });
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
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  const events = isStream ? eventsOf(raw) : [JSON.parse(raw || '{}') as Json];
  return {
    id: String(headers['x-gateway-request-id']),
    status,
    headers,
    raw,
    broken: broken || !res.complete,
    ...READERS[ask.api](events),
    ...endsOf(events, ask.api, isStream),
  };
}

type Json = '[DONE]' | Readonly<Record<string, unknown>>;

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
    // As OpenAI does, the gateway reports a failure by two events, of which the second one is the end.
    const next = events[index + 1];
    if (event['type'] === 'error' && typeof next === 'object' && next['type'] === 'response.failed') return undefined;
    if (event['error'] || event['type'] === 'response.failed') return 'error' as const;
    return api === 'messages' && event['type'] === 'message_stop' ? ('complete' as const) : undefined;
  });
  return { ends: marks.filter((mark) => mark !== undefined), endsLast: marks.at(-1) !== undefined };
}

interface ParsedResponse {
  readonly status?: string;
  readonly model?: string;
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[];
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly error?: { readonly code?: string; readonly message: string } | null;
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number } | null;
}

interface Parsed {
  readonly type?: string;
  readonly response?: ParsedResponse;
  readonly error?: {
    readonly code?: string;
    readonly message: string;
    readonly details?: { readonly error_code?: string };
  };
  readonly model?: string;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
  };
  readonly message?: Parsed;
  readonly content?: readonly { readonly text?: string }[];
  readonly delta?: { readonly text?: string; readonly stop_reason?: string };
  readonly stop_reason?: string | null;
}
type View = Pick<Received, 'text' | 'finish' | 'model' | 'usage' | 'error'>;

/** The last event of a stream has the whole response. */
function readResponse(events: readonly Json[]): View {
  const all = parsedOf(events);
  const last: ParsedResponse = all.findLast(({ response }) => response)?.response ?? all.at(-1) ?? {};
  const deltas = all.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : ''));
  const whole = (last.output ?? []).flatMap(({ content = [] }) => content.map(({ text = '' }) => text));
  const { usage, error, incomplete_details: details, status } = last;
  return {
    text: (last.status === 'completed' ? whole : deltas).join(''),
    finish: details?.reason ?? status,
    model: last.model,
    usage: usage ? { input: usage.input_tokens ?? 0, output: usage.output_tokens ?? 0 } : undefined,
    error: error ? { code: error.code, message: error.message } : undefined,
  };
}

const READERS: Readonly<Record<Api, (events: readonly Json[]) => View>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponse,
};

const parsedOf = (events: readonly Json[]): Parsed[] => events.filter((event) => event !== '[DONE]');

function readChat(events: readonly Json[]): View {
  const all = parsedOf(events);
  const choices = all.flatMap(({ choices: some = [] }) => some);
  const usage = all.findLast((one) => one.usage)?.usage;
  const error = all.find((one) => one.error)?.error;
  return {
    text: choices.map(({ delta, message }) => delta?.content ?? message?.content ?? '').join(''),
    finish: choices.findLast((choice) => choice.finish_reason)?.finish_reason ?? undefined,
    model: all.find(({ model }) => model)?.model,
    usage: usage && { input: usage.prompt_tokens ?? 0, output: usage.completion_tokens ?? 0 },
    error: error && { code: error.code, message: error.message },
  };
}

function readMessages(events: readonly Json[]): View {
  const all = parsedOf(events).map((one) => ({ ...one.message, ...one }));
  const input = all.findLast(({ usage }) => usage?.input_tokens)?.usage?.input_tokens;
  const output = all.findLast(({ usage }) => usage?.output_tokens !== undefined)?.usage?.output_tokens;
  const error = all.find((one) => one.error)?.error;
  return {
    text: all
      .flatMap(({ content = [], delta }) => [delta?.text ?? '', ...content.map(({ text = '' }) => text)])
      .join(''),
    finish:
      all.findLast((one) => one.delta?.stop_reason ?? one.stop_reason)?.delta?.stop_reason ??
      all[0]?.stop_reason ??
      undefined,
    model: all.find(({ model }) => model)?.model,
    usage: output === undefined ? undefined : { input: input ?? 0, output },
    error: error && { code: error.details?.error_code, message: error.message },
  };
}
