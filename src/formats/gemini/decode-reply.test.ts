import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { replyContext } from '../contexts.testkit.ts';
import { decodeReply } from './decode-reply.ts';

const decode = (candidate: object, context: Partial<ReplyContext> = {}) =>
  decodeReply({ candidates: [{ finishReason: 'STOP', ...candidate }] }, replyContext(context));
const parts = (...parts: object[]) => ({ content: { role: 'model', parts } });
const partsOf = (events: readonly GenerationEvent[]) => fold(events).choices[0]?.parts;

describe('parts of a reply', () => {
  it('adjacent text is one block until the kind changes', () => {
    const events = decode(parts({ text: 'a' }, { text: 'b' }, { text: 't', thought: true }, { text: 'c' }));
    expect(events.filter(({ type }) => type === 'text' || type === 'thinking')).toEqual([
      { type: 'text', choice: 0, block: 0, text: 'a' },
      { type: 'text', choice: 0, block: 0, text: 'b' },
      { type: 'thinking', choice: 0, block: 1, text: 't' },
      { type: 'text', choice: 0, block: 2, text: 'c' },
    ]);
  });

  it('a signature closes its block', () => {
    expect(
      partsOf(
        decode(parts({ text: 'a' }, { text: 'b', thoughtSignature: 's1' }, { text: 'c', thoughtSignature: 's2' })),
      ),
    ).toEqual([
      { type: 'text', text: 'ab', signature: 's1' },
      { type: 'text', text: 'c', signature: 's2' },
    ]);
  });

  it.each([
    [
      'signs the open text',
      [{ text: 'a' }, { text: '', thoughtSignature: 's' }],
      [{ type: 'text', text: 'a', signature: 's' }],
    ],
    [
      'stands alone before any text',
      [{ text: '', thoughtSignature: 's' }, { text: 'a' }],
      [
        { type: 'text', text: '', signature: 's' },
        { type: 'text', text: 'a' },
      ],
    ],
    [
      'signs the first call, when it stands behind it',
      [{ functionCall: { name: 'f', id: '1' } }, { thoughtSignature: 's' }],
      [{ type: 'tool_call', id: '1', name: 'f', arguments: '{}', signature: 's' }],
    ],
    [
      'signs the first call on the end of nothing',
      [{ functionCall: { name: 'f', id: '1' } }, { functionCall: {}, thoughtSignature: 's' }],
      [{ type: 'tool_call', id: '1', name: 'f', arguments: '{}', signature: 's' }],
    ],
    [
      'stands alone after a call that has its own',
      [
        { functionCall: { name: 'f', id: '1' }, thoughtSignature: 'own' },
        { text: '', thoughtSignature: 's' },
      ],
      [
        { type: 'tool_call', id: '1', name: 'f', arguments: '{}', signature: 'own' },
        { type: 'text', text: '', signature: 's' },
      ],
    ],
    [
      'stands alone after parallel calls',
      [{ functionCall: { name: 'f', id: '1' } }, { functionCall: { name: 'g', id: '2' } }, { thoughtSignature: 's' }],
      [
        { type: 'tool_call', id: '1', name: 'f', arguments: '{}' },
        { type: 'tool_call', id: '2', name: 'g', arguments: '{}' },
        { type: 'text', text: '', signature: 's' },
      ],
    ],
    [
      'of a thought does not sign a call',
      [{ functionCall: { name: 'f', id: '1' } }, { thought: true, thoughtSignature: 's' }],
      [
        { type: 'tool_call', id: '1', name: 'f', arguments: '{}' },
        { type: 'thinking', text: '', signature: 's', maker: 'gemini' },
      ],
    ],
    [
      'signs the text behind a call',
      [{ functionCall: { name: 'f', id: '1' } }, { text: 'a' }, { text: '', thoughtSignature: 's' }],
      [
        { type: 'tool_call', id: '1', name: 'f', arguments: '{}' },
        { type: 'text', text: 'a', signature: 's' },
      ],
    ],
    [
      'stays a thought',
      [{ thought: true, thoughtSignature: 's' }],
      [{ type: 'thinking', text: '', signature: 's', maker: 'gemini' }],
    ],
    [
      'does not sign text when it is a thought’s',
      [{ text: 'a' }, { thought: true, text: '', thoughtSignature: 's' }],
      [
        { type: 'text', text: 'a' },
        { type: 'thinking', text: '', signature: 's', maker: 'gemini' },
      ],
    ],
  ])('a signature without text %s', (_, sent, expected) => {
    expect(partsOf(decode(parts(...sent)))).toEqual(expected);
  });

  it('calls come whole, with the upstream’s id or a generated one', () => {
    const events = decode(
      parts(
        { functionCall: { name: 'f', args: { a: 1 }, id: 'up' }, thoughtSignature: 's' },
        { functionCall: { name: 'g' } },
      ),
    );
    expect(partsOf(events)).toEqual([
      { type: 'tool_call', id: 'up', name: 'f', arguments: '{"a":1}', signature: 's' },
      { type: 'tool_call', id: expect.stringMatching(/^call_.{24}$/), name: 'g', arguments: '{}' },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'finish', reason: 'tool_calls', native: 'STOP' }));
  });

  it('a free-text tool gets its bare text back', () => {
    const events = decode(parts({ functionCall: { name: 'sh', args: { input: 'ls' } } }), {
      customTools: new Set(['sh']),
    });
    expect(partsOf(events)).toMatchObject([{ type: 'tool_call', name: 'sh', arguments: 'ls', custom: true }]);
  });

  it('images are media, and images of thoughts are thinking with an image', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const url = 'data:image/png;base64,AAAA';
    const sent = [
      { ...image, thought: true, thoughtSignature: 't' },
      { ...image, thoughtSignature: 's' },
    ];
    expect(partsOf(decode(parts(...sent)))).toEqual([
      {
        type: 'opaque',
        format: 'gemini',
        value: { type: 'thinking', thinking: '', image_url: { url }, signature: 't', maker: 'gemini' },
      },
      { type: 'media', media: 'image', mime: 'image/png', source: { kind: 'data', data: 'AAAA' }, signature: 's' },
    ]);
  });

  it('code and its result keep their signature', () => {
    const executableCode = { language: 'PYTHON', code: 'print(1)', id: 'c' };
    expect(
      partsOf(
        decode(parts({ executableCode, thoughtSignature: 's' }, { codeExecutionResult: { outcome: 'OUTCOME_OK' } })),
      ),
    ).toEqual([
      { type: 'code', language: 'PYTHON', code: 'print(1)', id: 'c', signature: 's' },
      { type: 'code_result', outcome: 'OUTCOME_OK', output: '' },
    ]);
  });

  it('an unknown part is kept verbatim', () => {
    const part = { toolCall: { toolType: 'X' }, thoughtSignature: 's' };
    expect(partsOf(decode(parts(part)))).toEqual([
      { type: 'opaque', format: 'gemini', value: { type: 'gemini_part', part } },
    ]);
  });

  it.each([
    ['arguments of a call without a name', { functionCall: { args: { a: 1 } } }],
    ['a call of an empty name', { functionCall: { name: '', id: 'x' }, thoughtSignature: 's' }],
    ['pieces of a call that never began', { functionCall: { partialArgs: [{ jsonPath: '$.a', numberValue: 1 }] } }],
  ])('%s stay beside an answer, and are not an answer alone', (_, part) => {
    const kept = { type: 'opaque', format: 'gemini', value: { type: 'gemini_part', part } };
    expect(partsOf(decode(parts({ text: 'a' }, part)))).toEqual([{ type: 'text', text: 'a' }, kept]);
    expect(() => decode(parts(part))).toThrow(ReplyFault);
    expect(() => decode({ ...parts({ text: '' }, part), finishReason: 'OTHER' })).toThrow(ReplyFault);
    // A reply that was stopped, and has the reason, is an answer.
    expect(fold(decode({ ...parts(part), finishReason: 'SAFETY' })).choices).toMatchObject([
      { parts: [kept], finish: 'content_filter' },
    ]);
  });

  it.each([['text'], [7], [['x']]])('%j is not a part, and is kept beside the parts', (part) => {
    const sent = { content: { parts: [part, null, { text: 'a' }] } };
    expect(partsOf(decode(sent))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'opaque', format: 'gemini', value: { type: 'gemini_part', part } },
    ]);
    expect(() => decode({ content: { parts: [part] } })).toThrow(ReplyFault);
  });

  it('one readable answer is enough', () => {
    const candidates = [
      { index: 0, finishReason: 'STOP', ...parts({ functionCall: { args: {} } }) },
      { index: 1, finishReason: 'STOP', ...parts({ text: 'a' }) },
    ];
    expect(fold(decodeReply({ candidates }, replyContext())).choices).toMatchObject([
      { parts: [{ type: 'opaque' }] },
      { parts: [{ text: 'a' }] },
    ]);
  });

  it.each([
    [{}],
    [{ content: {} }],
    [{ content: { role: 'model' } }],
    [{ content: { parts: [] } }],
    [{ content: null }],
  ])('a candidate with %j is an empty answer', (candidate) => {
    expect(fold(decode(candidate)).choices).toMatchObject([{ parts: [], finish: 'stop' }]);
  });
});

describe('the end of a reply', () => {
  it.each([
    ['STOP', 'stop'],
    ['FINISH_REASON_UNSPECIFIED', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['ESCALATION', 'content_filter'],
    ['OTHER', 'stop'],
    ['UNEXPECTED_TOOL_CALL', 'stop'],
    ['TOO_MANY_TOOL_CALLS', 'stop'],
    ['MISSING_THOUGHT_SIGNATURE', 'stop'],
    ['NO_IMAGE', 'stop'],
    ['IMAGE_OTHER', 'stop'],
    ['toString', 'stop'],
    ['SOMETHING_NEW', 'stop'],
    [undefined, 'stop'],
  ])('%s is %s', (finishReason, reason) => {
    expect(fold(decodeReply({ candidates: [{ finishReason }] }, replyContext())).choices).toMatchObject([
      { finish: reason, native: finishReason },
    ]);
    // Calls end with STOP on this wire. A limit or a filter keeps its reason.
    const called = { candidates: [{ finishReason, ...parts({ functionCall: { name: 'f' } }) }] };
    expect(fold(decodeReply(called, replyContext())).choices).toMatchObject([
      { finish: reason === 'stop' ? 'tool_calls' : reason },
    ]);
  });

  it.each([
    [{ parts: [{ text: 'I think' }, { text: 'It is 4' }] }, ['thinking', 'text']],
    [{ parts: [{ text: 'It is 4' }] }, ['text']],
    [{ parts: [{ text: 'I think', thought: true }, { text: 'a' }, { text: 'b' }] }, ['thinking', 'text', 'text']],
  ])('of the first thinking model takes texts before the last as thoughts: %j', (content, types) => {
    const reply = { candidates: [{ content, finishReason: 'STOP' }] };
    const events = decodeReply(reply, replyContext({ model: 'gemini-2.0-flash-thinking-exp' }));
    expect(events.flatMap(({ type }) => (type === 'text' || type === 'thinking' ? [type] : []))).toEqual(types);
  });

  it('keeps MAX_TOKENS and filters although calls were made, and the message', () => {
    const events = decode({
      ...parts({ functionCall: { name: 'f' } }),
      finishReason: 'MAX_TOKENS',
      finishMessage: 'm',
    });
    expect(fold(events).choices).toMatchObject([{ finish: 'length', message: 'm' }]);
  });

  it('of a blocked prompt is a filtered answer with the reason', () => {
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' };
    for (const body of [{ promptFeedback }, { promptFeedback, candidates: [] }]) {
      expect(decodeReply(body, replyContext())).toEqual([
        { type: 'start', model: 'model-asked' },
        { type: 'finish', choice: 0, reason: 'content_filter', native: 'PROHIBITED_CONTENT', message: 'Not this.' },
        { type: 'end' },
      ]);
    }
  });

  it('of a blocked prompt has the ratings of the filter', () => {
    const safetyRatings = [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true }];
    const events = decodeReply({ promptFeedback: { blockReason: 'SAFETY', safetyRatings } }, replyContext());
    expect(fold(events).choices).toMatchObject([
      { parts: [{ type: 'opaque', value: { safetyRatings } }], finish: 'content_filter', native: 'SAFETY' },
    ]);
  });

  it.each(['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY', 'MODEL_ARMOR', 'JAILBREAK'])(
    'of a prompt blocked for %s is filtered',
    (blockReason) => {
      expect(fold(decodeReply({ promptFeedback: { blockReason } }, replyContext())).choices).toMatchObject([
        { finish: 'content_filter', native: blockReason },
      ]);
    },
  );

  it('without candidates and block reason is an empty answer', () => {
    expect(fold(decodeReply({ candidates: [], usageMetadata: {} }, replyContext())).choices).toMatchObject([
      { index: 0, finish: 'stop' },
    ]);
  });

  it('an error in a 2xx body ends it', () => {
    expect(decodeReply({ error: { code: 500, message: 'm', status: 'INTERNAL' } }, replyContext())).toEqual([
      { type: 'error', failure: { status: 500, message: 'm', kind: 'INTERNAL' } },
    ]);
  });

  it.each(['Quota exceeded.', ['x'], 7])('an error in a 2xx body may be %j', (error) => {
    expect(decodeReply({ error, candidates: [] }, replyContext())).toEqual([
      { type: 'error', failure: { status: 502, kind: 'UNKNOWN', message: expect.stringMatching(/Quota|x|7/) } },
    ]);
  });

  it('an error without a status word gets the word of its code', () => {
    expect(decodeReply({ error: { code: 429, message: 'm' } }, replyContext())).toEqual([
      { type: 'error', failure: { status: 429, kind: 'RESOURCE_EXHAUSTED', message: 'm' } },
    ]);
  });

  it.each([[null], ['x'], [[]], [{}], [{ choices: [] }], [{ candidates: ['x'] }], [{ candidates: [null] }]])(
    '%j is not a reply',
    (body) => {
      expect(() => decodeReply(body, replyContext())).toThrow(ReplyFault);
    },
  );

  it('several candidates are several choices', () => {
    const candidates = [
      { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' },
      { index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' },
    ];
    expect(fold(decodeReply({ candidates }, replyContext())).choices).toMatchObject([
      { index: 0, parts: [{ text: 'a' }] },
      { index: 1, parts: [{ text: 'b' }] },
    ]);
  });

  it('takes id and model from responseId and modelVersion', () => {
    const [start] = decodeReply({ candidates: [], responseId: 'r', modelVersion: 'gemini-x' }, replyContext());
    expect(start).toEqual({ type: 'start', id: 'chatcmpl-r', model: 'gemini-x' });
  });
});

describe('usage', () => {
  it.each([
    [
      'thoughts are output',
      { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 20, totalTokenCount: 33 },
      { input: 9, output: 24, total: 33, reasoning: 20 },
    ],
    [
      'candidates that include thoughts are not counted twice',
      { promptTokenCount: 10, candidatesTokenCount: 30, thoughtsTokenCount: 20, totalTokenCount: 40 },
      { input: 10, output: 30, total: 40, reasoning: 20 },
    ],
    [
      'tokens of tools are input',
      { promptTokenCount: 9, toolUsePromptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 18 },
      { input: 14, output: 4, total: 18, toolUse: 5 },
    ],
    [
      'cached tokens are part of the input',
      { promptTokenCount: 9, cachedContentTokenCount: 8, totalTokenCount: 9 },
      { input: 9, output: 0, total: 9, cacheRead: 8 },
    ],
    [
      'audio is counted separately',
      {
        promptTokenCount: 9,
        candidatesTokenCount: 5,
        totalTokenCount: 14,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 2 },
          { modality: 'AUDIO', tokenCount: 7 },
        ],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
      },
      { input: 9, output: 5, total: 14, inputAudio: 7, outputAudio: 5 },
    ],
    [
      'sound that tools put into the prompt is input too, as are several entries',
      {
        promptTokenCount: 9,
        toolUsePromptTokenCount: 6,
        totalTokenCount: 15,
        promptTokensDetails: [
          { modality: 'AUDIO', tokenCount: 3 },
          { modality: 'AUDIO', tokenCount: '1' },
        ],
        toolUsePromptTokensDetails: [{ modality: 'AUDIO', tokenCount: 2 }],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 3 }],
      },
      { input: 15, output: 0, total: 15, inputAudio: 6, cacheReadAudio: 3, toolUse: 6 },
    ],
    [
      'thoughts in the candidates beside tokens of tools',
      {
        promptTokenCount: 9,
        toolUsePromptTokenCount: 6,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 20,
        totalTokenCount: 45,
      },
      { input: 15, output: 30, total: 45, reasoning: 20, toolUse: 6 },
    ],
    ['a missing total is the sum', { promptTokenCount: 1, candidatesTokenCount: 2 }, { input: 1, output: 2, total: 3 }],
    ['counts may be strings', { promptTokenCount: '1', totalTokenCount: '1' }, { input: 1, output: 0, total: 1 }],
    ['nothing counted is no usage', { trafficType: 'ON_DEMAND' }, undefined],
  ])('%s', (_, raw, usage) => {
    const reply = decodeReply({ candidates: [], usageMetadata: raw }, replyContext());
    expect(fold(reply).usage).toEqual(usage);
  });
});

describe('grounding', () => {
  const text = 'Grüße 👋 aus Köln. Ende.';
  const byte = (index: number) => Buffer.byteLength(text.slice(0, index));
  const web = (name: string) => ({ web: { uri: `https://${name}`, title: name } });
  const grounded = (groundingMetadata: object, ...sent: object[]) => decode({ ...parts(...sent), groundingMetadata });

  it('cites every source of every support, at UTF-16 offsets', () => {
    const end = text.indexOf('.') + 1;
    const events = grounded(
      {
        groundingChunks: [web('a'), web('b')],
        groundingSupports: [
          { segment: { endIndex: byte(end) }, groundingChunkIndices: [0, 1] },
          { segment: { startIndex: byte(end + 1), endIndex: byte(text.length) }, groundingChunkIndices: [1, 7] },
        ],
      },
      { text: 'a thought', thought: true },
      { text: text.slice(0, 9) },
      { text: text.slice(9) },
    );
    const { citations } = fold(events).choices[0]!;
    expect(citations).toEqual([
      { url: 'https://a', title: 'a', start: 0, end },
      { url: 'https://b', title: 'b', start: 0, end },
      { url: 'https://b', title: 'b', start: end + 1, end: text.length },
    ]);
    expect(text.slice(citations[0]!.start, citations[0]!.end)).toBe('Grüße 👋 aus Köln.');
  });

  it('counts within a part when partIndex names one', () => {
    const support = { segment: { partIndex: 1, startIndex: 1, endIndex: 2 }, groundingChunkIndices: [0] };
    const events = grounded(
      { groundingChunks: [web('a')], groundingSupports: [support] },
      { text: 'éé' },
      { text: 'xyz' },
    );
    expect(fold(events).choices[0]!.citations).toMatchObject([{ start: 3, end: 4 }]);
  });

  it('without supports cites each source without a position', () => {
    const events = grounded({ groundingChunks: [web('a'), { retrievedContext: { text: 't' } }] }, { text: 'x' });
    expect(fold(events).choices[0]!.citations).toEqual([{ url: 'https://a', title: 'a', start: 0, end: 0 }]);
  });

  it('offsets inside a character or past the end stay in the text', () => {
    const segment = { startIndex: 1, endIndex: 99 };
    const events = grounded(
      { groundingChunks: [web('a')], groundingSupports: [{ segment, groundingChunkIndices: [0] }] },
      { text: 'é' },
    );
    expect(fold(events).choices[0]!.citations).toMatchObject([{ start: 0, end: 1 }]);
  });

  it.each<[string, object, number]>([
    ['each query', { webSearchQueries: ['q', 'r'], searchEntryPoint: {} }, 2],
    ['one without a list of queries', { searchEntryPoint: {} }, 1],
    ['none without a search', { groundingChunks: [web('a')] }, 0],
  ])('counts %s as a search, because Google charges it', (_, groundingMetadata, searches) => {
    const candidates = [{ ...parts({ text: 'a' }), finishReason: 'STOP', groundingMetadata }];
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const { usage } = fold(decodeReply({ candidates, usageMetadata }, replyContext()));
    expect(usage?.searches ?? 0).toBe(searches);
  });

  it('is passed on verbatim, and empty metadata are not', () => {
    const groundingMetadata = { webSearchQueries: ['q'] };
    expect(grounded(groundingMetadata)).toContainEqual(
      expect.objectContaining({ type: 'opaque', value: { groundingMetadata } }),
    );
    expect(grounded({}).some(({ type }) => type === 'opaque')).toBe(false);
  });
});

it('log probabilities name the chosen tokens and their alternatives', () => {
  const logprobsResult = {
    chosenCandidates: [
      { token: 'a', logProbability: -0.1 },
      { token: 'b', logProbability: -0.2 },
    ],
    topCandidates: [
      {
        candidates: [
          { token: 'a', logProbability: -0.1 },
          { token: 'x', logProbability: -3 },
        ],
      },
    ],
  };
  expect(fold(decode({ logprobsResult })).choices[0]!.logprobs).toEqual([
    {
      token: 'a',
      logprob: -0.1,
      top: [
        { token: 'a', logprob: -0.1 },
        { token: 'x', logprob: -3 },
      ],
    },
    { token: 'b', logprob: -0.2 },
  ]);
});
