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

const named = (payload: string): string =>
  `event: ${/^\{"type":"([a-z_]+)"/.exec(payload)?.[1] ?? 'x'}\ndata: ${payload}\n\n`;
const start = (message = ''): string =>
  `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1},"model":"c"${message}}}`;
const open = (index: number, block: string): string =>
  `{"type":"content_block_start","index":${index},"content_block":{${block}}}`;
const piece = (index: number, delta: string): string =>
  `{"type":"content_block_delta","index":${index},"delta":{${delta}}}`;
const close = (index: number): string => `{"type":"content_block_stop","index":${index}}`;
const late = (delta: string, usage: string): string => `{"type":"message_delta","delta":{${delta}},"usage":{${usage}}}`;
const END = late('"stop_reason":"end_turn"', '"output_tokens":1');
const STOP = '{"type":"message_stop"}';

const TEXT = '"type":"text","text":""';
const tool = (at: number): string => `"type":"tool_use","id":"t${at}","name":"f","input":{}`;
const text = (words: string): string => `"type":"text_delta","text":${words}`;
const json = (words: string): string => `"type":"input_json_delta","partial_json":${words}`;
const cited = (at: number): string =>
  `{"type":"web_search_result_location","url":"https://e.org/${at}","title":"t","cited_text":"c","encrypted_index":"e"}`;

/** Events behind `message_start`, which is given where it is another. */
const EVENTS: readonly (readonly [name: string, payloads: Payloads, first?: (bytes: number) => string])[] = [
  ['text of one letter each', (n) => [open(0, TEXT), ...fill(n, () => piece(0, text('"a"')))]],
  ['one text of escapes', (n) => [open(0, TEXT), piece(0, text(escapes(n)))]],
  [
    'a block for each letter',
    (n) =>
      fill(
        n,
        (at) =>
          [open(Math.floor(at / 3), TEXT), piece(Math.floor(at / 3), text('"a"')), close(Math.floor(at / 3))][at % 3]!,
      ),
  ],
  ['blocks that are all open', (n) => fill(n, (at) => open(at, TEXT))],
  [
    'blocks that are all open, fed from the last',
    (n) => {
      const blocks = fill(n / 2, (at) => open(at, TEXT));
      return [...blocks, ...fill(n / 2, (at) => piece(blocks.length - 1 - (at % blocks.length), text('"a"')))];
    },
  ],
  ['pieces of unopened blocks', (n) => fill(n, (at) => piece(at, text('"a"')))],
  ['ends of unopened blocks', (n) => [open(0, TEXT), ...fill(n, (at) => close(at))]],
  ['arguments of one byte each', (n) => [open(0, tool(0)), ...fill(n, () => piece(0, json('"1"')))]],
  [
    'calls in turn, a byte each',
    (n) =>
      fill(
        n,
        (at) =>
          [open(at >> 2, tool(at >> 2)), piece(at >> 2, json('"{"')), piece(at >> 2, json('"}"')), close(at >> 2)][
            at % 4
          ]!,
      ),
  ],
  [
    'calls that are all open, fed from the last',
    (n) => {
      const calls = fill(n / 2, (at) => open(at, tool(at)));
      return [...calls, ...fill(n / 2, (at) => piece(calls.length - 1 - (at % calls.length), json('"1"')))];
    },
  ],
  [
    'arguments of braces in a string, beside a call that waits',
    (n) => [
      open(0, tool(0)),
      piece(0, json(String.raw`"{\"a\":\""`)),
      open(1, tool(1)),
      ...fill(n, () => piece(0, json('"}"'))),
    ],
  ],
  [
    'texts and arguments in turn',
    (n) => [open(0, tool(0)), open(1, TEXT), ...fill(n, (at) => piece(at % 2, at % 2 ? text('"a"') : json('" "')))],
  ],
  [
    'thinking of one letter each',
    (n) => [
      open(0, '"type":"thinking","thinking":""'),
      ...fill(n, () => piece(0, '"type":"thinking_delta","thinking":"a"')),
    ],
  ],
  [
    'signatures',
    (n) => [
      open(0, '"type":"thinking","thinking":"a"'),
      ...fill(n, () => piece(0, '"type":"signature_delta","signature":"c2ln"')),
    ],
  ],
  ['signed blocks', (n) => fill(n, (at) => open(at, '"type":"thinking","thinking":"a","signature":"c2ln"'))],
  ['redacted blocks', (n) => fill(n, (at) => open(at, '"type":"redacted_thinking","data":"AAAA"'))],
  [
    'citations, one each',
    (n) => [
      open(0, TEXT),
      piece(0, text('"a"')),
      ...fill(n, (at) => piece(0, `"type":"citations_delta","citation":${cited(at)}`)),
    ],
  ],
  ['citations in one block', (n) => [open(0, `"type":"text","text":"a","citations":${list(fill(n, cited))}`)]],
  [
    'usage with a new key in each event',
    (n) => [open(0, TEXT), ...fill(n, (at) => late('', `"output_tokens":1,"k${at}":1`))],
  ],
  ['usage with many keys', (n) => [open(0, TEXT), late('', `"output_tokens":1,${keys(n)}`)]],
  [
    'usage with many runs',
    (n) => [
      open(0, TEXT),
      late(
        '',
        `"output_tokens":1,"iterations":${list(fill(n, (at) => `{"type":"${at ? 'message' : 'compaction'}","input_tokens":1}`))}`,
      ),
    ],
  ],
  [
    'usage, after many runs',
    (n) => [
      open(0, TEXT),
      late(
        '',
        `"iterations":${list(fill(n / 2, (at) => `{"type":"${at ? 'message' : 'compaction'}","input_tokens":1}`))}`,
      ),
      ...fill(n / 2, () => late('', '"output_tokens":1')),
    ],
  ],
  [
    'a server tool, fed a byte each',
    (n) => [
      open(0, '"type":"server_tool_use","id":"s","name":"w","input":{}'),
      ...fill(n, () => piece(0, json('"1"'))),
    ],
  ],
  [
    'a block of another kind with a new key in each piece',
    (n) => [open(0, '"type":"other"'), ...fill(n, (at) => piece(0, `"type":"other_delta","k${at}":1`))],
  ],
  [
    'a block of another kind whose text grows',
    (n) => [open(0, '"type":"other","words":""'), ...fill(n, () => piece(0, '"type":"other_delta","words":"a"'))],
  ],
  ['blocks of other kinds', (n) => fill(n, (at) => open(at, '"type":"other","x":1'))],
  ['blocks with unknown keys', (n) => [open(0, `"type":"text","text":"a",${keys(n)}`)]],
  ['calls with unknown keys', (n) => fill(n, (at) => open(at, `${tool(at)},"k${at}":1`))],
  [
    'calls of an MCP server, and then their results',
    (n) => [
      ...fill(n / 2, (at) => open(at, `"type":"mcp_tool_use","id":"m${at}","name":"f","server_name":"s","input":{}`)),
      ...fill(n / 2, (at) => open(at, `"type":"mcp_tool_result","tool_use_id":"m${at}","content":"r"`)),
    ],
  ],
  [
    'a call of an MCP server, fed a byte each',
    (n) => [
      open(0, '"type":"mcp_tool_use","id":"m","name":"f","server_name":"s","input":{}'),
      ...fill(n, () => piece(0, json('"1"'))),
    ],
  ],
  ['pings', (n) => [open(0, TEXT), ...fill(n, () => '{"type":"ping"}')]],
  ['events of other names', (n) => [open(0, TEXT), ...fill(n, () => '{"type":"vertex_event"}')]],
  [
    'a message that begins with blocks',
    () => [],
    (n) => start().replace('"content":[]', `"content":${list(fill(n, () => '{"type":"text","text":"a"}'))}`),
  ],
  [
    'a long model name',
    (n) => [open(0, TEXT), ...fill(n / 2, () => piece(0, text('"a"')))],
    (n) => start(`,"model":"${letters(n / 2)}"`),
  ],
  [
    'a long id',
    (n) => [open(0, TEXT), ...fill(n / 2, () => piece(0, text('"a"')))],
    (n) => start(`,"id":"${letters(n / 2)}"`),
  ],
  [
    'a long id of a call',
    (n) => [
      open(0, `"type":"tool_use","id":"${letters(n / 2)}","name":"f","input":{}`),
      ...fill(n / 2, () => piece(0, json('"1"'))),
    ],
  ],
  ['unknown keys of the message', () => [open(0, TEXT)], (n) => start(`,${keys(n)}`)],
  ['duplicate names', (n) => [open(0, TEXT), piece(0, `${text('"a"')},${sameKeys(n)}`)]],
  ['wide and deep', (n) => [open(0, `"type":"other","x":${wide(n)}`)]],
  ['a value that nests without end', (n) => [open(0, `"type":"tool_use","id":"t","name":"f","input":${deep(n)}`)]],
  ['long numbers', (n) => [open(0, `"type":"tool_use","id":"t","name":"f","input":{"x":${longNumbers(n)}}`)]],
  [
    'a container, again and again',
    (n) => [open(0, TEXT), ...fill(n, (at) => late(`"container":{"id":"c${at}"}`, '"output_tokens":1'))],
  ],
];

const toStream = (payloads: readonly string[], first = start(), between = ''): string =>
  [first, ...payloads, close(0), END, STOP].map(named).join(between);

const TINY = (n: number): string => toStream([open(0, TEXT), ...fill(n, () => piece(0, text('"a"')))]);

const FRAMES: readonly ReplyShape[] = [
  {
    // Short events: as many open blocks, and pieces for them, as fit.
    name: 'blocks that are all open, fed from the last, in events without names',
    stream: true,
    build: (n) => {
      const blocks = fill(n / 2, (at) => open(at, '"type":"text"'));
      const pieces = fill(n / 2, (at) => piece(blocks.length - 1 - (at % blocks.length), text('"a"')));
      return Buffer.from([start(), ...blocks, ...pieces, END, STOP].map((event) => `data: ${event}\n\n`).join(''));
    },
  },
  { name: 'events that end in CRLF', stream: true, build: (n) => Buffer.from(TINY(n).replaceAll('\n', '\r\n')) },
  {
    name: 'one return among line feeds',
    stream: true,
    build: (n) => Buffer.from(TINY(n).replace('\n\n', '\r\n\r\n')),
    cut: 8 * 1024 * 1024,
  },
  { name: 'events without names', stream: true, build: (n) => Buffer.from(TINY(n).replaceAll(/event: .*\n/g, '')) },
  {
    name: 'comments',
    stream: true,
    build: (n) => Buffer.from(toStream([open(0, TEXT)], start(), ': c\n'.repeat(n / 16))),
  },
  {
    name: 'blank lines',
    stream: true,
    build: (n) => Buffer.from(toStream([open(0, TEXT)], start(), '\n'.repeat(n / 4))),
  },
  {
    name: 'events without data',
    stream: true,
    build: (n) => Buffer.from(toStream([open(0, TEXT)], start(), 'event: ping\n\n'.repeat(n / 52))),
  },
  {
    name: 'one event on many lines',
    stream: true,
    build: (n) => Buffer.from(toStream([open(0, `${TEXT},${keys(n)}`)]).replaceAll(',"k', ',\ndata: "k')),
  },
  ...[1, 64 * 1024, 8 * 1024 * 1024].map((cut) => ({
    name: `text of one letter each, in reads of ${cut}`,
    stream: true,
    cut,
    build: (n: number) => Buffer.from(TINY(n)),
  })),
  {
    name: 'one text, in reads of one byte',
    stream: true,
    cut: 1,
    build: (n) => Buffer.from(toStream([open(0, TEXT), piece(0, text(`"${letters(n)}"`))])),
  },
];

const message = (content: string, more = ''): string =>
  `{"id":"m","type":"message","role":"assistant","model":"c","content":${content},"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}${more}}`;

const BODIES: readonly (readonly [name: string, body: (bytes: number) => string])[] = [
  ['one text of escapes', (n) => message(`[{"type":"text","text":${escapes(n)}}]`)],
  ['many texts', (n) => message(list(fill(n, () => '{"type":"text","text":"a"}')))],
  ['many calls', (n) => message(list(fill(n, (at) => `{${tool(at)}}`)))],
  ['a call with many keys', (n) => message(`[{"type":"tool_use","id":"t","name":"f","input":{${keys(n)}}}]`)],
  ['signed thoughts', (n) => message(list(fill(n, () => '{"type":"thinking","thinking":"a","signature":"c2ln"}')))],
  ['empty thoughts', (n) => message(list(fill(n, () => '{"type":"thinking","thinking":""}')))],
  ['blocks of other kinds', (n) => message(list(fill(n, () => '{"type":"web_search_tool_result","content":[]}')))],
  ['citations', (n) => message(`[{"type":"text","text":"a","citations":${list(fill(n, cited))}}]`)],
  [
    'a citation for each of many texts',
    (n) => message(list(fill(n, (at) => `{"type":"text","text":"a","citations":[${cited(at)}]}`))),
  ],
  [
    'citations of all of a long text',
    (n) => message(`[{"type":"text","text":"${letters(n / 2)}","citations":${list(fill(n / 2, cited))}}]`),
  ],
  [
    'usage with many runs',
    (n) =>
      message(
        '[]',
        `,"usage":{"input_tokens":1,"iterations":${list(fill(n, (at) => `{"type":"${at ? 'message' : 'compaction'}","input_tokens":1}`))}}`,
      ),
  ],
  [
    'unknown keys of a message and a block',
    (n) => message(`[{"type":"text","text":"a",${keys(n / 2)}}]`, `,${keys(n / 2)}`),
  ],
  ['wide and deep', (n) => message(`[{"type":"tool_use","id":"t","name":"f","input":{"x":${wide(n)}}}]`)],
  ['a value that nests without end', (n) => message(`[{"type":"tool_use","id":"t","name":"f","input":${deep(n)}}]`)],
  ['long numbers', (n) => message(`[{"type":"tool_use","id":"t","name":"f","input":{"x":${longNumbers(n)}}}]`)],
];

export const ANTHROPIC_SHAPES: readonly ReplyShape[] = [
  ...EVENTS.map(([name, payloads, first]) => ({
    name,
    stream: true,
    build: (bytes: number) => Buffer.from(toStream(payloads(bytes), first?.(bytes))),
  })),
  ...FRAMES,
  ...BODIES.map(([name, body]) => ({ name, stream: false, build: (bytes: number) => Buffer.from(body(bytes)) })),
];
