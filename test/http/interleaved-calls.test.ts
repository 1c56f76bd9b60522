import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { openaiChunk, sse, type Script } from '../support/upstream.ts';
import { codes } from './overload.testkit.ts';
import { connect } from './websockets/kit.testkit.ts';

/** Streams of the chat API whose calls and texts do not come one after the other, for clients of APIs that demand it. */

const MODEL = '@openai/m';
const parameters = { type: 'object', properties: { c: { type: 'string' } } };

interface Door {
  readonly path: string;
  readonly body: object;
  /** Matches the end that tells a client of a failure, and the one of a whole reply. */
  readonly failed: RegExp;
  readonly whole: RegExp;
}

const DOORS: Readonly<Record<string, Door>> = {
  Messages: {
    path: '/v1/messages',
    body: {
      model: MODEL,
      max_tokens: 2000,
      messages: [{ role: 'user', content: 'q' }],
      tools: [{ name: 'get', input_schema: parameters }],
    },
    failed: /^event: error$/m,
    whole: /message_stop/,
  },
  Responses: {
    path: '/v1/responses',
    body: { model: MODEL, input: 'q', tools: [{ type: 'function', name: 'get', parameters, strict: false }] },
    failed: /"type":"response.failed"/,
    whole: /"type":"response.completed"/,
  },
  Gemini: {
    path: `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
    body: {
      contents: [{ role: 'user', parts: [{ text: 'q' }] }],
      tools: [{ functionDeclarations: [{ name: 'get', parametersJsonSchema: parameters }] }],
    },
    failed: /"error":\{"code":502/,
    whole: /"finishReason"/,
  },
};

const post = (gateway: TestGateway, { path, body }: Door, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ ...body, ...(!path.includes('?') && { stream: true }) }),
    signal,
  });

const open = (index: number) =>
  openaiChunk({
    tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: 'get', arguments: '' } }],
  });
const item = (index: number, text: string) => openaiChunk({ tool_calls: [{ index, function: { arguments: text } }] });
const words = (content: string) => openaiChunk({ content });
const LAST = [openaiChunk({}, 'tool_calls'), 'data: [DONE]\n\n'];

const start = (script: Script, limits = {}): Promise<Pair> =>
  startPair(script, {
    server: { listen: { host: '127.0.0.1', port: 0 }, status: { host: '127.0.0.1', port: 0 }, limits },
  });

/** An upstream that sends the first events, and the others once the test lets it. */
function inTwoParts(first: readonly object[], others: readonly (object | string)[]) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const script: Script = async (_, res) => {
    await sse(res, first, false);
    await promise;
    for (const event of others) res.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
    res.end();
  };
  return { script, goOn };
}

const joined = (text: string): string => text.replaceAll('\\"', '"');

describe.each(Object.entries(DOORS))('a client of %s', (_, door) => {
  it('gets the arguments of parallel calls whose fragments come in turn, and the text between them', async () => {
    const events = [
      open(0),
      open(1),
      item(0, '{"c":'),
      words('Be'),
      item(1, '{"c":"Y"}'),
      words('tween'),
      item(0, '"X"}'),
    ];
    const { gateway } = await start((_request, res) => sse(res, [...events, ...LAST]));
    const reply = await post(gateway, door);
    const text = joined(await reply.text());
    expect(text).toMatch(door.whole);
    expect(text).toMatch(/"c":.*"X".*"c":\s*"Y".*Be.*tween/s);
  });

  it('has a failure as the end of a reply in which more than `limits.hold_bytes` wait behind a call', async () => {
    const events = [open(0), item(0, '{"c":'), ...Array.from({ length: 60 }, () => words('x'.repeat(1000))), ...LAST];
    const { gateway } = await start((_request, res) => sse(res, events), { hold_bytes: '32KiB' });
    const text = await (await post(gateway, door)).text();
    expect(text).toMatch(door.failed);
    expect(text).not.toMatch(door.whole);
    expect(text).toContain('limits.hold_bytes');
    expect(text).not.toContain('xxxx');
    await until(() => codes(gateway).length === 1, 'it has ended');
    expect(codes(gateway)).toEqual(['reply_too_large']);
  });

  it('that leaves while texts wait ends the work of the upstream', async () => {
    const { script } = inTwoParts([words('Hm.'), open(0), item(0, '{"c":'), words('waits')], []);
    const { gateway, upstream } = await start(script);
    const leave = new AbortController();
    const reply = await post(gateway, door, leave.signal);
    await reply.body!.getReader().read();
    leave.abort();
    await until(() => upstream.seen[0]!.aborted, 'the upstream request is aborted');
    await until(() => codes(gateway).length === 1, 'it has ended');
  });

  it('that reads late gets all that waited', async () => {
    const piece = 'x'.repeat(9000);
    const late = Array.from({ length: 90 }, () => words(piece));
    const { gateway } = await start((_request, res) =>
      sse(res, [open(0), item(0, '{"c":'), ...late, item(0, '1}'), ...LAST]),
    );
    const reply = await post(gateway, door);
    // A turn of the event loop for each read: the gateway has more to write than the sockets take at once.
    let text = '';
    for await (const read of reply.body!) {
      text += Buffer.from(read).toString('latin1');
      await new Promise(setImmediate);
    }
    expect(text.match(/x{9000}/g)?.length).toBeGreaterThanOrEqual(90);
    expect(text).toMatch(door.whole);
  });
});

describe.each(['Messages', 'Responses'] as const)('a client of %s', (name) => {
  it('gets fragments of the first call before its call has ended', async () => {
    const { script, goOn } = inTwoParts(
      [open(0), open(1), item(0, '{"c":')],
      [item(1, '{}'), item(0, '"X"}'), ...LAST],
    );
    const { gateway } = await start(script);
    const reply = await post(gateway, DOORS[name]!);
    let text = '';
    for await (const read of reply.body!) {
      text += Buffer.from(read).toString();
      if (joined(text).includes('{"c":')) goOn();
    }
    expect(text).toMatch(DOORS[name]!.whole);
    expect(joined(text)).toContain('"X"}');
  });
});

describe('a turn of a WebSocket', () => {
  it('has the arguments of parallel calls whose fragments come in turn', async () => {
    const events = [open(0), open(1), item(0, '{"c":"X"}'), item(1, '{"c":"Y"}'), ...LAST];
    const { gateway } = await start((_, res) => sse(res, events));
    const client = await connect(gateway);
    const last = (await client.turn(DOORS.Responses!.body)).at(-1);
    const output = [{ arguments: '{"c":"X"}' }, { arguments: '{"c":"Y"}' }];
    expect(last).toMatchObject({ type: 'response.completed', response: { output } });
  });

  it('fails when more than `limits.hold_bytes` wait behind a call', async () => {
    const events = [open(0), item(0, '{"c":'), ...Array.from({ length: 60 }, () => words('x'.repeat(1000))), ...LAST];
    const { gateway } = await start((_, res) => sse(res, events), { hold_bytes: '32KiB' });
    const client = await connect(gateway);
    const frames = await client.turn(DOORS.Responses!.body);
    expect(JSON.stringify(frames.at(-1))).toContain('limits.hold_bytes');
    expect(frames.map(({ type }) => type)).not.toContain('response.completed');
    await until(() => codes(gateway).includes('reply_too_large'), 'its record has the failure');
  });
});
