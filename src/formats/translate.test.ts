import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { formats } from './index.ts';
import { deepFreeze, replyContext, requestTarget, replyWith } from './contexts.testkit.ts';
import { messagesBody } from './messages-bodies.testkit.ts';
import { isPlaceOf } from './losses/places.testkit.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

const MODELS: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'gpt-5',
  'openai-responses': 'gpt-5',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
};

function translated(client: FormatName, upstream: FormatName, body: JsonObject, onUnreadablePart?: 'drop') {
  const steps = translateRequest(deepFreeze({ model: 'm', ...body }), {
    client: formats[client],
    upstream: formats[upstream],
    target: requestTarget({ model: MODELS[upstream], onUnreadablePart }),
    reply: replyContext(),
  });
  return finish(steps);
}

const lost = (client: FormatName, upstream: FormatName, body: JsonObject, onUnreadablePart?: 'drop') =>
  translated(client, upstream, body, onUnreadablePart).losses.map(({ action, param }) => `${action} ${param}`);

function faultOf(work: () => unknown): RequestFault {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const hi = { role: 'user', content: 'hi' };

describe('losses of a Messages request', () => {
  it.each(['openai-chat', 'gemini'] as const)('name fields of the request, when it is sent to %s', (upstream) => {
    fc.assert(
      fc.property(messagesBody({ own: true }), (body) => {
        let losses;
        try {
          ({ losses } = translated('anthropic-messages', upstream, body));
        } catch (error) {
          // Tools only Claude knows, say; the place of that is the caller's too.
          if (!(error instanceof RequestFault)) throw error;
          expect(isPlaceOf(body, error.param!), error.param!).toBe(true);
          return;
        }
        for (const { param } of losses) expect(isPlaceOf(body, param), param).toBe(true);
      }),
    );
  });

  it('name their message and block, whatever turns and parts these became', () => {
    const cache_control = { type: 'ephemeral' };
    const body = {
      max_tokens: 9,
      system: [{ type: 'text', text: 's', cache_control }],
      messages: [
        hi,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'gone', signature: '' },
            { type: 'text', text: 'a', citations: [{ type: 'char_location' }] },
            { type: 'tool_use', id: 't', name: 'f', input: {}, cache_control },
            { type: 'container_upload', file_id: 'f' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'b', cache_control },
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'container_upload', file_id: 'g' }] },
          ],
        },
      ],
    };
    expect(lost('anthropic-messages', 'gemini', body, 'drop').sort()).toEqual([
      'dropped messages[1].content[1].citations',
      'dropped messages[1].content[2].cache_control',
      'dropped messages[1].content[3]',
      'dropped messages[2].content[0].cache_control',
      'dropped messages[2].content[1].content[0]',
      'dropped system[0].cache_control',
    ]);
  });

  it('use its spelling', () => {
    const body = {
      max_tokens: 9,
      messages: [hi],
      stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'],
      metadata: { user_id: 'u', team: 't' },
      output_config: { effort: 'low', task_budget: 7 },
      thinking: { type: 'enabled', budget_tokens: 9000 },
      tools: [{ name: 'f', input_schema: { type: 'object', patternProperties: { a: {} } }, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    };
    expect(lost('anthropic-messages', 'gemini', body)).toEqual(
      expect.arrayContaining([
        'dropped stop_sequences',
        'dropped metadata.user_id',
        'dropped metadata.team',
        'dropped output_config.effort',
        'dropped output_config.task_budget',
        'dropped tool_choice.disable_parallel_tool_use',
      ]),
    );
  });
});

describe('losses of a chat request', () => {
  it('name the list that the part came from', () => {
    const assistant = {
      role: 'assistant',
      content: 'a',
      content_blocks: [
        { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'a' },
      ],
      refusal: 'No.',
    };
    const messages = [hi, assistant, { ...hi, cache_control: { type: 'ephemeral' } }];
    expect(lost('openai-chat', 'gemini', { messages })).toEqual([
      'dropped messages[1].content_blocks[0]',
      'downgraded messages[1].refusal',
      'dropped messages[2].cache_control',
    ]);
  });

  it('name the deprecated fields that were used', () => {
    const functions = [{ name: 'f', parameters: { type: 'object', not: {} } }];
    const call = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '[1]' } };
    const losses = lost('openai-chat', 'gemini', { messages: [hi, call, hi], functions });
    expect(losses).toContain('downgraded messages[1].function_call.arguments');
    expect(losses.filter((loss) => loss.includes('tools['))).toEqual([]);
  });
});

describe('losses of a Gemini request', () => {
  it('use its field names, in either spelling', () => {
    const body = {
      max_tokens: 9,
      contents: [
        {
          role: 'user',
          parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'AA==', displayName: 'n' } }],
        },
      ],
      generation_config: { seed: 4, max_output_tokens: 5, temperature: 2 },
      labels: { a: 'b' },
    };
    expect(lost('gemini', 'anthropic-messages', body)).toEqual(
      expect.arrayContaining([
        'dropped generation_config.seed',
        'clamped generation_config.temperature',
        'dropped labels',
        'dropped contents[0].parts[1].inlineData.displayName',
      ]),
    );
  });
});

describe('a negative budget for thoughts', () => {
  const thinking = { type: 'enabled', budget_tokens: -1 };

  it.each(['anthropic-messages', 'openai-chat'] as const)('of %s leaves the amount to the model', (client) => {
    const body = { max_tokens: 30_000, messages: [hi], thinking };
    const sent = (upstream: FormatName) => translated(client, upstream, body).body;
    if (client !== 'openai-chat') expect(sent('openai-chat')).toMatchObject({ reasoning_effort: 'high' });
    expect(sent('gemini')).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: -1 } } });
    if (client !== 'anthropic-messages')
      expect(sent('anthropic-messages')).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 16_384 } });
  });
});

describe('a fault', () => {
  it('names the caller’s field, in its message too', () => {
    const fault = faultOf(() =>
      translated('anthropic-messages', 'gemini', {
        max_tokens: 9,
        system: 's',
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }],
      }),
    );
    expect(fault.param).toBe('messages[0].content[0]');
    expect(fault.message).toMatch(/^messages\[0\]\.content\[0\] cannot/);
  });

  it('names a missing field in the caller’s spelling', () => {
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const fault = faultOf(() => translated('gemini', 'anthropic-messages', { contents }));
    expect(fault).toMatchObject({ code: 'missing_required_parameter', param: 'generationConfig.maxOutputTokens' });
  });

  it('of decoding the body already uses the caller’s field names', () => {
    const body = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text' }] }] };
    const fault = faultOf(() => translated('anthropic-messages', 'gemini', body));
    expect(fault.param).toBe('messages[0].content[0].text');
  });
});

describe('an image that Gemini generated', () => {
  const signature = 'Y2F0';
  const made = { inlineData: { mimeType: 'image/png', data: 'iVBO' }, thoughtSignature: signature };
  const reply = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Here.' }, made] }, finishReason: 'STOP' }],
    usageMetadata: {},
  };
  const context = { id: 'i', created: 1, includeUsage: false, model: 'm', strict: false };

  it('is a block of a Messages reply, and the same part when the client returns it', () => {
    const events = formats.gemini.decodeReply(reply, replyContext());
    const { content } = replyWith(formats['anthropic-messages'], events, context);
    expect(content).toMatchObject([
      { type: 'text', text: 'Here.' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
      { type: 'thinking', thinking: '' },
    ]);
    const { body, losses } = translated('anthropic-messages', 'gemini', {
      max_tokens: 9,
      messages: [hi, { role: 'assistant', content }, hi],
    });
    expect(losses).toEqual([]);
    expect((body['contents'] as readonly JsonObject[])[1]).toEqual({ role: 'model', parts: [{ text: 'Here.' }, made] });
  });
});
