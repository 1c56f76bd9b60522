import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replacing } from './replacing.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import type { GenerationEvent } from '../events.ts';
import { writeEnvelope, writeSummary } from '../envelope.ts';
import { formats } from '../index.ts';
import { parseReplyText } from '../json/rounding.ts';
import type { TextKind, TextTransform } from './channels.ts';
import { ReplyTexts, type TextForm } from './reply-texts.ts';

const NAMES = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
type Name = (typeof NAMES)[number];

const RULE = /[ab]{1,3}@[ab]{1,3}/g;
const LONGEST = 7;
const MASK = '<m>';
const masked = (text: string): string => text.replaceAll(RULE, MASK);
const transforms: Readonly<Record<string, () => TextTransform>> = {
  'with a class': () => replacing(RULE, MASK, { longest: LONGEST, of: /[ab@]/ }),
  'without a class': () => replacing(RULE, MASK, { longest: LONGEST }),
};

/** Texts with many matches, with characters that JSON escapes and others of several bytes. */
const text = fc
  .array(fc.constantFrom('a', 'b', '@', 'a@b', 'bb@a', ' ', '"', '\\', '\n', 'é', '🙂', 'x', '\u2028'), {
    maxLength: 24,
  })
  .map((pieces) => pieces.join(''));
const lengths = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 });

function cut(whole: string, sizes: readonly number[]): string[] {
  const characters = [...whole];
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < characters.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    pieces.push(characters.slice(at, at + size).join(''));
    at += size;
  }
  return pieces;
}

/** One answer with thinking, text and a call, whose texts come in pieces. */
function eventsOf({
  thinking,
  words,
  call,
}: {
  thinking: string[];
  words: string[];
  call: string[];
}): GenerationEvent[] {
  return [
    { type: 'start', id: 'reply-1', model: 'model-ran' },
    ...thinking.map((piece) => ({ type: 'thinking', choice: 0, block: 0, text: piece }) as const),
    ...words.map((piece) => ({ type: 'text', choice: 0, block: 1, text: piece }) as const),
    ...(call.length > 0 ? [{ type: 'tool_call', choice: 0, block: 2, call: 0, id: 'call_1', name: 'f' } as const] : []),
    ...call.map((piece) => ({ type: 'tool_arguments', choice: 0, call: 0, text: piece }) as const),
    { type: 'usage', usage: { input: 1, output: 1, total: 2 } },
    { type: 'finish', choice: 0, reason: call.length > 0 ? 'tool_calls' : 'stop' },
    { type: 'end' },
  ];
}

const client = clientContext({ strict: false, hideThoughts: false });
const streamOf = (name: Name, events: GenerationEvent[], eol = '\n'): Buffer => {
  const bytes = formats[name].encodeStream(client);
  const whole = events.map((event) => bytes.push([event])).join('');
  return Buffer.from(eol === '\n' ? whole : whole.replaceAll('\r\n', '\n').replaceAll('\n', eol));
};

/** All events of a stream, one by one. */
function eachEvent(stream: Buffer, form: TextForm): Buffer[] {
  if (form === 'json') return [stream];
  const ends = form === 'sse' ? /\r\n\r\n|\n\n|\r\r/g : /\}(?=,\r\n\{|\]$)/g;
  const view = stream.toString('latin1');
  const cuts = [...view.matchAll(ends)].map(({ index, 0: found }) => index + found.length);
  return [...cuts, view.length]
    .map((to, at) => stream.subarray(at === 0 ? 0 : cuts[at - 1], to))
    .filter((piece) => piece.length > 0);
}

interface Read {
  readonly kinds?: readonly TextKind[];
  readonly transform?: () => TextTransform;
  readonly form?: TextForm;
  /** The number of events that are read together. */
  readonly together?: number;
}

function run(name: Name, stream: Buffer, of: Read = {}): Buffer[] {
  const { kinds = ['text', 'thinking', 'tool_arguments'], transform = transforms['with a class']!, form = 'sse' } = of;
  const open = ({ kind }: { kind: TextKind }) => (kinds.includes(kind) ? transform() : undefined);
  const texts = new ReplyTexts({ layout: formats[name].texts!.reply, form, open, signed: false });
  const events = eachEvent(stream, form);
  const { together = 1 } = of;
  const out: Buffer[] = [];
  for (let at = 0; at < events.length; at += together)
    out.push(texts.push(Buffer.concat(events.slice(at, at + together))) ?? Buffer.alloc(0));
  return [...out, texts.end() ?? Buffer.alloc(0)];
}

/** The texts that a client reads, by kind. */
function seen(name: Name, stream: Buffer): Record<'text' | 'thinking' | 'tool_arguments', string> {
  const decoder = formats[name].decodeStream(replyContext());
  const all = { text: '', thinking: '', tool_arguments: '' };
  for (const event of [...decoder.push(stream), ...decoder.end()])
    if (event.type === 'text' || event.type === 'thinking' || event.type === 'tool_arguments')
      all[event.type] += event.text;
  return all;
}

describe.each(NAMES)('the texts of a stream of %s', (name) => {
  it.each(Object.entries(transforms))('are those of the plain text, changed, for every split (%s)', (_, transform) => {
    fc.assert(
      fc.property(
        text,
        text,
        lengths,
        fc.constantFrom('\n', '\r\n'),
        fc.nat({ max: 3 }),
        (thinking, words, sizes, eol, more) => {
          const call = name === 'gemini' ? [] : cut(JSON.stringify({ q: words }), sizes);
          const stream = streamOf(
            name,
            eventsOf({ thinking: cut(thinking, sizes), words: cut(words, sizes), call }),
            eol,
          );
          const before = seen(name, stream);
          const after = seen(name, Buffer.concat(run(name, stream, { transform, together: 1 + more })));
          expect(after).toEqual({
            text: masked(before.text),
            thinking: masked(before.thinking),
            tool_arguments: masked(before.tool_arguments),
          });
        },
      ),
    );
  });

  it('leave only as far as they are decided', () => {
    fc.assert(
      fc.property(text, lengths, (words, sizes) => {
        const out = run(name, streamOf(name, eventsOf({ thinking: [], words: cut(words, sizes), call: [] })));
        let soFar = '';
        const decoder = formats[name].decodeStream(replyContext());
        for (const bytes of out) {
          for (const event of decoder.push(bytes)) if (event.type === 'text') soFar += event.text;
          expect(masked(words).startsWith(soFar)).toBe(true);
        }
      }),
    );
  });

  it('are the same bytes where nothing matches, in each event', () => {
    fc.assert(
      fc.property(text, lengths, fc.constantFrom('\n', '\r\n'), (words, sizes, eol) => {
        const quiet = words.replaceAll('@', '#');
        const events = eventsOf({ thinking: cut(quiet, sizes), words: cut(quiet, sizes), call: cut('{"q":1}', sizes) });
        const stream = streamOf(
          name,
          name === 'gemini' ? eventsOf({ thinking: [], words: cut(quiet, sizes), call: [] }) : events,
          eol,
        );
        expect(Buffer.concat(run(name, stream)).toString()).toBe(stream.toString());
      }),
    );
  });

  it('say the same as the plain reply', () => {
    fc.assert(
      fc.property(text, (words) => {
        const events = eventsOf({ thinking: [], words: [words], call: ['{"q":"a@b"}'] });
        const body = formats[name].encodeReply(events, client);
        const [changed] = run(name, body, { form: 'json' }).filter((piece) => piece.length > 0);
        const decoded = formats[name].decodeReply(parseReplyText(changed!.toString()), replyContext());
        const all = { text: '', tool_arguments: '' };
        for (const event of decoded)
          if (event.type === 'text' || event.type === 'tool_arguments') all[event.type] += event.text;
        expect(all).toEqual({ text: masked(words), tool_arguments: '{"q":"<m>"}' });
      }),
    );
  });
});

describe('a text that a stream of openai-responses repeats', () => {
  it('is the changed one in every event', () => {
    fc.assert(
      fc.property(text, lengths, (words, sizes) => {
        const events = eventsOf({
          thinking: cut(words, sizes),
          words: cut(words, sizes),
          call: cut(JSON.stringify({ q: words }), sizes),
        });
        const out = Buffer.concat(run('openai-responses', streamOf('openai-responses', events))).toString();
        const data = out.split('\n').filter((line) => line.startsWith('data: {'));
        const repeated = data
          .map((line) => JSON.parse(line.slice('data: '.length)) as object)
          .filter((event) => !('delta' in event));
        expect(JSON.stringify(repeated)).not.toMatch(/[ab]@[ab]/);
        expect(JSON.stringify(repeated.at(-1))).toContain(JSON.stringify(masked(words)).slice(1, -1));
      }),
    );
  });
});

describe.each(['openai-chat', 'gemini'] as const)('a text of %s that another one interrupts', (name) => {
  const interrupted = (before: string, after: string): Buffer =>
    streamOf(name, [
      { type: 'start', id: 'reply-1', model: 'model-ran' },
      { type: 'text', choice: 0, block: 0, text: before },
      { type: 'thinking', choice: 0, block: 1, text: 'hm' },
      { type: 'text', choice: 0, block: 2, text: after },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ]);

  it.each([
    ['x a', 'x y', 'x ax y'],
    ['x a@b y', 'a@a', 'x <m> y<m>'],
    ['x a', 'b y a@b', 'x ab y <m>'],
  ])('goes on where no match spans the interruption (%s, %s)', (before, after, expected) => {
    expect(seen(name, Buffer.concat(run(name, interrupted(before, after)))).text).toBe(expected);
  });

  it('ends the reply where one does', () => {
    const events = eachEvent(interrupted('x a', '@b'), 'sse');
    const texts = new ReplyTexts({
      layout: formats[name].texts!.reply,
      form: 'sse',
      open: transforms['with a class']!,
      signed: false,
    });
    expect(() => [...events.map((event) => texts.push(event)), texts.end()]).toThrow('spans an interruption');
  });
});

describe('the other fields of an event', () => {
  const read = (name: Name, events: readonly object[]): string => {
    const stream = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    return Buffer.concat(run(name, stream)).toString();
  };

  it('stay as they came, unknown ones too', () => {
    const chunk = { x_trace: 1.0, choices: [{ index: 0, delta: { content: 'a@b', x_new: [1, { y: 'a@b' }] } }] };
    expect(read('openai-chat', [chunk])).toBe(`data: ${JSON.stringify(chunk).replace('a@b', MASK)}\n\n`);
  });

  it('go with the text that they describe: log probabilities and citations', () => {
    const logprobs = { content: [{ token: 'a@b', logprob: -1 }] };
    const chunk = { choices: [{ index: 0, logprobs, delta: { content: 'a@b ' } }] };
    expect(read('openai-chat', [chunk])).toBe(
      'data: {"choices":[{"index":0,"logprobs":null,"delta":{"content":"<m> "}}]}\n\n',
    );
    const audio = { id: 'a', data: 'UklGRg==', transcript: 'a@b ' };
    expect(read('openai-chat', [{ choices: [{ message: { audio } }] }])).not.toContain('UklGRg');
    const sound = [{ transcript: 'a@b ' }, { data: 'UklGRg==' }].map((one) => ({
      choices: [{ delta: { audio: one } }],
    }));
    expect(read('openai-chat', sound)).not.toContain('UklGRg');
    expect(read('openai-chat', sound.slice(1))).toContain('UklGRg');
    const block = { type: 'content_block_delta', index: 0 };
    const cited = [
      { ...block, delta: { type: 'text_delta', text: 'a@b ' } },
      { ...block, delta: { type: 'citations_delta', citation: { cited_text: 'a@b' } } },
    ];
    expect(read('anthropic-messages', cited)).not.toContain('citations_delta');
  });

  it('may be named with escapes, or twice, and have data in several lines', () => {
    const odd = String.raw`data: {"choices":[{"index":0,"d\u0065lta":{"content":"a@b ","content":"b@a "}}]}` + '\n\n';
    expect(Buffer.concat(run('openai-chat', Buffer.from(odd))).toString()).not.toMatch(/[ab]@[ab]/);
    const lines = 'data: {"choices":[\r\ndata: {"index":0,"delta":{"content":"a@b "}}]}\r\n\r\n';
    expect(Buffer.concat(run('openai-chat', Buffer.from(lines))).toString()).toBe(
      'data: {"choices":[ {"index":0,"delta":{"content":"<m> "}}]}\n\n',
    );
  });

  it.each([
    'data: {"choices":[{"delta":{"content":"a\n\n',
    'data: nothing\n\n',
    String.raw`data: {"choices":[{"delta":{"content":"\q"}}]}` + '\n\n',
  ])('are a fault of the upstream where they cannot be read: %j', (event) =>
    expect(() => run('openai-chat', Buffer.from(event))).toThrow(/JSON/),
  );
});

describe('results of tools that the vendor runs', () => {
  const block = (content: object) => ({ type: 'content_block_start', index: 1, content_block: content });
  const item = (fields: object) => ({ type: 'response.output_item.done', output_index: 1, item: fields });
  const source = { type: 'text', media_type: 'text/plain', data: 'a@b' };
  const grounding = (groundingMetadata: object) => ({ candidates: [{ groundingMetadata }] });
  it.each<[Name, object]>([
    ['anthropic-messages', block({ type: 'mcp_tool_result', content: [{ type: 'text', text: 'a@b' }] })],
    ['anthropic-messages', block({ type: 'mcp_tool_result', content: 'a@b' })],
    ['anthropic-messages', block({ type: 'bash_code_execution_tool_result', content: { stdout: 'a@b', stderr: '' } })],
    [
      'anthropic-messages',
      block({ type: 'web_fetch_tool_result', content: { content: { type: 'document', source } } }),
    ],
    ['openai-responses', item({ type: 'mcp_call', output: 'a@b', error: null })],
    ['openai-responses', item({ type: 'mcp_call', output: null, error: { message: 'a@b' } })],
    ['openai-responses', item({ type: 'code_interpreter_call', outputs: [{ type: 'logs', logs: 'a@b' }] })],
    ['openai-responses', item({ type: 'file_search_call', results: [{ text: 'a@b' }] })],
    [
      'openai-chat',
      { choices: [{ delta: { content_blocks: [{ index: 0, delta: { type: 'code_result', output: 'a@b' } }] } }] },
    ],
    [
      'openai-chat',
      { choices: [{ message: { content_blocks: [{ type: 'mcp_tool_result', content: [{ text: 'a@b' }] }] } }] },
    ],
    ['openai-chat', { data: [{ b64_json: 'QQ==', revised_prompt: 'a@b' }] }],
    ['openai-responses', item({ type: 'image_generation_call', revised_prompt: 'a@b', result: 'QQ==' })],
    ['gemini', { candidates: [{ content: { parts: [{ codeExecutionResult: { output: 'a@b' } }] } }] }],
    ['gemini', grounding({ groundingChunks: [{ retrievedContext: { uri: 'u', text: 'a@b' } }] })],
    ['gemini', grounding({ groundingChunks: [{ web: { uri: 'u', title: 'a@b' } }] })],
    ['gemini', grounding({ webSearchQueries: ['a@b'] })],
    ['gemini', grounding({ searchEntryPoint: { renderedContent: 'a@b' } })],
  ])('are texts of %s: %j', (name, event) => {
    const kinds: TextKind[] = [];
    const open = ({ kind }: { readonly kind: TextKind }): TextTransform => {
      kinds.push(kind);
      return masked;
    };
    const texts = new ReplyTexts({ layout: formats[name].texts!.reply, form: 'sse', open, signed: false });
    const sent = `data: ${JSON.stringify(event)}\n\n`;
    expect(texts.push(Buffer.from(sent))?.toString()).toBe(sent.replace('a@b', MASK));
    expect(kinds).toContain('tool_result');
  });

  it('are no data of files', () => {
    const file = { type: 'base64', media_type: 'application/pdf', data: 'a@b' };
    const event = block({ type: 'web_fetch_tool_result', content: { content: { type: 'document', source: file } } });
    const sent = Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
    const texts = new ReplyTexts({
      layout: formats['anthropic-messages'].texts!.reply,
      form: 'sse',
      open: () => masked,
      signed: false,
    });
    expect(texts.push(sent)).toBe(sent);
  });
});

describe('texts in envelopes', () => {
  const seal = (text: string): string => writeEnvelope({ kind: 'thinking', maker: 'other', signature: 's', text });
  const base64 = (text: string): string => Buffer.from(seal(text)).toString('base64');
  const item = (fields: object) => ({ type: 'response.output_item.done', output_index: 0, item: fields });
  const delta = (signature: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature },
  });
  const part = (thoughtSignature: string) => ({
    candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature }] } }],
  });

  it.each<[Name, (text: string) => object]>([
    ['openai-responses', (text) => item({ type: 'compaction', encrypted_content: writeSummary(text) })],
    ['openai-responses', (text) => item({ type: 'reasoning', summary: [], encrypted_content: seal(text) })],
    ['anthropic-messages', (text) => delta(seal(text))],
    ['gemini', (text) => part(base64(text))],
  ])('are texts of %s', (name, eventOf) => {
    const open = () => masked;
    const texts = new ReplyTexts({ layout: formats[name].texts!.reply, form: 'sse', open, signed: false });
    const sent = (text: string): string => `data: ${JSON.stringify(eventOf(text))}\n\n`;
    expect(texts.push(Buffer.from(sent('see a@b')))?.toString()).toBe(sent(`see ${MASK}`));
  });

  it('are none where another value stands', () => {
    const sent = Buffer.from(`data: ${JSON.stringify(item({ type: 'reasoning', encrypted_content: 'a@b' }))}\n\n`);
    const layout = formats['openai-responses'].texts!.reply;
    const texts = new ReplyTexts({ layout, form: 'sse', open: () => masked, signed: false });
    expect(texts.push(sent)).toBe(sent);
  });
});

describe('thinking that is signed', () => {
  it('is not changed', () => {
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'a@b ' } };
    const setup = {
      layout: formats['anthropic-messages'].texts!.reply,
      form: 'sse',
      open: transforms['with a class']!,
      signed: true,
    } as const;
    const event = Buffer.from(`event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`);
    expect(() => new ReplyTexts(setup).push(event)).toThrow('signed');
    const quiet = Buffer.from(event.toString().replace('a@b', 'quiet'));
    expect(new ReplyTexts(setup).push(quiet)).toBe(quiet);
  });
});
