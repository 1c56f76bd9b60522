import { describe, expect, it } from 'vitest';
import type { Conversation, FormatName, JsonObject } from '../conversation.ts';
import { writeEnvelope } from '../envelope.ts';
import { RequestFault } from '../faults.ts';
import { formats } from '../index.ts';
import { clientContext, deepFreeze, replyContext, requestTarget, replyWith } from '../contexts.testkit.ts';
import { toEvents } from '../generations.testkit.ts';
import { finish } from '../steps.ts';
import { translateRequest } from '../translate.ts';
import { eventsOf } from './sdk.testkit.ts';

const responses = formats['openai-responses'];
const decode = (body: JsonObject): Conversation => responses.decodeRequest(deepFreeze({ model: 'm', ...body }));

const MODELS: Readonly<Partial<Record<FormatName, string>>> = {
  'openai-chat': 'gpt-5',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-pro',
};
function sent(
  upstream: FormatName,
  body: JsonObject,
  client: FormatName = 'openai-responses',
  model = MODELS[upstream] ?? 'gpt-5.4',
) {
  return finish(
    translateRequest(deepFreeze({ model: 'm', ...body }), {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model, strict: false }),
      reply: replyContext(),
    }),
  );
}
const faultOf = (work: () => unknown): RequestFault => {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

const user = (content: unknown) => ({ role: 'user', content });
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'done' };
const signed = (encrypted_content: string) => ({ type: 'reasoning', summary: [], encrypted_content });
const claude = writeEnvelope({ kind: 'thinking', maker: 'claude', signature: 'c2ln', text: 'Hm.' });
const gemini = writeEnvelope({ kind: 'signature', maker: 'gemini', signature: 'Z2Vt', of: 'call' });

describe('the items of a request', () => {
  it('become turns: a run of the assistant is one, and so is a run of outputs', () => {
    const { turns } = decode({
      instructions: 'Be brief.',
      input: [
        user('Hi'),
        { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'Wait.' }] },
        call,
        { ...call, call_id: 'c2', namespace: 'ns' },
        output,
        { ...output, call_id: 'c2', output: [{ type: 'input_text', text: 'x' }] },
        { role: 'developer', content: 'Go on.' },
      ],
    });
    expect(turns).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Wait.', phase: 'commentary' },
          { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}' },
          { type: 'tool_call', id: 'c2', name: 'f', namespace: 'ns', arguments: '{"a":1}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          { type: 'tool_result', callId: 'c1', content: [{ type: 'text', text: 'done' }] },
          { type: 'tool_result', callId: 'c2', content: [{ type: 'text', text: 'x' }] },
        ],
      },
      { role: 'system', parts: [{ type: 'text', text: 'Go on.' }] },
    ]);
  });

  it.each<[string, unknown[], string]>([
    ['an output without its call', [user('Hi'), output], 'input[1].call_id'],
    ['a call without an output before the next message', [call, user('Hi')], 'input[0]'],
    [
      'a call without an output before the next turn of the assistant',
      [call, { ...call, call_id: 'c2' }, output, { role: 'assistant', content: 'Well.' }, { ...output, call_id: 'c2' }],
      'input[1]',
    ],
    [
      'a call without an output before the output of a shell',
      [call, { type: 'local_shell_call_output', id: 's1', output: 'x' }],
      'input[0]',
    ],
    ['a reference to an item that is not kept', [{ type: 'item_reference', id: 'msg_1' }], 'input[0].id'],
    ['a reference without a type', [{ id: 'msg_1' }], 'input[0].id'],
    ['a compaction of another provider', [{ type: 'compaction', encrypted_content: 'gAAA' }], 'input[0]'],
    ['a trigger of a compaction before another item', [{ type: 'compaction_trigger' }, user('Hi')], 'input[0]'],
    ['an unknown role', [{ role: 'critic', content: 'x' }], 'input[0].role'],
    [
      'an image that is no address',
      [user([{ type: 'input_image', image_url: 'cat' }])],
      'input[0].content[0].image_url',
    ],
  ])('are refused with their place: %s', (_, input, param) => {
    expect(faultOf(() => decode({ input })).param).toBe(param);
  });

  const shell = { type: 'local_shell_call', id: 's', call_id: 's1', action: { type: 'exec', command: ['ls'] } };
  const files = { type: 'local_shell_call_output', id: 's1', output: 'FILES' };

  it.each<[string, JsonObject, JsonObject, string, string]>([
    ['a local shell', shell, files, '[Call of the tool local_shell: {"type":"exec","command":["ls"]}]', 'FILES'],
    [
      'a shell',
      { type: 'shell_call', call_id: 's1', action: { commands: ['ls'] } },
      { type: 'shell_call_output', call_id: 's1', output: [{ stdout: 'FILES' }] },
      '[Call of the tool shell: {"commands":["ls"]}]',
      '[{"stdout":"FILES"}]',
    ],
    [
      'a patch that failed',
      { type: 'apply_patch_call', call_id: 's1', operation: { type: 'delete_file', path: 'p' } },
      { type: 'apply_patch_call_output', call_id: 's1', status: 'failed', output: 'no p' },
      '[Call of the tool apply_patch: {"type":"delete_file","path":"p"}]',
      'no p',
    ],
  ])('of tools that the client runs are text for other APIs: %s', (_, called, result, callText, resultText) => {
    const input = [user('q'), called, result];
    const { body, losses } = sent('openai-chat', { input });
    expect(body.messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: callText },
      { role: 'user', content: expect.stringMatching(/^\[Result of the tool \w+( \(failed\))?:\]\n/) },
    ]);
    expect(JSON.stringify(body.messages)).toContain(JSON.stringify(resultText).slice(1, -1));
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual([
      'downgraded input[1]',
      'downgraded input[2]',
    ]);
    for (const upstream of ['anthropic-messages', 'gemini'] as const)
      expect(JSON.stringify(sent(upstream, { input, max_output_tokens: 100 }).body)).toContain('[Result of the tool');
  });

  it('of tools that the client runs follow the results of other calls', () => {
    const { body } = sent('openai-chat', { input: [user('q'), call, shell, files, output, user('Go on.')] });
    expect((body.messages as JsonObject[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'user',
    ]);
  });

  it.each<FormatName>(['openai-chat', 'anthropic-messages', 'gemini'])(
    'that %s cannot have make no empty message',
    (upstream) => {
      const foreign = { type: 'file_search_call', id: 'f', queries: ['q'], status: 'completed' };
      const input = [user('q'), signed('gAAAA'), user('q2'), foreign, user('q3')];
      const { body, losses } = sent(upstream, { input, max_output_tokens: 100 });
      const messages = (body.messages ?? body.contents) as JsonObject[];
      expect(messages.every(({ role }) => role === 'user')).toBe(true);
      expect(losses.map(({ param }) => param)).toEqual(['input[1]', 'input[3]']);
    },
  );

  it('change the configuration of the request: the last one holds, and an earlier one is reported', () => {
    const update = (of: JsonObject) => ({ type: 'configuration_update', ...of });
    const { reasoning, verbosity, unread } = decode({
      reasoning: { effort: 'high', summary: 'auto' },
      input: [
        update({ reasoning: { effort: 'low' }, text: { verbosity: 'low' } }),
        user('Hi'),
        update({ reasoning: { effort: 'medium' } }),
      ],
    });
    expect(reasoning).toEqual({ effort: 'medium', summary: true });
    expect(verbosity).toBe('low');
    expect(unread?.map(({ action, param }) => `${action} ${param}`)).toEqual(['dropped input[0].reasoning']);
  });

  it.each(['background', 'conversation', 'prompt'])('cannot need what only their own API keeps: %s', (field) => {
    expect(faultOf(() => sent('gemini', { input: 'x', [field]: field === 'background' ? true : 'x' }))).toMatchObject({
      code: 'unsupported_parameter',
      param: field,
    });
  });
});

describe('a wish for summaries without an effort', () => {
  const asked = (upstream: FormatName, model: string, reasoning: JsonObject = { summary: 'auto' }) =>
    sent(upstream, { input: 'x', max_output_tokens: 100, reasoning }, 'openai-responses', model);

  it.each<[string, FormatName, string, unknown]>([
    ['shows the thoughts of a Gemini that thinks by default', 'gemini', 'gemini-3-pro', { includeThoughts: true }],
    ['turns no thinking on at a Gemini that does not', 'gemini', 'gemini-2.5-flash-lite', undefined],
    ['is nothing to a Gemini that cannot think', 'gemini', 'gemini-2.0-flash', undefined],
    [
      'shows the thoughts of a Claude that always thinks',
      'anthropic-messages',
      'claude-fable-5',
      { type: 'adaptive', display: 'summarized' },
    ],
    ['turns no thinking on at any other Claude', 'anthropic-messages', 'claude-opus-5', undefined],
  ])('%s', (_, upstream, model, expected) => {
    const { body, losses } = asked(upstream, model);
    const config = body.generationConfig as JsonObject | undefined;
    expect(upstream === 'gemini' ? config?.thinkingConfig : body.thinking).toEqual(expected);
    expect(losses).toEqual([]);
  });

  it('is the older `generate_summary` too', () => {
    expect(decode({ input: 'x', reasoning: { generate_summary: 'concise' } }).reasoning).toEqual({ summary: true });
  });
});

describe('signatures', () => {
  const turns = [user('Hi'), signed(claude), signed(gemini), call, output];

  it('of Claude reach Claude, and those of Gemini do not', () => {
    const { body, losses } = sent('anthropic-messages', { input: turns, max_output_tokens: 100 });
    expect(body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, { type: 'tool_use' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
    ]);
    expect(JSON.stringify(body)).not.toContain('Z2Vt');
    expect(losses.map(({ param }) => param)).toContain('input[3]');
  });

  it('of Gemini reach Gemini, and those of Claude do not', () => {
    const { body } = sent('gemini', { input: turns });
    expect(JSON.stringify(body)).toContain('"thoughtSignature":"Z2Vt"');
    expect(JSON.stringify(body)).not.toContain('c2ln');
  });

  it('of no other maker reach OpenAI, in a body that passes through', () => {
    const input = [...turns.slice(0, 2), signed('gAAAA-of-openai'), ...turns.slice(2)];
    const text = JSON.stringify({ input });
    const cleaning = responses.passThrough!.clean(
      {
        has: (key) => key === 'input',
        value: () => input,
        contains: (part) => text.includes(part),
        mayMatch: () => true,
      },
      requestTarget(),
    );
    expect(cleaning?.edits).toMatchObject([
      { path: ['input'], value: [user('Hi'), signed('gAAAA-of-openai'), call, output] },
    ]);
    expect(cleaning?.losses.map(({ param }) => param)).toEqual(['input[1]', 'input[3]']);
  });

  it('of OpenAI go from its reply to a Messages client and back', () => {
    const events = responses.decodeReply(
      {
        id: 'resp_1',
        status: 'completed',
        output: [
          { ...signed('gAAAA'), summary: [{ type: 'summary_text', text: 'Well.' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] },
        ],
      },
      replyContext(),
    );
    const { content } = replyWith(formats['anthropic-messages'], events, clientContext({ strict: false }));
    const messages = [user('Hi'), { role: 'assistant', content }, user('Sure?')];
    const { body } = sent('openai-responses', { max_tokens: 100, messages }, 'anthropic-messages');
    expect(body.input).toEqual([
      { type: 'message', role: 'user', content: 'Hi' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Well.' }], encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] },
      { type: 'message', role: 'user', content: 'Sure?' },
    ]);
  });
});

describe('tools', () => {
  const tools = [
    { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'f', parameters: {} }] },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
  ];
  const declared = { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'g' }] };
  const found = [
    { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'x' } },
    { type: 'tool_search_output', call_id: 's1', execution: 'client', tools: [{ type: 'function', name: 'h' }] },
  ];
  const body = { tools, input: [declared, user('Hi'), ...found], max_output_tokens: 100 };

  it('are those of the body, of items and of searches, under names that other APIs take', () => {
    const names = (sent('anthropic-messages', body).body.tools as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(['ns__f', 'patch', 'tool_search', 'g', 'h']);
    const { tools: onChat } = sent('openai-chat', body).body;
    expect(onChat).toMatchObject([
      { function: { name: 'ns__f' } },
      { function: { name: 'patch', parameters: { required: ['input'] } } },
      { function: { name: 'tool_search' } },
      { function: { name: 'g' } },
      { function: { name: 'h' } },
    ]);
  });

  it('are called as the caller knows them', () => {
    const { echo } = sent('gemini', body);
    const client = clientContext({ id: 'resp_0', echo });
    const called = (name: string, args: string) => ({
      type: 'tool_call' as const,
      id: `c_${name}`,
      name,
      arguments: args,
    });
    const events = toEvents({
      id: 'r',
      model: 'm',
      usage: { input: 1, output: 1, total: 2 },
      choices: [{ finish: 'tool_calls', blocks: [called('ns__f', '{}'), called('tool_search', '{"query":"y"}')] }],
    });
    expect(replyWith(responses, events, client).output).toMatchObject([
      { type: 'function_call', namespace: 'ns', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'y' } },
    ]);
    const custom = events.map((event) =>
      event.type === 'tool_call' ? { ...event, name: 'patch', custom: true } : event,
    );
    const streamed = eventsOf(responses.encodeStream(client).push(custom));
    expect(streamed.filter(({ type }) => type === 'response.custom_tool_call_input.done')).toHaveLength(2);
  });

  describe('of one name, with and without a namespace', () => {
    const search = { type: 'function', name: 'search' };
    const given = [search, { type: 'namespace', name: 'ns', tools: [search, { type: 'function', name: 'own' }] }];
    const choice = (of: JsonObject) =>
      sent('anthropic-messages', { input: 'x', max_output_tokens: 100, tools: given, tool_choice: of }).body
        .tool_choice;

    it.each([
      ['the bare name is the tool without one', { name: 'search' }, 'search'],
      ['a namespace in the choice is read', { name: 'search', namespace: 'ns' }, 'ns__search'],
      ['the bare name of a tool that only a namespace has is that tool', { name: 'own' }, 'ns__own'],
    ])('are told apart by a forced choice: %s', (_, of, name) => {
      expect(choice({ type: 'function', ...of })).toEqual({ type: 'tool', name });
    });

    it('are told apart by `allowed_tools`', () => {
      const { body } = sent('anthropic-messages', {
        input: 'x',
        max_output_tokens: 100,
        tools: given,
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'search' }] },
      });
      expect(body.tools).toMatchObject([{ name: 'search' }]);
    });
  });

  it.each<FormatName>(['anthropic-messages', 'gemini', 'openai-chat'])(
    'for computer use are refused for %s, which the gateway cannot show a screen',
    (upstream) => {
      const computer = { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'browser' };
      const fault = faultOf(() => sent(upstream, { input: 'x', max_output_tokens: 100, tools: [computer] }));
      expect(fault).toMatchObject({ code: 'unsupported_parameter', param: 'tools[0].type' });
      expect(fault.message).toContain('does not translate computer use');
    },
  );

  it('for a search keep the domains at Claude', () => {
    const filters = { allowed_domains: ['a.example'], zzz: 1 };
    const { body: claudeBody, losses } = sent('anthropic-messages', {
      input: 'x',
      max_output_tokens: 100,
      tools: [{ type: 'web_search', filters }],
    });
    expect(claudeBody.tools).toMatchObject([{ name: 'web_search', allowed_domains: ['a.example'] }]);
    expect(losses.map(({ param }) => param)).toEqual(['tools[0].filters.zzz']);
  });

  describe('that the provider runs, in a choice', () => {
    const f = { type: 'function', name: 'f' };
    const files = { type: 'file_search', vector_store_ids: ['vs_1'] };
    const code = { type: 'code_interpreter', container: { type: 'auto' } };
    const chosen = (upstream: FormatName, given: JsonObject[], tool_choice: JsonObject) => {
      const { body: upstreamBody, losses } = sent(upstream, {
        input: 'x',
        max_output_tokens: 100,
        tools: given,
        tool_choice,
      });
      const lost = losses.map(({ action, param }) => `${action} ${param}`).filter((loss) => loss.includes('choice'));
      return { body: upstreamBody, lost };
    };

    it.each([
      [{ type: 'web_search_preview' }, { type: 'web_search' }, 'web_search'],
      [code, { type: 'code_interpreter' }, 'code_execution'],
    ])('are forced at Claude under its own name: %j', (tool, choice, name) => {
      const {
        body: { tool_choice },
        lost,
      } = chosen('anthropic-messages', [f, tool], choice);
      expect(tool_choice).toEqual({ type: 'tool', name });
      expect(lost).toEqual([]);
    });

    it.each<[FormatName, JsonObject, JsonObject]>([
      ['anthropic-messages', files, { type: 'file_search' }],
      ['openai-chat', { type: 'web_search' }, { type: 'web_search' }],
      ['gemini', { type: 'web_search' }, { type: 'web_search' }],
      ['gemini', { type: 'mcp', server_label: 'a' }, { type: 'mcp', server_label: 'a' }],
    ])('are a reported loss where %s cannot force %j', (upstream, tool, choice) => {
      const {
        body: { tool_choice },
        lost,
      } = chosen(upstream, [f, tool], choice);
      expect(tool_choice).toBeUndefined();
      expect(lost).toEqual(['dropped tool_choice']);
    });

    it('are all that Gemini gets if only they are allowed', () => {
      const only = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'code_interpreter' }] };
      expect(chosen('gemini', [f, code], only)).toMatchObject({ body: { tools: [{ codeExecution: {} }] }, lost: [] });
    });

    it('leave no tool to call if only they are allowed and the target has none of them', () => {
      const only = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'file_search' }] };
      const {
        body: { tool_choice },
        lost,
      } = chosen('anthropic-messages', [f, files], only);
      expect(tool_choice).toEqual({ type: 'none' });
      expect(lost).toEqual(['dropped tool_choice']);
    });

    it('are refused if the request does not have them', () => {
      expect(faultOf(() => decode({ input: 'x', tools: [f], tool_choice: { type: 'mcp' } })).param).toBe('tool_choice');
    });
  });

  it.each([
    [{ type: 'namespace', name: 'n'.repeat(60), tools: [{ type: 'function', name: 'long' }] }, 64],
    [{ type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] }, 13],
  ])('get another name if the joined one is too long or taken', (namespace, length) => {
    const taken = { type: 'function', name: 'a__b' };
    const encoded = sent('openai-chat', { input: 'x', tools: [taken, namespace] }).body.tools as {
      function: { name: string };
    }[];
    expect(encoded[1]?.function.name).toHaveLength(length);
    expect(encoded[1]?.function.name).toMatch(/_[0-9a-f]{8}$/);
  });
});

describe('a request of another API for a server of this one', () => {
  it('is written with what this API demands, and the rest is reported', () => {
    const { body, losses } = sent(
      'openai-responses',
      {
        messages: [{ role: 'system', content: 'S' }, user('Hi')],
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        max_tokens: 5,
        seed: 1,
        stop: ['x'],
        reasoning_effort: 'high',
        prompt_cache_key: 'k',
      },
      'openai-chat',
    );
    expect(body).toMatchObject({
      model: 'gpt-5.4',
      input: [
        { type: 'message', role: 'developer', content: 'S' },
        { type: 'message', role: 'user', content: 'Hi' },
      ],
      tools: [{ type: 'function', name: 'f', strict: false, parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 16,
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
      prompt_cache_key: 'k',
    });
    expect(losses.map(({ action, param }) => `${action} ${param}`).toSorted()).toEqual([
      'clamped max_tokens',
      'dropped seed',
      'dropped stop',
    ]);
  });
});
