import { deep, escapes, fill, keys, list, sameKeys, wide, type ReplyShape } from './replies-build.ts';

const named = (payload: string): string =>
  `event: ${/^\{"type":"([a-z_.]+)"/.exec(payload)?.[1] ?? 'x'}\ndata: ${payload}\n\n`;
const event = (name: string, fields: string): string => `{"type":"response.${name}",${fields}}`;
const CREATED = event('created', '"response":{"id":"resp_1","object":"response","model":"m","output":[]}');
const COMPLETED = event(
  'completed',
  '"response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}',
);
const added = (at: number, item: string): string => event('output_item.added', `"output_index":${at},"item":{${item}}`);
const done = (at: number, item: string): string => event('output_item.done', `"output_index":${at},"item":{${item}}`);
const MESSAGE = '"type":"message","role":"assistant","content":[]';
const call = (at: number): string => `"type":"function_call","call_id":"c${at}","name":"f","arguments":""`;
const text = (at: number, part: number, words: string): string =>
  event('output_text.delta', `"output_index":${at},"content_index":${part},"delta":${words}`);
const args = (at: number, words: string): string =>
  event('function_call_arguments.delta', `"output_index":${at},"delta":${words}`);
const thought = (at: number, part: number): string =>
  event('reasoning_summary_text.delta', `"output_index":${at},"summary_index":${part},"delta":"a"`);
const annotation = (at: number): string =>
  event(
    'output_text.annotation.added',
    `"output_index":0,"annotation":{"type":"url_citation","url":"https://e.org/${at}","title":"t","start_index":0,"end_index":1}`,
  );

const EVENTS: readonly (readonly [string, (bytes: number) => readonly string[]])[] = [
  ['text of one letter each', (n) => [added(0, MESSAGE), ...fill(n, () => text(0, 0, '"a"'))]],
  ['one text of escapes', (n) => [added(0, MESSAGE), text(0, 0, escapes(n))]],
  ['a part for each letter', (n) => [added(0, MESSAGE), ...fill(n, (at) => text(0, at, '"a"'))]],
  ['an item for each letter', (n) => fill(n, (at) => text(at, 0, '"a"'))],
  ['items that are all open', (n) => fill(n, (at) => added(at, MESSAGE))],
  ['ends of unopened items', (n) => fill(n, (at) => done(at, MESSAGE))],
  ['calls', (n) => fill(n, (at) => (at % 2 === 0 ? added(at >> 1, call(at)) : args(at >> 1, '"{}"')))],
  ['arguments of one byte each', (n) => [added(0, call(0)), ...fill(n, () => args(0, '"1"'))]],
  [
    'texts and free text in turn',
    (n) => [
      added(0, call(0).replace('function_call', 'custom_tool_call')),
      ...fill(n, (at) =>
        at % 2 ? text(1, 0, '"a"') : event('custom_tool_call_input.delta', '"output_index":0,"delta":"{}"'),
      ),
    ],
  ],
  ['arguments of unopened calls', (n) => fill(n, (at) => args(at, '"1"'))],
  ['thoughts of one letter each', (n) => fill(n, () => thought(0, 0))],
  ['a summary part for each letter', (n) => fill(n, (at) => thought(0, at))],
  ['signed thoughts', (n) => fill(n, (at) => done(at, '"type":"reasoning","summary":[],"encrypted_content":"gAAAA"'))],
  ['annotations', (n) => [text(0, 0, '"a"'), ...fill(n, annotation)]],
  ['unknown items', (n) => fill(n, (at) => done(at, `"type":"t${at}_call"`))],
  ['unknown events', (n) => fill(n, (at) => event(`x${at}`, '"a":1'))],
  ['keys of one item', (n) => [done(0, `"type":"x_call",${keys(n)}`)]],
  ['the same key of one item', (n) => [done(0, `"type":"x_call",${sameKeys(n)}`)]],
  [
    'calls of MCP servers',
    (n) => fill(n, (at) => done(at, `"type":"mcp_call","id":"mcp_${at}","server_label":"s","name":"f","output":"r"`)),
  ],
  ['a deep item', (n) => [done(0, `"type":"x_call","a":${deep(n)}`)]],
  ['a wide item', (n) => [done(0, `"type":"x_call","a":${wide(n)}`)]],
];

const BODIES: readonly (readonly [string, (bytes: number) => string])[] = [
  [
    'items of one letter',
    (n) => list(fill(n, () => '{"type":"message","content":[{"type":"output_text","text":"a"}]}')),
  ],
  [
    'parts of one letter',
    (n) => `[{"type":"message","content":${list(fill(n, () => '{"type":"output_text","text":"a"}'))}}]`,
  ],
  ['calls', (n) => list(fill(n, (at) => `{"type":"function_call","call_id":"c${at}","name":"f","arguments":"{}"}`))],
  ['reasoning', (n) => list(fill(n, () => '{"type":"reasoning","summary":[{"text":"a"}],"encrypted_content":"g"}'))],
  ['unknown items', (n) => list(fill(n, (at) => `{"type":"t${at}"}`))],
];

const body = (output: string): string =>
  `{"id":"resp_1","object":"response","status":"completed","model":"m","output":${output},"usage":{"input_tokens":1,"output_tokens":1}}`;

/** Hostile replies of a server of the Responses API. */
export const RESPONSES_REPLIES: readonly ReplyShape[] = [
  ...EVENTS.map(([name, payloads]): ReplyShape => ({
    name: `a stream of ${name}`,
    stream: true,
    build: (bytes) => Buffer.from([CREATED, ...payloads(bytes), COMPLETED].map(named).join('')),
  })),
  ...BODIES.map(([name, output]): ReplyShape => ({
    name: `a body of ${name}`,
    stream: false,
    build: (bytes) => Buffer.from(body(output(bytes))),
  })),
];
