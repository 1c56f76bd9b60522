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

const data = (payload: string): string => `data: ${payload}\n\n`;
const FIRST =
  '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}';
const LAST = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
const delta = (fields: string, more = ''): string => `{"choices":[{"index":0,"delta":{${fields}}${more}}]}`;
const call = (fields: string): string => delta(`"tool_calls":[{${fields}}]`);
const argument = (index: number, json: string): string => call(`"index":${index},"function":{"arguments":${json}}`);
const open = (index: number, json = '""'): string =>
  call(`"index":${index},"id":"call_${index}","function":{"name":"f","arguments":${json}}`);

const url = (at: number): string =>
  `{"type":"url_citation","url_citation":{"url":"https://e.org/${at}","title":"t","start_index":${at},"end_index":${at + 1}}}`;
const token = '{"token":"a","logprob":-0.1,"bytes":[97],"top_logprobs":[{"token":"b","logprob":-1,"bytes":null}]}';

/** Chunks, between the first and the one with the finish. */
const CHUNKS: readonly (readonly [name: string, payloads: Payloads])[] = [
  ['text of one letter each', (n) => fill(n, () => delta('"content":"a"'))],
  ['one text of escapes', (n) => [delta(`"content":${escapes(n)}`)]],
  ['thinking of one letter each', (n) => fill(n, () => delta('"reasoning_content":"a"'))],
  ['thinking and text in turn', (n) => fill(n, (at) => delta(at % 2 ? '"content":"a"' : '"reasoning_content":"a"'))],
  ['a refusal of one letter each', (n) => fill(n, () => delta('"refusal":"a"'))],
  ['arguments of one byte each', (n) => [open(0), ...fill(n, () => argument(0, '"1"'))]],
  [
    'arguments of braces in a string, beside a call that waits',
    (n) => [open(0, String.raw`"{\"a\":\""`), open(1), ...fill(n, () => argument(0, '"}"'))],
  ],
  [
    'calls in turn, a byte each',
    (n) => fill(n, (at) => (at % 4 === 0 ? open(at >> 2, '"{"') : argument(at >> 2, at % 4 === 3 ? '"}"' : '" "'))),
  ],
  [
    'calls that are all open, fed from the last',
    (n) => {
      const calls = fill(n / 2, (at) => open(at, '"{"')).length;
      return [
        ...Array.from({ length: calls }, (_, at) => open(at, '"{"')),
        ...fill(n / 2, (at) => argument(calls - 1 - (at % calls), '"1"')),
      ];
    },
  ],
  ['texts behind a call that never ends', (n) => [open(0, '"{"'), ...fill(n, () => delta('"content":"a"'))]],
  [
    'texts and fragments of one call in turn',
    (n) => [open(0, '"{"'), ...fill(n, (at) => (at % 2 ? delta('"content":"a"') : argument(0, '" "')))],
  ],
  [
    'texts beside fragments of free text',
    (n) => [
      call('"index":0,"id":"c","type":"custom","custom":{"name":"f","input":""}'),
      ...fill(n, () => delta('"content":"a","tool_calls":[{"index":0,"custom":{"input":"{}"}}]')),
    ],
  ],
  [
    'a deep list of one bracket each, beside a call that waits',
    (n) => [
      open(0),
      open(1, '"{}"'),
      ...fill(n / 2, () => argument(0, '"["')),
      ...fill(n / 2, () => argument(0, '"]"')),
    ],
  ],
  ['whole calls and texts in turn', (n) => fill(n, (at) => (at % 2 ? delta('"content":"a"') : open(at >> 1, '"{}"')))],
  [
    'answers with a call and a text each',
    (n) =>
      fill(n, (at) => {
        const fields =
          at % 2 ? '"content":"a"' : '"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]';
        return `{"choices":[{"index":${(at >> 1) % 1000},"delta":{${fields}},"finish_reason":"stop"}]}`;
      }),
  ],
  [
    'messages with a call each',
    (n) => fill(n, () => '{"choices":[{"index":0,"message":{"tool_calls":[{"function":{"name":"f"}}]}}]}'),
  ],
  [
    'calls without an index',
    (n) => fill(n, (at) => call(`"id":"call_${at}","function":{"name":"f","arguments":"{}"}`)),
  ],
  [
    'calls with one index',
    (n) => fill(n, (at) => call(`"index":0,"id":"call_${at}","function":{"name":"f","arguments":"{}"}`)),
  ],
  ['calls without a name', (n) => fill(n, () => argument(0, '"1"'))],
  [
    'calls in the deprecated function field',
    (n) => fill(n, () => delta('"function_call":{"name":"f","arguments":"1"}')),
  ],
  [
    'many calls in one chunk',
    (n) => [
      delta(
        `"tool_calls":${list(fill(n, (at) => `{"index":${at},"id":"c${at}","function":{"name":"f","arguments":"{}"}}`))}`,
      ),
    ],
  ],
  [
    'choices with growing numbers',
    (n) => fill(n, (at) => `{"choices":[{"index":${at},"delta":{"content":"a"},"finish_reason":"stop"}]}`),
  ],
  [
    'choices in one chunk',
    (n) => [`{"choices":${list(fill(n, () => '{"delta":{"content":"a"},"finish_reason":"stop"}'))}}`],
  ],
  [
    'blocks with growing numbers',
    (n) => fill(n, (at) => delta(`"content":"a","content_blocks":[{"index":${at},"delta":{"text":"a"}}]`)),
  ],
  [
    'texts, their numbers told later',
    (n) => [
      ...fill(n / 2, (at) => delta(at % 2 ? '"content":"a"' : '"reasoning_content":"b"')),
      ...fill(n / 2, (at) => delta(`"content_blocks":[{"index":${at},"delta":{"text":"a"}}]`)),
    ],
  ],
  ['signatures', (n) => fill(n, (at) => delta(`"content_blocks":[{"index":${at},"delta":{"signature":"c2ln"}}]`))],
  [
    'whole blocks in one chunk',
    (n) => [delta(`"content_blocks":${list(fill(n, () => '{"type":"thinking","thinking":"a","signature":"b"}'))}`)],
  ],
  ['blocks without a type, a key each', (n) => fill(n, (at) => delta(`"content_parts":[{"k${at}":1}]`))],
  ['citations, one each', (n) => fill(n, (at) => delta(`"annotations":[${url(at)}]`))],
  ['citations in one chunk', (n) => [delta(`"content":"a","annotations":${list(fill(n, url))}`)]],
  [
    'log probabilities in one chunk',
    (n) => [delta('"content":"a"', `,"logprobs":{"content":${list(fill(n, () => token))}}`)],
  ],
  ['log probabilities, one each', (n) => fill(n, () => delta('"content":"a"', `,"logprobs":{"content":[${token}]}`))],
  ['usage inside of other fields', (n) => [delta(`"content":"a","x":${list(fill(n, () => '{"usage":1}'))}`)]],
  ['usage, again and again', (n) => fill(n, () => '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}')],
  ['usage with many keys', (n) => [`{"choices":[],"usage":{"prompt_tokens":1,${keys(n)}}}`]],
  [
    'unknown keys of the first chunk',
    (n) => [
      `{"id":"c","model":"m",${keys(n / 2)},"choices":[{"index":0,"delta":{"content":"a"}}]}`,
      ...fill(n / 2, () => delta('"content":"a"')),
    ],
  ],
  [
    'unknown keys of a chunk, a choice and a delta',
    (n) => [`{"choices":[{"index":0,"delta":{"content":"a",${keys(n / 3)}},${keys(n / 3)}}],"id":"c",${keys(n / 3)}}`],
  ],
  [
    'a new key of the choice in each chunk',
    (n) => fill(n, (at) => `{"choices":[{"index":0,"delta":{"content":"a"},"k${at}":1}]}`),
  ],
  ['duplicate names', (n) => [delta(`"content":"a",${sameKeys(n)}`)]],
  [
    'a deep value',
    (n) => [
      `{"choices":[{"index":0,"delta":{"content":"a"},"x":${deep(Math.min(n, 4000))}}]}`,
      delta(`"x":${wide(n)}`),
    ],
  ],
  ['a value that nests without end', (n) => [delta(`"content":"a","x":${deep(n)}`)]],
  ['long numbers', (n) => [delta(`"content":"a","x":${longNumbers(n)}`)]],
  [
    'a long id',
    (n) => [
      `{"id":"${letters(n / 2)}","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}`,
      ...fill(n / 2, () => delta('"content":"a"')),
    ],
  ],
  [
    'a long model name',
    (n) => [
      `{"id":"c","model":"${letters(n / 2)}","choices":[{"index":0,"delta":{"content":"a"}}]}`,
      ...fill(n / 2, () => delta('"content":"a"')),
    ],
  ],
  [
    'a long fingerprint',
    (n) => [
      `{"id":"c","model":"m","system_fingerprint":"${letters(n / 2)}","choices":[{"index":0,"delta":{"content":"a"}}]}`,
      ...fill(n / 2, () => delta('"content":"a"')),
    ],
  ],
  [
    'a long name of a call',
    (n) => [
      call(`"index":0,"id":"i","function":{"name":"${letters(n / 2)}","arguments":""}`),
      ...fill(n / 2, () => argument(0, '"1"')),
    ],
  ],
  [
    'content in parts',
    (n) => [
      delta(
        `"content":${list(fill(n, (at) => (at % 2 ? '{"type":"text","text":"a"}' : '{"type":"thinking","thinking":[{"type":"text","text":"b"}]}')))}`,
      ),
    ],
  ],
  ['sound in pieces', (n) => fill(n, () => delta('"audio":{"id":"s","data":"AAAA","transcript":"a"}'))],
  [
    'pictures and texts in turn',
    (n) =>
      fill(n, (at) =>
        delta(
          at % 2
            ? '"content":"a"'
            : '"content_parts":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]',
        ),
      ),
  ],
  [
    'pictures in one chunk',
    (n) => [
      delta(
        `"content_parts":${list(fill(n, () => '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}'))}`,
      ),
    ],
  ],
  ['a finish, again and again', (n) => fill(n, () => LAST)],
  ['empty chunks', (n) => fill(n, () => '{"choices":[]}')],
];

function toStream(payloads: readonly string[], between = ''): string {
  return [FIRST, ...payloads, LAST].map(data).join(between) + data('[DONE]');
}

/** The payload on as many lines as it has commas. */
const onLines = (payload: string): string => `data: ${payload.replaceAll(',', ',\ndata: ')}\n\n`;

const FRAMES: readonly ReplyShape[] = [
  {
    name: 'one event on many lines',
    stream: true,
    build: (n) => Buffer.from(`${data(FIRST)}${onLines(delta(`"content":"a",${keys(n)}`))}${data(LAST)}`),
  },
  {
    name: 'many empty lines of data',
    stream: true,
    build: (n) =>
      Buffer.from(`${data(FIRST)}data: ${delta('"content":"a"')}\n${'data:\n'.repeat(n / 6)}\n${data(LAST)}`),
  },
  { name: 'comments', stream: true, build: (n) => Buffer.from(toStream([FIRST], ': c\n'.repeat(n / 4))) },
  {
    name: 'comments, each an event',
    stream: true,
    build: (n) => Buffer.from(toStream([FIRST], ': c\n\n'.repeat(n / 5))),
  },
  { name: 'blank lines', stream: true, build: (n) => Buffer.from(toStream([FIRST], '\n'.repeat(n))) },
  { name: 'blank lines of CRLF', stream: true, build: (n) => Buffer.from(toStream([FIRST], '\r\n'.repeat(n / 2))) },
  { name: 'returns without line feeds', stream: true, build: (n) => Buffer.from(toStream([FIRST], '\r'.repeat(n))) },
  {
    name: 'events without data',
    stream: true,
    build: (n) => Buffer.from(toStream([FIRST], 'event: x\n\n'.repeat(n / 10))),
  },
  { name: 'empty events', stream: true, build: (n) => Buffer.from(toStream([FIRST], 'data: \n\n'.repeat(n / 8))) },
  {
    name: 'events that end in CRLF',
    stream: true,
    build: (n) => Buffer.from(toStream(fill(n, () => delta('"content":"a"'))).replaceAll('\n', '\r\n')),
  },
  ...[1, 64 * 1024, 8 * 1024 * 1024].map((cut) => ({
    name: `text of one letter each, in reads of ${cut}`,
    stream: true,
    cut,
    build: (n: number) => Buffer.from(toStream(fill(n, () => delta('"content":"a"')))),
  })),
  {
    name: 'one text, in reads of one byte',
    stream: true,
    cut: 1,
    build: (n) => Buffer.from(toStream([delta(`"content":"${letters(n)}"`)])),
  },
  { name: 'an event that never ends', stream: true, build: (n) => Buffer.from(`data: "${letters(n)}`) },
  {
    name: 'white space behind keys',
    stream: true,
    build: (n) => Buffer.from(toStream(fill(n, () => delta(`"content":"a","usage"${' '.repeat(900)}`)))),
  },
];

const message = (fields: string, more = ''): string =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",${fields}},"finish_reason":"stop"${more}}]}`;

const BODIES: readonly (readonly [name: string, body: (bytes: number) => string])[] = [
  ['one text of escapes', (n) => message(`"content":${escapes(n)}`)],
  ['one text', (n) => message(`"content":"${letters(n)}"`)],
  [
    'many calls',
    (n) =>
      message(
        `"tool_calls":${list(fill(n, (at) => `{"id":"c${at}","type":"function","function":{"name":"f","arguments":"{}"}}`))}`,
      ),
  ],
  [
    'calls whose ids differ in a sign',
    (n) =>
      message(
        `"tool_calls":${list(fill(n, (at) => `{"id":"${at % 2 ? `a_${at}` : `a.${at}`}","type":"function","function":{"name":"f","arguments":"{}"}}`))}`,
      ),
  ],
  [
    'a call with arguments of escapes',
    (n) => message(`"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${escapes(n)}}}]`),
  ],
  [
    'a call whose arguments have many keys',
    (n) =>
      message(
        `"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(`{${keys(n * 0.8)}}`)}}}]`,
      ),
  ],
  ['many choices', (n) => `{"id":"c","model":"m","choices":${list(fill(n, () => '{"message":{"content":"a"}}'))}}`],
  ['content in parts', (n) => message(`"content":${list(fill(n, () => '{"type":"text","text":"a"}'))}`)],
  ['citations', (n) => message(`"content":"a","annotations":${list(fill(n, url))}`)],
  [
    'citations of all of a long text',
    (n) =>
      message(
        `"content":"${letters(n / 2)}","annotations":${list(fill(n / 2, (at) => url(at).replace(/"end_index":\d+/, `"end_index":${Math.floor(n / 2)}`)))}`,
      ),
  ],
  [
    'citations of a text that is no ASCII',
    (n) => message(`"content":"${'é'.repeat(n / 4)}","annotations":${list(fill(n / 2, url))}`),
  ],
  ['log probabilities', (n) => message('"content":"a"', `,"logprobs":{"content":${list(fill(n, () => token))}}`)],
  [
    'blocks',
    (n) =>
      message(
        `"content":"a","content_blocks":${list(fill(n, (at) => `{"type":"${at % 2 ? 'text","text' : 'thinking","thinking'}":"a","signature":"b"}`))}`,
      ),
  ],
  ['blocks without a type', (n) => message(`"content":"a","content_blocks":${list(fill(n, (at) => `{"k${at}":1}`))}`)],
  [
    'blocks and parts',
    (n) =>
      message(
        `"content":"a","content_blocks":${list(fill(n / 2, () => '{"type":"text","text":"a"}'))},"content_parts":${list(fill(n / 2, (at) => (at % 2 ? '{"type":"text","text":"a"}' : '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}')))}`,
      ),
  ],
  [
    'pictures',
    (n) =>
      message(
        `"content":"a","content_parts":${list(fill(n, () => '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}'))}`,
      ),
  ],
  [
    'unknown keys of a reply, a choice and a message',
    (n) =>
      `{"id":"c",${keys(n / 3)},"choices":[{"message":{"content":"a",${keys(n / 3)}},${keys(n / 3)},"finish_reason":"stop"}]}`,
  ],
  ['duplicate names', (n) => message(`"content":"a",${sameKeys(n)}`)],
  ['wide and deep', (n) => message(`"content":"a","x":${wide(n)}`)],
  ['a value that nests without end', (n) => message(`"content":"a","x":${deep(n)}`)],
  ['long numbers', (n) => message(`"content":"a","x":${longNumbers(n)}`)],
  [
    'one long number in a long reply',
    (n) => message(`"content":"a","y":12345678901234567,"x":${list(fill(n, () => '1'))}`),
  ],
  [
    'an error with many details',
    (n) => `{"error":{"message":"no","details":${list(fill(n, () => '{"retryDelay":"x"}'))}}}`,
  ],
];

export const OPENAI_SHAPES: readonly ReplyShape[] = [
  ...CHUNKS.map(([name, payloads]) => ({
    name,
    stream: true,
    build: (bytes: number) => Buffer.from(toStream(payloads(bytes))),
  })),
  ...FRAMES,
  ...BODIES.map(([name, body]) => ({ name, stream: false, build: (bytes: number) => Buffer.from(body(bytes)) })),
];
