import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/**
 * The upstream of the soak: prebuilt replies in the three formats, a 1 KB chat or a stream of 200 events in writes of
 * their own, as cheap as node:http can be. Prints its port. Its argument is the milliseconds after which it answers, default 0.
 */
const DELAY_MS = Number(process.argv[2] ?? 0);

const WORDS = 'The quick brown fox jumps over the lazy dog while the gateway counts its microseconds. ';
const TEXT = WORDS.repeat(10);
const EVENTS = 200;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (event: { type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const tokens = Array.from({ length: EVENTS - 4 }, (_, index) => `word${index} `);

const openaiUsage = { prompt_tokens: 20, completion_tokens: 200, total_tokens: 220 };
const chunk = (delta: object, finish: string | null = null) =>
  data({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1795132800,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: finish }],
    usage: null,
  });

const REPLIES = {
  openai: {
    plain: json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1795132800,
      model: 'bench',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: null,
          message: { role: 'assistant', content: TEXT, refusal: null },
        },
      ],
      usage: openaiUsage,
    }),
    stream: [
      chunk({ role: 'assistant', content: '' }),
      ...tokens.map((text) => chunk({ content: text })),
      chunk({}, 'stop'),
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1795132800,
        model: 'bench',
        choices: [],
        usage: openaiUsage,
      }),
      'data: [DONE]\n\n',
    ],
  },
  anthropic: {
    plain: json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-3-5-haiku-20241022',
      content: [{ type: 'text', text: TEXT }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 200 },
    }),
    stream: [
      named({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-3-5-haiku-20241022',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 20, output_tokens: 1 },
        },
      } as { type: string }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
      ...tokens.map((text) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as { type: string }),
      ),
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 200 } } as {
        type: string;
      }),
      named({ type: 'message_stop' }),
    ],
  },
  gemini: {
    plain: json({
      candidates: [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 200, totalTokenCount: 220 },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'r',
    }),
    stream: tokens.map((text, index) =>
      data({
        candidates: [
          {
            content: { role: 'model', parts: [{ text }] },
            ...(index === tokens.length - 1 && { finishReason: 'STOP' }),
          },
        ],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: index + 1, totalTokenCount: 21 + index },
        modelVersion: 'gemini-2.5-flash',
        responseId: 'r',
      }),
    ),
  },
} as const;

const STREAMS = new Map(
  Object.entries(REPLIES).map(([name, { stream }]) => [name, stream.map((event) => Buffer.from(event))]),
);

function familyOf(url: string): keyof typeof REPLIES {
  if (url.includes('/messages')) return 'anthropic';
  return url.includes('enerateContent') ? 'gemini' : 'openai';
}

function answer(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
  const url = req.url ?? '';
  const family = familyOf(url);
  if (!url.includes('stream') && !body.includes('"stream":true')) {
    const { plain } = REPLIES[family];
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': plain.length }).end(plain);
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = STREAMS.get(family)!;
  let next = 0;
  const step = (): void => {
    if (res.destroyed) return;
    if (next === events.length) return void res.end();
    res.write(events[next++]);
    setImmediate(step);
  };
  step();
}

const server = createServer((req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (piece: Buffer) => pieces.push(piece));
  req.on('end', () => {
    const reply = (): void => answer(req, res, Buffer.concat(pieces));
    if (DELAY_MS === 0) reply();
    else setTimeout(reply, DELAY_MS);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as { port: number }).port })));
