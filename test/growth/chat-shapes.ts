import { members, nest, repeat, text, type Json } from './repeat.ts';
import { SCHEMAS } from './schema-shapes.ts';

const ASK = { role: 'user', content: 'x' };
const chat = (more: object): Json => ({ model: 'm', max_tokens: 5, messages: [ASK], ...more });
const talk = (messages: readonly unknown[], more: object = {}): Json => chat({ messages, ...more });
const fn = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const call = (id: string, args = '{}', name = 'f') => ({ id, type: 'function', function: { name, arguments: args } });
const result = (id: string, content: unknown = 'r') => ({ role: 'tool', tool_call_id: id, content });
const COMPUTER = fn('computer_use');
const SIGNATURE = 'A'.repeat(400);
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

/** Bodies of POST /v1/chat/completions that are hard on code that searches, copies or joins. */
export const CHAT_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => chat(members(bytes, (at) => [`k${at}`, 1])),
  'top-level keys of dots': (bytes) => chat(members(bytes, (at) => [`${'.'.repeat(40)}[${at}`, 1])),
  'one long key': (bytes) => chat({ [text(bytes, 'a.[')]: 1 }),
  messages: (bytes) => talk(repeat(bytes, () => ASK)),
  'system and user in turn': (bytes) =>
    talk(repeat(bytes, (at) => ({ role: at % 2 === 0 ? 'system' : 'user', content: 'x' }))),
  'user and assistant in turn': (bytes) =>
    talk(repeat(bytes, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'x' }))),
  'names of participants': (bytes) => talk(repeat(bytes, () => ({ ...ASK, name: 'ada' }))),
  'unknown fields of messages': (bytes) => talk(repeat(bytes, (at) => ({ ...ASK, [`x${at}`]: 1 }))),
  'unknown fields of one message': (bytes) => talk([{ ...ASK, ...members(bytes, (at) => [`x${at}`, 1]) }]),
  'unknown fields in groups': (bytes) =>
    talk(repeat(bytes, () => ({ ...ASK, ...members(20_000, (at) => [`x${at}`, 1]) }))),
  'calls and results in turn': (bytes) =>
    talk(
      repeat(bytes, (at) =>
        at % 2 === 0 ? { role: 'assistant', tool_calls: [call(`c${at}`)] } : result(`c${at - 1}`),
      ),
    ),
  'results in order': (bytes) => results(bytes, (calls) => calls),
  'results in reverse order': (bytes) => results(bytes, (calls) => calls.toReversed()),
  'results with signed ids in reverse order': (bytes) =>
    results(bytes, (calls) => calls.toReversed(), `__thought__${SIGNATURE}`),
  'results of no call': (bytes) => talk([ASK, ...repeat(bytes, (at) => ({ ...result(`c${at}`), name: 'f' }))]),
  'one call id for all': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', tool_calls: repeat(bytes / 2, () => call('c')) },
      ...repeat(bytes / 2, () => result('c')),
    ]),
  'call ids that need another form': (bytes) =>
    talk([ASK, { role: 'assistant', tool_calls: repeat(bytes, (at) => call('!'.repeat(1 + (at % 50)) + at)) }]),
  'call ids that fold into one': (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        tool_calls: repeat(bytes, (at) =>
          call(`c${[...at.toString(4).padStart(8, '0')].map((digit) => '!?%&'[Number(digit)]).join('')}`),
        ),
      },
    ]),
  'open actions of computer use': (bytes) =>
    talk(
      [
        ASK,
        { role: 'assistant', tool_calls: repeat(bytes / 2, (at) => call(`c${at}`, '{}', 'click_at')) },
        { role: 'user', content: repeat(bytes / 2, () => ({ type: 'text', text: 'x' })) },
      ],
      { tools: [COMPUTER] },
    ),
  'answered actions of computer use': (bytes) => ({
    ...results(bytes, (calls) => calls.toReversed()),
    tools: [COMPUTER],
  }),
  'long arguments': (bytes) =>
    talk([ASK, { role: 'assistant', tool_calls: [call('c', JSON.stringify(members(bytes, (at) => [`k${at}`, at])))] }]),
  'arguments of long numbers': (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        tool_calls: [
          call(
            'c',
            JSON.stringify({ n: 1 }).replace('1', `[${repeat(bytes, () => '10000000000000000000000').join(',')}]`),
          ),
        ],
      },
    ]),
  'arguments of one long number': (bytes) =>
    talk([ASK, { role: 'assistant', tool_calls: [call('c', `{"n":${'1'.repeat(bytes)}}`)] }]),
  'arguments that are nested': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', tool_calls: repeat(bytes, (at) => call(`c${at}`, `${'['.repeat(200)}${']'.repeat(200)}`)) },
    ]),
  'arguments of brackets': (bytes) =>
    talk([ASK, { role: 'assistant', tool_calls: [call('c', '[]'.repeat(bytes / 2))] }]),
  'results that are objects': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', tool_calls: [call('c')] },
      result('c', JSON.stringify(members(bytes, (at) => [`k${at}`, at]))),
    ]),
  'parts of texts': (bytes) => talk([{ role: 'user', content: repeat(bytes, () => ({ type: 'text', text: 'x' })) }]),
  'unknown parts': (bytes) =>
    talk([{ role: 'user', content: [{ type: 'text', text: 'x' }, ...repeat(bytes, (at) => ({ type: `t${at}` }))] }]),
  'unknown fields of parts': (bytes) =>
    talk([{ role: 'user', content: repeat(bytes, (at) => ({ type: 'text', text: 'x', [`x${at}`]: at })) }]),
  'parts with cache markers': (bytes) =>
    talk([
      {
        role: 'user',
        content: repeat(bytes, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
      },
    ]),
  'parts of results': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', tool_calls: [call('c')] },
      result(
        'c',
        repeat(bytes, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
      ),
    ]),
  'blank texts': (bytes) => talk([{ role: 'user', content: repeat(bytes, () => ({ type: 'text', text: ' ' })) }]),
  pictures: (bytes) =>
    talk([
      {
        role: 'user',
        content: repeat(bytes, () => ({ type: 'image_url', image_url: { url: PIXEL, detail: 'high' } })),
      },
    ]),
  'pictures by address': (bytes) =>
    talk([
      {
        role: 'user',
        content: repeat(bytes, (at) => ({ type: 'image_url', image_url: { url: `https://a.example/${at}.png` } })),
      },
    ]),
  'one long address': (bytes) =>
    talk([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `https://a.example/${text(bytes, 'a/%2E?#')}.png` } }],
      },
    ]),
  'data with many parameters': (bytes) =>
    talk([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;${text(bytes, 'charset=x; ;')};base64,AA==` } },
        ],
      },
    ]),
  'one long picture': (bytes) =>
    talk([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${text(bytes, 'iVBORw0K')}` } }],
      },
    ]),
  files: (bytes) =>
    talk([
      {
        role: 'user',
        content: repeat(bytes, () => ({
          type: 'file',
          file: { file_data: 'data:text/plain,a%20b', filename: 'a.txt' },
        })),
      },
    ]),
  'one long text in percent signs': (bytes) =>
    talk([
      {
        role: 'user',
        content: [{ type: 'file', file: { file_data: `data:text/plain,${text(bytes, '%20')}`, filename: 'a.txt' } }],
      },
    ]),
  'one long text of escapes': (bytes) => talk([{ role: 'user', content: '\\"\n\u0001'.repeat(bytes / 12) }]),
  'one long text of white space': (bytes) =>
    talk([
      { role: 'user', content: ' '.repeat(bytes) },
      { role: 'assistant', content: `x${' '.repeat(100)}` },
    ]),
  'one long answer that ends in white space': (bytes) =>
    talk([ASK, { role: 'assistant', content: `x${' '.repeat(bytes)}y ` }]),
  thoughts: (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        content_blocks: repeat(bytes, (at) => ({ type: 'thinking', thinking: `t${at}`, signature: SIGNATURE })),
      },
    ]),
  'unsigned thoughts': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', content_blocks: repeat(bytes, (at) => ({ type: 'thinking', thinking: `t${at}` })) },
    ]),
  'fragments of one block': (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        content_blocks: repeat(bytes, () => ({ index: 0, delta: { text: 'x', citations: [{ a: 1 }] } })),
      },
    ]),
  'fragments of many blocks': (bytes) =>
    talk([
      ASK,
      { role: 'assistant', content_blocks: repeat(bytes, (at) => ({ index: at, delta: { thinking: 'x' } })) },
    ]),
  'blocks and parts together': (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        content_blocks: repeat(bytes / 2, () => ({ type: 'text', text: 'x' })),
        content_parts: repeat(bytes / 2, (at) =>
          at % 2 === 0 ? { type: 'image_url', image_url: { url: PIXEL } } : { type: 'text', text: 'x' },
        ),
      },
    ]),
  'calls in blocks': (bytes) =>
    talk([
      ASK,
      {
        role: 'assistant',
        content_blocks: repeat(bytes, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
      },
    ]),
  'deprecated calls': (bytes) =>
    talk(
      repeat(bytes, (at) =>
        at % 2 === 0
          ? { role: 'assistant', function_call: { name: `f${at % 10}`, arguments: '{}' } }
          : { role: 'function', name: `f${(at - 1) % 10}`, content: 'r' },
      ),
    ),
  refusals: (bytes) => talk(repeat(bytes, () => ({ role: 'assistant', refusal: 'no', content: 'x' }))),
  tools: (bytes) => chat({ tools: repeat(bytes, (at) => fn(`f${at}`)) }),
  'tools of one name': (bytes) => chat({ tools: repeat(bytes, () => fn('f')) }),
  'custom tools': (bytes) =>
    chat({
      tools: repeat(bytes, (at) => ({ type: 'custom', custom: { name: `f${at}`, format: { type: 'grammar' } } })),
    }),
  'tools of the provider': (bytes) => chat({ tools: repeat(bytes, (at) => ({ type: 'web_search', [`x${at}`]: 1 })) }),
  'tools with unknown fields': (bytes) => chat({ tools: repeat(bytes, (at) => ({ ...fn(`f${at}`), x: 1 })) }),
  'strict tools': (bytes) =>
    chat({
      tools: repeat(bytes, (at) =>
        fn(`f${at}`, {
          strict: true,
          parameters: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
        }),
      ),
    }),
  'tools that are allowed': (bytes) => allowed(bytes, (names) => names),
  'tools that are allowed in reverse order': (bytes) => allowed(bytes, (names) => names.toReversed()),
  'tools that are allowed and not there': (bytes) => allowed(bytes, (names) => names.map((name) => `${name}x`)),
  'tools with their schemas': (bytes) =>
    chat({
      tools: repeat(bytes, (at) =>
        fn(`f${at}`, {
          parameters: {
            type: 'object',
            properties: {
              a: { allOf: [{ $ref: '#/$defs/d' }, { title: 't' }] },
              b: { allOf: [{ $ref: '#/$defs/d' }, { title: 't' }] },
            },
            $defs: { d: { properties: { c: { allOf: [{ $ref: '#/$defs/d' }, { title: 't' }] } } } },
          },
        }),
      ),
    }),
  'stop sequences': (bytes) => chat({ stop: repeat(bytes, (at) => `s${at}`) }),
  modalities: (bytes) => chat({ modalities: repeat(bytes, () => 'text') }),
  metadata: (bytes) => chat({ metadata: members(bytes, (at) => [`k${at}`, 'v']) }),
  labels: (bytes) => chat({ labels: members(bytes, (at) => [`k${at}`, 'v']) }),
  'one long label': (bytes) => chat({ labels: { [text(bytes, 'a.')]: 'v' } }),
  'log bias': (bytes) => chat({ logit_bias: members(bytes, (at) => [String(at), 1]) }),
  'options of web search': (bytes) => chat({ web_search_options: members(bytes, (at) => [`k${at}`, 1]) }),
  betas: (bytes) => chat({ anthropic_beta: repeat(bytes, (at) => `b${at}`) }),
  'options of sound': (bytes) =>
    chat({ modalities: ['audio'], audio: { voice: 'v', format: 'pcm16', ...members(bytes, (at) => [`k${at}`, 1]) } }),
  'unknown fields of options': (bytes) =>
    chat({ response_format: { type: 'text', ...members(bytes, (at) => [`k${at}`, 1]) } }),
  numbers: (bytes) => chat({ x: repeat(bytes, (at) => at + 0.5) }),
  'long numbers': (bytes) => chat({ x: repeat(bytes, () => 1e300) }),
  'nested lists': (bytes) => chat({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
  'nested objects': (bytes) => chat({ x: repeat(bytes, () => nest(55, (inner) => ({ a: inner }), 1)) }),
  'a last message that is wrong': (bytes) => talk([...repeat(bytes, () => ASK), { role: 'nobody', content: 'x' }]),
  'a last call that is wrong': (bytes) =>
    talk([ASK, { role: 'assistant', tool_calls: [...repeat(bytes, (at) => call(`c${at}`)), call('last', '{')] }]),
  'a last result that nothing names': (bytes) => talk([...repeat(bytes, () => ASK), result('none')]),
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a tool and an answer with ${name}`,
      (bytes: number) =>
        chat({
          tools: [fn('f', { strict: true, parameters: schema(bytes / 2) })],
          response_format: { type: 'json_schema', json_schema: { name: 'a', schema: schema(bytes / 2) } },
        }),
    ]),
  ),
};

/** Calls of one turn, and the results of all of them. */
function results(bytes: number, order: (ids: readonly string[]) => readonly string[], suffix = ''): Json {
  const ids = repeat(bytes / (suffix === '' ? 3 : 2.2), (at) => `c${at}${suffix}`.padEnd(suffix === '' ? 24 : 0));
  const calls = ids.map((id) => call(id));
  return talk([ASK, { role: 'assistant', tool_calls: calls }, ...order(ids).map((id) => result(id))]);
}

function allowed(bytes: number, chosen: (names: readonly string[]) => readonly string[]): Json {
  const names = repeat(bytes / 8, (at) => `f${at}`);
  const tools = chosen(names).map((name) => ({ type: 'function', function: { name } }));
  return chat({
    tools: names.map((name) => fn(name)),
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } },
  });
}
