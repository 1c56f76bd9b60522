import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** The client went away before the reply had ended. */
  aborted: boolean;
}

export type Script = (request: SeenRequest, res: ServerResponse, index: number) => void | Promise<void>;

export interface ScriptedUpstream {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Sockets that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** An upstream on loopback that does what the script says with each request. */
export async function startUpstream(script: Script): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => void answer(req, res));
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of req) pieces.push(piece as Buffer);
    } catch {
      // The client went away before the end of its body: no client reads a reply.
      return;
    }
    const text = Buffer.concat(pieces).toString();
    const request: SeenRequest = {
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.headers,
      text,
      json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
      aborted: false,
    };
    res.on('close', () => {
      if (!res.writableFinished) request.aborted = true;
    });
    seen.push(request);
    await script(request, res, seen.length - 1);
  }
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(res: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** Writes events one by one; `null` in the list destroys the connection there, a string goes out as it is. */
export async function sse(res: ServerResponse, events: readonly (object | string | null)[], end = true): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    if (event === null) return void res.destroy();
    if (res.destroyed) return;
    const name = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : '';
    const drained = res.write(typeof event === 'string' ? event : `${name}data: ${JSON.stringify(event)}\n\n`);
    if (!drained) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve));
    await new Promise(setImmediate);
  }
  if (end) res.end();
}

export const openaiReply = (content: string, more: object = {}) => ({
  id: 'chatcmpl-up',
  object: 'chat.completion',
  created: 1_795_132_800,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  ...more,
});

export const openaiChunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-up',
  object: 'chat.completion.chunk',
  created: 1_795_132_800,
  model: 'upstream-model',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const anthropicReply = (text: string) => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'claude-3-5-haiku-20241022',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
});

/** A whole Anthropic stream of these texts; cut it by slicing. */
export const anthropicEvents = (...texts: readonly string[]): object[] => [
  { type: 'message_start', message: { ...anthropicReply(''), content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];

export const geminiReply = (text: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'resp',
});

/** Catalog entries for one upstream: the same URL as an OpenAI-compatible, an Anthropic and a Vertex host. */
export const entriesFor = (url: string, more: object = {}) => [
  { slug: 'openai', provider: 'simulator', base_url: url, allow_insecure: true, ...more },
  {
    slug: 'claude',
    provider: 'anthropic',
    api_key: '${env:NONE:-upstream-secret-key}',
    base_url: url,
    allow_insecure: true,
    ...more,
  },
  {
    slug: 'gemini',
    provider: 'vertex-ai',
    project_id: 'test-project',
    region: 'us-central1',
    base_url: url,
    allow_insecure: true,
    ...more,
  },
];
