import {
  deep,
  escapes,
  fill,
  keys,
  letters,
  list,
  longNumbers,
  sameKeys,
  wide,
  type ReplyShape,
} from './replies-build.ts';

type Payloads = (bytes: number) => readonly string[];

const LAST = '{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}';
const parts = (items: readonly string[], more = ''): string =>
  `{"candidates":[{"content":{"role":"model","parts":${list(items)}}${more}}]}`;
const text = (words: string): string => `{"text":${words}}`;
const call = (fields: string): string => parts([`{"functionCall":{${fields}}}`]);
const grounded = (fields: string): string => `{"candidates":[{"groundingMetadata":{${fields}}}]}`;
const source = (at: number): string => `{"web":{"uri":"https://e.org/${at}","title":"t"}}`;
const support = (at: number, index = 0, part = ''): string =>
  `{"segment":{${part}"startIndex":${at},"endIndex":${at + 1}},"groundingChunkIndices":[${index}]}`;
const image = '{"inlineData":{"mimeType":"image/png","data":"AAAA"}}';

/** Responses, before the one with the finish. One list of them, for a stream and (as one response) for a plain reply. */
const CHUNKS: readonly (readonly [name: string, payloads: Payloads])[] = [
  ['text of one letter each', (n) => fill(n, () => parts([text('"a"')]))],
  ['one text of escapes', (n) => [parts([text(escapes(n))])]],
  ['many texts in one', (n) => [parts(fill(n, () => text('"a"')))]],
  [
    'thoughts and texts in turn',
    (n) => [parts(fill(n, (at) => (at % 2 ? text('"a"') : '{"text":"b","thought":true}')))],
  ],
  ['signed texts', (n) => [parts(fill(n, () => '{"text":"a","thoughtSignature":"c2ln"}'))]],
  ['signatures alone', (n) => [parts(fill(n, () => '{"thoughtSignature":"c2ln"}'))]],
  ['pictures', (n) => [parts(fill(n, () => image))]],
  ['pictures and texts in turn', (n) => fill(n, (at) => parts([at % 2 ? text('"a"') : image]))],
  ['pictures in thoughts', (n) => [parts(fill(n, () => image.replace('{', '{"thought":true,')))]],
  ['many calls', (n) => [parts(fill(n, (at) => `{"functionCall":{"name":"f","id":"i${at}","args":{"a":1}}}`))]],
  ['calls, one each', (n) => fill(n, () => call('"name":"f","args":{"a":1}'))],
  [
    'texts and pieces of one call in turn',
    (n) => [
      call('"name":"f","willContinue":true'),
      ...fill(n, (at) =>
        at % 2
          ? parts([text('"a"')])
          : call('"partialArgs":[{"jsonPath":"$.a","stringValue":"a","willContinue":true}],"willContinue":true'),
      ),
    ],
  ],
  ['a call with many keys', (n) => [call(`"name":"f","args":{${keys(n)}}`)]],
  [
    'arguments in pieces of one letter',
    (n) => [
      call('"name":"f","willContinue":true'),
      ...fill(n, () =>
        call('"partialArgs":[{"jsonPath":"$.a","stringValue":"a","willContinue":true}],"willContinue":true'),
      ),
    ],
  ],
  [
    'arguments in pieces, all in one',
    (n) => [
      call(
        `"name":"f","willContinue":true,"partialArgs":${list(fill(n, () => '{"jsonPath":"$.a","stringValue":"a","willContinue":true}'))}`,
      ),
    ],
  ],
  [
    'arguments in pieces, a key each',
    (n) => [
      call(
        `"name":"f","willContinue":true,"partialArgs":${list(fill(n, (at) => `{"jsonPath":"$.k${at}","numberValue":1}`))}`,
      ),
    ],
  ],
  [
    'arguments in pieces, an element each',
    (n) => [
      call(
        `"name":"f","willContinue":true,"partialArgs":${list(fill(n, (at) => `{"jsonPath":"$.a[${at}]","numberValue":1}`))}`,
      ),
    ],
  ],
  [
    'arguments in pieces, with gaps',
    (n) => [
      call(
        `"name":"f","willContinue":true,"partialArgs":${list(fill(n, (at) => `{"jsonPath":"$.a[${at * 60}]","numberValue":1}`))}`,
      ),
    ],
  ],
  [
    'arguments in pieces, deep',
    (n) => [
      call(
        `"name":"f","willContinue":true,"partialArgs":${list(fill(n, () => `{"jsonPath":"$${'.a'.repeat(200)}.b","numberValue":1}`))}`,
      ),
    ],
  ],
  [
    'a path that nests without end',
    (n) => [
      call(`"name":"f","willContinue":true,"partialArgs":[{"jsonPath":"$${'.a'.repeat(n / 2)}","numberValue":1}]`),
    ],
  ],
  [
    'repeated arguments',
    (n) => [
      call('"name":"f","willContinue":true'),
      ...fill(n, (at) => call(`"args":{"k${at}":1},"willContinue":true`)),
    ],
  ],
  [
    'late signatures of a call',
    (n) => [
      call('"name":"f","willContinue":true'),
      ...fill(n, (at) => parts([`{"functionCall":{"willContinue":true},"thoughtSignature":"s${at}"}`])),
    ],
  ],
  ['calls without names', (n) => [parts(fill(n, () => '{"functionCall":{"args":{"a":1}}}'))]],
  [
    'candidates without numbers',
    (n) => [`{"candidates":${list(fill(n, () => '{"content":{"parts":[{"text":"a"}]}}'))}}`],
  ],
  [
    'candidates with numbers, and as many without',
    (n) => [
      `{"candidates":${list([...fill(n / 2, (at) => `{"index":${at}}`), ...fill(n / 2, () => '{"finishReason":"STOP"}')])}}`,
    ],
  ],
  [
    'candidates whose numbers are those of others',
    (n) => {
      const half = fill(n / 2, (at) => `{"index":${at}}`).length;
      return [
        `{"candidates":${list([...Array.from({ length: half }, (_, at) => `{"index":${half + at}}`), ...Array.from({ length: half }, (_, at) => `{"index":${at}}`), ...fill(n / 4, () => '{"x":1}')])}}`,
      ];
    },
  ],
  [
    'candidates with growing numbers',
    (n) => fill(n, (at) => `{"candidates":[{"index":${at},"content":{"parts":[{"text":"a"}]}}]}`),
  ],
  [
    'a prompt that is blocked with a long message, and candidates',
    (n) => [
      `{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"${letters(n / 2)}"},"candidates":${list(fill(n / 2, () => '{"x":1}'))}}`,
    ],
  ],
  ['sources, one each', (n) => fill(n, (at) => grounded(`"groundingChunks":[${source(at)}]`))],
  [
    'sources, one each, behind a long one',
    (n) => [
      grounded(`"groundingChunks":[{"web":{"uri":"${letters(n / 2)}"}}]`),
      ...fill(n / 2, (at) => grounded(`"groundingChunks":[${source(at)}]`)),
    ],
  ],
  ['grounding with a new key in each', (n) => fill(n, (at) => grounded(`"k${at}":1`))],
  ['sources in one', (n) => [parts([text('"a"')]), grounded(`"groundingChunks":${list(fill(n, source))}`)]],
  [
    'supports of a long text',
    (n) => [
      parts([text(`"${letters(n / 2)}"`)]),
      grounded(`"groundingChunks":[${source(0)}],"groundingSupports":${list(fill(n / 2, (at) => support(at)))}`),
    ],
  ],
  [
    'supports of a text that is no ASCII',
    (n) => [
      parts([text(`"${'é'.repeat(n / 4)}"`)]),
      grounded(`"groundingChunks":[${source(0)}],"groundingSupports":${list(fill(n / 2, (at) => support(at * 3)))}`),
    ],
  ],
  [
    'supports of many parts',
    (n) => [
      parts(fill(n / 2, () => text('"é"'))),
      grounded(
        `"groundingChunks":[${source(0)}],"groundingSupports":${list(fill(n / 2, (at) => support(0, 0, `"partIndex":${at},`)))}`,
      ),
    ],
  ],
  [
    'supports that all have one long source',
    (n) => [
      parts([text('"a"')]),
      grounded(
        `"groundingChunks":[{"web":{"uri":"https://${letters(n / 2)}"}}],"groundingSupports":${list(fill(n / 2, () => support(0)))}`,
      ),
    ],
  ],
  [
    'one support with many sources',
    (n) => [
      parts([text('"a"')]),
      grounded(
        `"groundingChunks":[${source(0)}],"groundingSupports":[{"segment":{"endIndex":1},"groundingChunkIndices":${list(fill(n, () => '0'))}}]`,
      ),
    ],
  ],
  ['usage with a new key in each', (n) => fill(n, (at) => `{"usageMetadata":{"promptTokenCount":1,"k${at}":1}}`)],
  [
    'usage, after many details',
    (n) => [
      `{"usageMetadata":{"promptTokenCount":1,"promptTokensDetails":${list(fill(n / 2, () => '{"modality":"AUDIO","tokenCount":1}'))}}}`,
      ...fill(n / 2, () => '{"usageMetadata":{"promptTokenCount":1}}'),
    ],
  ],
  [
    'ratings, again and again',
    (n) => fill(n, () => '{"candidates":[{"safetyRatings":[{"category":"A","probability":"LOW"}]}]}'),
  ],
  [
    'log probabilities',
    (n) => [
      parts(
        [text('"a"')],
        `,"logprobsResult":{"chosenCandidates":${list(fill(n / 2, () => '{"token":"a","logProbability":-1}'))},"topCandidates":${list(fill(n / 2, () => '{"candidates":[{"token":"b","logProbability":-2}]}'))}}`,
      ),
    ],
  ],
  [
    'code that ran',
    (n) => [
      parts(
        fill(n, (at) =>
          at % 2
            ? '{"executableCode":{"language":"PYTHON","code":"1"}}'
            : '{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}',
        ),
      ),
    ],
  ],
  ['parts of other kinds', (n) => [parts(fill(n, () => '{"fileData":{"fileUri":"gs://b/o"}}'))]],
  ['parts that are none', (n) => [parts(['{"text":"a"}', ...fill(n, () => '1')])]],
  [
    'unknown keys of a response, a candidate and a part',
    (n) => [`{"candidates":[{"content":{"parts":[{"text":"a",${keys(n / 3)}}]},${keys(n / 3)}}],${keys(n / 3)}}`],
  ],
  ['duplicate names', (n) => [parts([`{"text":"a",${sameKeys(n)}}`])]],
  ['wide and deep', (n) => [call(`"name":"f","args":{"x":${wide(n)}}`)]],
  ['a value that nests without end', (n) => [call(`"name":"f","args":{"x":${deep(n)}}`)]],
  ['long numbers', (n) => [call(`"name":"f","args":{"x":${longNumbers(n)}}`)]],
  [
    'one long number in a long reply',
    (n) => [call(`"name":"f","args":{"y":12345678901234567,"x":${list(fill(n, () => '1'))}}`)],
  ],
  ['a long id', (n) => [`{"responseId":"${letters(n / 2)}"}`, ...fill(n / 2, () => parts([text('"a"')]))]],
  ['a long model name', (n) => [`{"modelVersion":"${letters(n / 2)}"}`, ...fill(n / 2, () => parts([text('"a"')]))]],
];

const toEvents = (payloads: readonly string[], between = ''): string =>
  [...payloads, LAST].map((payload) => `data: ${payload}\r\n\r\n`).join(between);
const toArray = (payloads: readonly string[], between = ',\r\n'): string => `[${[...payloads, LAST].join(between)}]`;
const TINY = (n: number) => fill(n, () => parts([text('"a"')]));

const FRAMES: readonly ReplyShape[] = [
  { name: 'an array of tiny elements', stream: true, build: (n) => Buffer.from(toArray(TINY(n))) },
  {
    name: 'an array with a large element',
    stream: true,
    build: (n) => Buffer.from(toArray([parts([text(escapes(n))])])),
  },
  {
    name: 'an array with white space',
    stream: true,
    build: (n) => Buffer.from(toArray(TINY(100), `,${' '.repeat(n / 2)}`)),
  },
  { name: 'an array, in reads of one byte', stream: true, cut: 1, build: (n) => Buffer.from(toArray(TINY(n))) },
  {
    name: 'a list of responses in one event',
    stream: true,
    build: (n) => Buffer.from(`data: ${list(TINY(n))}\r\n\r\n${toEvents([])}`),
  },
  {
    name: 'white space before the first event',
    stream: true,
    cut: 1,
    build: (n) => Buffer.from(`${'\n'.repeat(n)}${toEvents([])}`),
  },
  {
    name: 'comments',
    stream: true,
    build: (n) => Buffer.from(toEvents([parts([text('"a"')])], ': c\n'.repeat(n / 4))),
  },
  {
    name: 'blank lines',
    stream: true,
    build: (n) => Buffer.from(toEvents([parts([text('"a"')])], '\r\n'.repeat(n / 2))),
  },
  {
    name: 'empty events',
    stream: true,
    build: (n) => Buffer.from(toEvents([parts([text('"a"')])], 'data: \r\n\r\n'.repeat(n / 10))),
  },
  {
    name: 'events before one that cannot be read',
    stream: true,
    cut: 8 * 1024 * 1024,
    build: (n) => Buffer.from(`${toEvents(TINY(n))}data: {oh\r\n\r\n`),
  },
  {
    name: 'elements before one that cannot be read',
    stream: true,
    cut: 8 * 1024 * 1024,
    build: (n) => Buffer.from(`${toArray(TINY(n)).slice(0, -1)},{oh}]`),
  },
  ...[1, 64 * 1024, 8 * 1024 * 1024].map((cut) => ({
    name: `text of one letter each, in reads of ${cut}`,
    stream: true,
    cut,
    build: (n: number) => Buffer.from(toEvents(TINY(n))),
  })),
];

interface Response {
  readonly candidates?: readonly object[];
  readonly usageMetadata?: object;
}

/** The responses as one: all candidates, the keys of all usage, and the other fields. What a plain reply would be. */
function toBody(payloads: readonly string[]): string {
  const responses = [...payloads, LAST].map((payload) => JSON.parse(payload) as Response);
  const candidates = responses.flatMap((response) => response.candidates ?? []);
  return JSON.stringify({
    ...Object.assign({}, ...responses),
    usageMetadata: Object.assign({}, ...responses.map(({ usageMetadata }) => usageMetadata)) as object,
    candidates: candidates.map((candidate) => ({ index: 0, ...candidate })),
  });
}

const ONE_RESPONSE = new Set([
  'a value that nests without end',
  'duplicate names',
  'long numbers',
  'one long number in a long reply',
]);

export const GEMINI_SHAPES: readonly ReplyShape[] = [
  ...CHUNKS.map(([name, payloads]) => ({
    name,
    stream: true,
    build: (bytes: number) => Buffer.from(toEvents(payloads(bytes))),
  })),
  ...FRAMES,
  ...CHUNKS.filter(([name]) => !ONE_RESPONSE.has(name)).map(([name, payloads]) => ({
    name,
    stream: false,
    build: (bytes: number) => Buffer.from(toBody(payloads(bytes))),
  })),
  ...CHUNKS.filter(([name]) => ONE_RESPONSE.has(name)).map(([name, payloads]) => ({
    name,
    stream: false,
    build: (bytes: number) => Buffer.from(payloads(bytes)[0]!),
  })),
];
