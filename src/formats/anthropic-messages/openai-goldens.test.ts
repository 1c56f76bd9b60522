import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { anthropicMessages } from './index.ts';

/**
 * OpenAI chat requests and the whole result in Claude's format: bodies, losses and refusals, each checked against
 * docs/protocols/anthropic-messages.md and docs/protocols/requests.md. Unless a row says otherwise, the request asks "hi" with 100 tokens
 * and goes to the direct API.
 */
interface Golden {
  readonly title: string;
  readonly model: string;
  readonly host?: 'vertex' | 'direct';
  /** Fields besides `model`, `messages: hi` and `max_tokens: 100`. */
  readonly request: JsonObject;
  /** Fields besides `messages: hi`, the limit of the request, and the model or Vertex's version. */
  readonly body?: JsonObject;
  readonly losses?: readonly string[];
  readonly reply?: JsonObject;
  readonly headers?: JsonObject;
  readonly fault?: { readonly code: string; readonly param: string };
}

const PNG = 'data:image/png;base64,AAAA';

const messages: readonly Golden[] = [
  { title: 'a bare question to the direct API', model: 'claude-sonnet-4-5-20250929', request: {}, body: {} },
  {
    title: 'a bare question to Vertex: no model, its own version, stream in the body',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: { stream: true, stream_options: { include_usage: true } },
    body: { stream: true },
  },
  {
    title: 'no limit is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: undefined },
    fault: { code: 'missing_required_parameter', param: 'max_tokens' },
  },
  {
    title: 'all system and developer messages, in order; later ones come too early',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'system', content: 'one' },
        {
          role: 'developer',
          content: [{ type: 'text', text: 'two', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'three' },
        { role: 'user', content: 'there' },
      ],
    },
    body: {
      system: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'three' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'text', text: 'there' },
          ],
        },
      ],
    },
    losses: ['downgraded messages[3]'],
  },
  {
    title: 'neighbours of one role are one message, empty text is none, names are lost',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'a', name: 'ann' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
            { type: 'text', text: '  ' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'c' },
        { role: 'user', content: 'd' },
      ],
    },
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'c' }] },
        { role: 'user', content: [{ type: 'text', text: 'd' }] },
      ],
    },
    losses: ['dropped messages[0].name', 'dropped messages[1].content[2]'],
  },
  {
    title: 'the last assistant text loses its trailing white space',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'The answer is ' },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'The answer is' }] },
      ],
    },
  },
  {
    title: 'text beside calls, results in call order and before what the user says',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [
            { type: 'text', text: '1' },
            { type: 'text', text: 'one' },
          ],
        },
        { role: 'user', content: 'and?' },
      ],
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'c2', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [
                { type: 'text', text: '1' },
                { type: 'text', text: 'one' },
              ],
            },
            { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: '2' }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'g', input_schema: { type: 'object', properties: {} } },
      ],
    },
  },
  {
    title: 'ids Claude refuses are rewritten in both places, signatures in them taken off',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'a.b:1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2__thought__YS_-', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a.b:1', content: '1' },
        { role: 'tool', tool_call_id: 'c2__thought__YS_-', content: '' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a_b_1', name: 'f', input: {} },
            { type: 'tool_use', id: 'c2', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a_b_1', content: [{ type: 'text', text: '1' }] },
            { type: 'tool_result', tool_use_id: 'c2' },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    losses: ['dropped messages[1].tool_calls[1].id'],
  },
  {
    title: 'arguments that are no object are wrapped',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '[1]' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '" x"' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'c1', name: 'f', input: { value: [1] } },
            { type: 'tool_use', id: 'c2', name: 'f', input: { value: ' x' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '1' }] },
            { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: '2' }] },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    losses: [
      'downgraded messages[1].tool_calls[0].function.arguments',
      'downgraded messages[1].tool_calls[1].function.arguments',
    ],
  },
  {
    title: 'arguments that are no JSON are sent as an object',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
        },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: { value: '{"a":' } }] },
      ],
    },
    losses: ['downgraded messages[1].tool_calls[0].function.arguments'],
  },
  {
    title: 'the deprecated function call and message',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object', properties: {} } }],
      function_call: { name: 'f' },
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_function_0', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_function_0', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'tool', name: 'f' },
    },
  },
  {
    title: 'thinking goes back first and unchanged, without its signature not at all',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'b',
          content_blocks: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'abc' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'user', content: 'why?' },
        { role: 'assistant', reasoning_content: 'so', content: 'c' },
        { role: 'user', content: 'ok' },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'abc' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'why?' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'c' }] },
        { role: 'user', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
    losses: ['dropped messages[3].content[0]'],
  },
  {
    title: 'Gemini’s signatures of texts and calls are stripped and reported',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'a', signature: 'c2ln' }],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', thought_signature: 'c2ln' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a' },
            { type: 'tool_use', id: 'c1', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    losses: [
      'dropped messages[1].content[0].signature',
      'dropped messages[1].tool_calls[0].function.thought_signature',
    ],
  },
  {
    title: 'thinking that Google signed is lost, as Claude would refuse it',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content_blocks: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln', maker: 'gemini' },
            { type: 'text', text: 'a' },
          ],
        },
        { role: 'user', content: 'ok' },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
        { role: 'user', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
    losses: ['dropped messages[1].content[0]'],
  },
  {
    title: 'thinking of several turns, each before its text and calls, empty but signed and redacted ones too',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      max_tokens: 4000,
      reasoning_effort: 'low',
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'One.',
          content_blocks: [
            { type: 'thinking', thinking: '', signature: 'c2ln' },
            { type: 'text', text: 'One.' },
          ],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        {
          role: 'assistant',
          content: null,
          content_blocks: [
            { type: 'redacted_thinking', data: 'abc' },
            { type: 'thinking', thinking: 'so', signature: 'c2ln' },
          ],
          tool_calls: [{ id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '', signature: 'c2ln' },
            { type: 'text', text: 'One.' },
            { type: 'tool_use', id: 'c1', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '1' }] }],
        },
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: 'abc' },
            { type: 'thinking', thinking: 'so', signature: 'c2ln' },
            { type: 'tool_use', id: 'c2', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: '2' }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
  },
  {
    title: 'thinking blocks among the parts of content; a blank text of the assistant is no loss',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'text', text: '\n\n' },
            { type: 'text', text: 'b', citations: [{ type: 'char_location' }] },
          ],
        },
        { role: 'user', content: 'ok' },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'text', text: 'b', citations: [{ type: 'char_location' }] },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
  },
  {
    title: 'a refusal is text, sound by id is lost',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', refusal: 'No.', audio: { id: 'audio_1' } },
        { role: 'user', content: 'ok' },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'No.' }] },
        { role: 'user', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
    losses: ['dropped messages[1].content[1]'],
  },
  {
    title: 'cache markers on a whole message, on server tools and on the whole request; one without a text is lost',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'system', content: 's', cache_control: { type: 'ephemeral', ttl: '1h' } },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'text', text: '', cache_control: { type: 'ephemeral' } },
          ],
        },
        { role: 'assistant', content: 'a', cache_control: { type: 'ephemeral' } },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: PNG }, cache_control: { type: 'ephemeral' } }],
        },
      ],
      tools: [
        { type: 'web_search', cache_control: { type: 'ephemeral', ttl: '5m' } },
        { type: 'function', function: { name: 'web_search_retrieval' }, cache_control: { type: 'ephemeral' } },
      ],
      cache_control: { type: 'ephemeral', ttl: '5m' },
    },
    body: {
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'user',
          content: [
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
      tools: [
        { type: 'web_search_20250305', name: 'web_search', cache_control: { type: 'ephemeral', ttl: '5m' } },
        {
          name: 'web_search_retrieval',
          input_schema: { type: 'object', properties: {} },
          cache_control: { type: 'ephemeral' },
        },
      ],
      cache_control: { type: 'ephemeral', ttl: '5m' },
    },
    losses: ['dropped messages[1].content[1].cache_control'],
  },
  {
    title: 'cache markers stay, with their time to live',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral', ttl: '5m' } }] },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok', cache_control: { type: 'ephemeral' } },
      ],
      tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral', ttl: '5m' } }] },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {}, cache_control: { type: 'ephemeral' } }],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [{ type: 'text', text: 'ok' }],
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} }, cache_control: { type: 'ephemeral' } }],
    },
  },
];

const media: readonly Golden[] = [
  {
    title: 'pictures, PDF and text inline',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
            { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBE' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
            { type: 'file', file: { file_data: 'JVBE', mime_type: 'application/pdf' } },
            { type: 'file', file: { file_data: 'data:text/plain;base64,aGk=' } },
            { type: 'file', file: { file_data: 'data:text/csv;base64,YSxi', filename: 'a.csv' } },
            { type: 'file', file: { file_id: 'file_1' } },
          ],
        },
      ],
    },
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
              title: 'a.pdf',
            },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' }, title: 'a.csv' },
            { type: 'document', source: { type: 'file', file_id: 'file_1' } },
          ],
        },
      ],
    },
    losses: ['dropped messages[0].content[0].image_url.detail', 'downgraded messages[0].content[6]'],
    headers: { 'anthropic-beta': 'files-api-2025-04-14' },
  },
  {
    title: 'a PDF by URL, as a file or as an image_url',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { file_url: 'https://h.example/a.pdf?x=1', filename: 'a.pdf' } },
            { type: 'file', file: { file_url: 'https://h.example/get' } },
            { type: 'image_url', image_url: { url: 'https://h.example/A.PDF' } },
          ],
        },
      ],
    },
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'url', url: 'https://h.example/a.pdf?x=1' }, title: 'a.pdf' },
            { type: 'document', source: { type: 'url', url: 'https://h.example/get' } },
            { type: 'document', source: { type: 'url', url: 'https://h.example/A.PDF' } },
          ],
        },
      ],
    },
  },
  {
    title: 'a PDF by URL is refused by Vertex, which fetches nothing',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_url: 'https://h.example/a.pdf' } }] }],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'a text by URL is refused: only PDF is fetched',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_url: 'https://h.example/a.txt' } }] }],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'an address of Google’s storage is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'gs://b/a.pdf' } }] }],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'documents in a result, by id and inline',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [
            { type: 'file', file: { file_id: 'file_1', filename: 'a.png' } },
            { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBE' } },
          ],
        },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [
                { type: 'image', source: { type: 'file', file_id: 'file_1' } },
                { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
              ],
            },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    headers: { 'anthropic-beta': 'files-api-2025-04-14' },
  },
  {
    title: 'pictures in a result stay in it',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [
                { type: 'text', text: 'see' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
              ],
            },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    losses: ['dropped messages[2].content[1].image_url.detail'],
  },
  {
    title: 'a file id is refused by Vertex, which has no files',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file_1' } }] }] },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'a picture with a name',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: 'data:image/gif;base64,AAAA', filename: 'a.gif' } }],
        },
      ],
    },
    body: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'AAAA' } }],
        },
      ],
    },
    losses: ['dropped messages[0].content[0].file.filename'],
  },
  {
    title: 'an address is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h.example/a.png' } }] }],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'sound is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
          ],
        },
      ],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[1]' },
  },
];

const settings: readonly Golden[] = [
  {
    title: 'sampling of a 3.5 model',
    model: 'claude-3-5-haiku-20241022',
    request: { temperature: 1.5, top_p: 0.9, top_k: 5, stop: ['END', ' \n'] },
    body: { temperature: 1, top_p: 0.9, top_k: 5, stop_sequences: ['END'] },
    losses: ['clamped temperature', 'dropped stop'],
  },
  {
    title: 'temperature or top_p from 4.1 on',
    model: 'claude-sonnet-4-5-20250929',
    request: { temperature: 0.3, top_p: 0.9, top_k: 5, stop: 'END' },
    body: { temperature: 0.3, top_k: 5, stop_sequences: ['END'] },
    losses: ['dropped top_p'],
  },
  {
    title: 'models after Opus 4.6 have no sampling',
    model: 'claude-opus-4-8',
    request: { temperature: 0.3, top_p: 0.5, top_k: 5 },
    body: {},
    losses: ['dropped temperature', 'dropped top_p', 'dropped top_k'],
  },
  {
    title: 'the defaults they take are sent',
    model: 'claude-opus-4-8',
    request: { temperature: 1 },
    body: { temperature: 1 },
  },
  {
    title: 'an unknown model is the newest',
    model: 'claude-next',
    request: { temperature: 0.3, top_p: 0.99, reasoning_effort: 'xhigh' },
    body: { top_p: 0.99, thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    losses: ['dropped temperature'],
  },
  {
    title: 'thinking fixes sampling',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 4000, temperature: 0.3, top_k: 5, reasoning_effort: 'low' },
    body: { thinking: { type: 'enabled', budget_tokens: 2048 } },
    losses: ['dropped temperature', 'dropped top_k'],
  },
  {
    title: 'what Claude has not',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      seed: 1,
      frequency_penalty: 1,
      presence_penalty: 1,
      logprobs: true,
      top_logprobs: 2,
      metadata: { a: 'b' },
      verbosity: 'low',
      logit_bias: { '5': 1 },
      prediction: { type: 'content', content: 'x' },
      store: true,
      labels: { a: 'b' },
      safety_settings: [],
      image_config: {},
      n: 1,
      modalities: ['text'],
      service_tier: 'flex',
    },
    body: {},
    losses: [
      'dropped logit_bias',
      'dropped prediction',
      'dropped store',
      'dropped service_tier',
      'dropped metadata',
      'dropped safety_settings',
      'dropped image_config',
      'dropped verbosity',
      'dropped frequency_penalty',
      'dropped presence_penalty',
      'dropped seed',
      'dropped logprobs',
      'dropped top_logprobs',
      'dropped labels',
    ],
  },
  {
    title: 'the user and the tier',
    model: 'claude-sonnet-4-5-20250929',
    request: { user: 'u', service_tier: 'default' },
    body: { metadata: { user_id: 'u' }, service_tier: 'standard_only' },
  },
  {
    title: 'the safety identifier is the user',
    model: 'claude-sonnet-4-5-20250929',
    request: { safety_identifier: 's', service_tier: 'auto' },
    body: { metadata: { user_id: 's' }, service_tier: 'auto' },
  },
  {
    title: 'both: one is lost',
    model: 'claude-sonnet-4-5-20250929',
    request: { safety_identifier: 's', user: 'u' },
    body: { metadata: { user_id: 'u' } },
    losses: ['dropped safety_identifier'],
  },
  {
    title: 'several answers are refused',
    model: 'claude-sonnet-4-5-20250929',
    request: { n: 2 },
    fault: { code: 'unsupported_parameter', param: 'n' },
  },
  {
    title: 'pictures are refused',
    model: 'claude-sonnet-4-5-20250929',
    request: { modalities: ['text', 'image'] },
    fault: { code: 'unsupported_parameter', param: 'modalities' },
  },
  {
    title: 'the version of the body is lost on the direct API',
    model: 'claude-sonnet-4-5-20250929',
    request: { anthropic_version: '2023-06-01' },
    body: {},
    losses: ['dropped anthropic_version'],
  },
  {
    title: 'betas of the body are a header',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: { anthropic_beta: ['context-1m-2025-08-07', 'a,b ', 'a'] },
    body: {},
    headers: { 'anthropic-beta': 'context-1m-2025-08-07,a,b' },
  },
  {
    title: 'a beta that would write another header is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: { anthropic_beta: 'a\r\nx-api-key: b' },
    fault: { code: 'invalid_value', param: 'anthropic_beta' },
  },
  {
    title: 'the version of the body is for Vertex',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: { anthropic_version: 'vertex-2026-10-21' },
    body: { anthropic_version: 'vertex-2026-10-21' },
  },
];

const responseFormat: readonly Golden[] = [
  {
    title: 'a JSON object is asked for in words',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'hi' },
      ],
      response_format: { type: 'json_object' },
    },
    body: {
      system: [
        { type: 'text', text: 's' },
        { type: 'text', text: 'Answer with a single JSON object and nothing else.' },
      ],
    },
    losses: ['downgraded response_format'],
  },
  {
    title: 'a schema on the direct API',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          description: 'A person.',
          strict: true,
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      },
    },
    body: {
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'minLength: 1' },
              tags: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
            additionalProperties: false,
            description: 'A person.',
          },
        },
      },
    },
    losses: ['downgraded response_format.json_schema.schema.properties.name.minLength'],
  },
  {
    title: 'a schema on Vertex is a forced tool',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          description: 'A person.',
          strict: true,
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      },
    },
    body: {
      tools: [
        {
          name: 'json',
          description: 'A person.',
          input_schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      ],
      tool_choice: { type: 'tool', name: 'json', disable_parallel_tool_use: true },
    },
    reply: { jsonTool: 'json' },
  },
  {
    title: 'a schema for a model without structured outputs, beside tools',
    model: 'claude-sonnet-4-20250514',
    request: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          description: 'A person.',
          strict: true,
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      },
      tools: [{ type: 'function', function: { name: 'json' } }],
    },
    body: {
      tools: [
        { name: 'json', input_schema: { type: 'object', properties: {} } },
        {
          name: 'json_2',
          description: 'A person.',
          input_schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
    reply: { jsonTool: 'json_2' },
  },
  {
    title: 'a schema whose root is no object',
    model: 'claude-sonnet-4-20250514',
    request: { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'array' } } } },
    body: {
      tools: [
        {
          name: 'json',
          description: 'Gives the answer. Call it once, with the whole answer.',
          input_schema: { type: 'object' },
        },
      ],
      tool_choice: { type: 'tool', name: 'json', disable_parallel_tool_use: true },
    },
    losses: ['clamped response_format.json_schema.schema.type'],
    reply: { jsonTool: 'json' },
  },
  {
    title: 'a schema beside a thinking budget, which cannot be forced either',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      max_tokens: 4000,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    },
    body: {
      system: [{ type: 'text', text: 'Give your final answer by calling the `json` tool.' }],
      tools: [
        {
          name: 'json',
          description: 'Gives the answer. Call it once, with the whole answer.',
          input_schema: { type: 'object' },
        },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
    losses: ['downgraded response_format'],
    reply: { jsonTool: 'json' },
  },
  {
    title: 'a schema beside a thinking budget on the direct API, which needs no tool',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      max_tokens: 4000,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    },
    body: {
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    },
  },
  {
    title: 'a schema where no tool can be forced',
    model: 'claude-fable-5',
    host: 'vertex',
    request: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          description: 'A person.',
          strict: true,
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      },
    },
    body: {
      system: [{ type: 'text', text: 'Give your final answer by calling the `json` tool.' }],
      tools: [
        {
          name: 'json',
          description: 'A person.',
          input_schema: {
            type: 'object',
            properties: {
              name: { type: 'string', minLength: 1 },
              tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
            },
            required: ['name'],
          },
        },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    losses: ['downgraded response_format'],
    reply: { jsonTool: 'json' },
  },
];

const tools: readonly Golden[] = [
  {
    title: 'a schema goes whole, its root is an object',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: {
              properties: { a: { $ref: '#/$defs/A' } },
              $defs: { A: { type: 'string', pattern: 'x' } },
              additionalProperties: false,
            },
            description: 'd',
          },
        },
        { type: 'function', function: { name: 'g' } },
      ],
    },
    body: {
      tools: [
        {
          name: 'f',
          description: 'd',
          input_schema: {
            properties: { a: { $ref: '#/$defs/A' } },
            $defs: { A: { type: 'string', pattern: 'x' } },
            additionalProperties: false,
            type: 'object',
          },
        },
        { name: 'g', input_schema: { type: 'object', properties: {} } },
      ],
    },
  },
  {
    title: 'parameters that are no object',
    model: 'claude-sonnet-4-5-20250929',
    request: { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
    body: { tools: [{ name: 'f', input_schema: { type: 'object' } }] },
    losses: ['clamped tools[0].function.parameters.type'],
  },
  {
    title: 'dated server tools on Vertex: one version of the search, tool search, and none of the others',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      tools: [
        { type: 'web_search_20260209', name: 'web_search', max_uses: 2 },
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        { type: 'code_execution_20260120', name: 'code_execution' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    },
    body: {
      tools: [
        { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    },
    losses: ['downgraded tools[0].type', 'dropped tools[2]'],
  },
  {
    title: 'strict on the direct API',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} }, strict: true } },
        { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} }, strict: false } },
      ],
    },
    body: {
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {}, additionalProperties: false }, strict: true },
        { name: 'g', input_schema: { type: 'object', properties: {} }, strict: false },
      ],
    },
  },
  {
    title: 'a strict schema in the subset that is enforced, and the rest of it in words',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            strict: true,
            parameters: { properties: { a: { type: 'string', pattern: '^a' } }, required: ['a'] },
          },
        },
      ],
    },
    body: {
      tools: [
        {
          name: 'f',
          input_schema: {
            type: 'object',
            properties: { a: { type: 'string', description: 'pattern: "^a"' } },
            required: ['a'],
            additionalProperties: false,
          },
          strict: true,
        },
      ],
    },
    losses: ['downgraded tools[0].function.parameters.properties.a.pattern'],
  },
  {
    title: 'strict on Vertex is lost',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} }, strict: true } },
      ],
    },
    body: { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }] },
    losses: ['dropped tools[0].function.strict'],
  },
  {
    title: 'a free-text tool and a call of it',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'a' },
      ],
      tools: [
        {
          type: 'custom',
          custom: {
            name: 'sh',
            description: 'Shell.',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
          },
        },
      ],
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'sh', input: { input: 'ls' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'a' }] }] },
      ],
      tools: [
        {
          name: 'sh',
          description: 'Shell.\n\n`input` has to match this grammar (lark):\nx',
          input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
      ],
    },
    losses: ['downgraded tools[0].custom.format'],
    reply: { customTools: new Set(['sh']) },
  },
  {
    title: 'choice auto',
    model: 'claude-sonnet-4-5-20250929',
    request: { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto' },
    body: { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'auto' } },
  },
  {
    title: 'choice none',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'none',
      parallel_tool_calls: false,
    },
    body: { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'none' } },
  },
  {
    title: 'choice required, one call at a time',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    },
    body: {
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
  },
  {
    title: 'one call at a time makes a choice of its own',
    model: 'claude-sonnet-4-5-20250929',
    request: { tools: [{ type: 'function', function: { name: 'f' } }], parallel_tool_calls: false },
    body: {
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
  },
  {
    title: 'a named function',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: { type: 'function', function: { name: 'g' } },
      parallel_tool_calls: true,
    },
    body: {
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'g', input_schema: { type: 'object', properties: {} } },
      ],
      tool_choice: { type: 'tool', name: 'g', disable_parallel_tool_use: false },
    },
  },
  {
    title: 'an undeclared name is refused',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', function: { name: 'h' } },
    },
    fault: { code: 'invalid_value', param: 'tool_choice' },
  },
  {
    title: 'allowed tools, auto',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'g' } }] },
      },
    },
    body: { tools: [{ name: 'g', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'auto' } },
  },
  {
    title: 'allowed tools, required',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
        { type: 'function', function: { name: 'h' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [
            { type: 'function', function: { name: 'f' } },
            { type: 'function', function: { name: 'h' } },
          ],
        },
      },
    },
    body: {
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'h', input_schema: { type: 'object', properties: {} } },
      ],
      tool_choice: { type: 'any' },
    },
  },
  {
    title: 'a choice cannot be forced beside a thinking budget',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      max_tokens: 4000,
      reasoning_effort: 'low',
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: { type: 'function', function: { name: 'g' } },
    },
    body: {
      tools: [{ name: 'g', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto' },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
    losses: ['downgraded tool_choice'],
  },
  {
    title: 'a choice can be forced beside adaptive thinking',
    model: 'claude-opus-4-8',
    request: {
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
    },
    body: {
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'any' },
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    },
  },
  {
    title: 'a choice can never be forced on Fable',
    model: 'claude-fable-5',
    request: { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' },
    body: { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'auto' } },
    losses: ['downgraded tool_choice'],
  },
  {
    title: 'a function called web_search is one',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [
        {
          type: 'function',
          function: { name: 'web_search', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
        },
      ],
    },
    body: { tools: [{ name: 'web_search', input_schema: { type: 'object', properties: { q: { type: 'string' } } } }] },
  },
  {
    title: 'a type asks for the server tool',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: {
      tools: [{ type: 'web_search', user_location: { type: 'approximate', city: 'Rome' }, search_context_size: 'low' }],
    },
    body: {
      tools: [
        { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Rome' } },
      ],
    },
    losses: ['dropped tools[0].search_context_size'],
  },
  {
    title: 'a dated type goes as it is, and the options add no second one',
    model: 'claude-sonnet-4-5-20250929',
    request: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }], web_search_options: {} },
    body: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
    losses: ['dropped web_search_options'],
  },
  {
    title: 'a choice without tools is lost',
    model: 'claude-sonnet-4-5-20250929',
    request: { tool_choice: { type: 'function', function: { name: 'f' } } },
    body: {},
    losses: ['dropped tool_choice'],
  },
  {
    title: 'further server tools run on the direct API',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      tools: [{ type: 'code_execution' }, { type: 'url_context' }, { type: 'google_maps' }, { type: 'file_search' }],
    },
    body: {
      tools: [
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
      ],
    },
    losses: ['dropped tools[2]', 'dropped tools[3]'],
  },
  {
    title: 'on Vertex they do not',
    model: 'claude-sonnet-4-5@20250929',
    host: 'vertex',
    request: { tools: [{ type: 'code_execution' }, { type: 'bash_20250124', name: 'bash' }] },
    body: { tools: [{ type: 'bash_20250124', name: 'bash' }] },
    losses: ['dropped tools[0]'],
  },
  {
    title: 'web_search_options',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      web_search_options: {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { country: 'DE' } },
      },
    },
    body: {
      tools: [
        { type: 'web_search_20250305', name: 'web_search', user_location: { country: 'DE', type: 'approximate' } },
      ],
    },
    losses: ['dropped web_search_options.search_context_size'],
  },
];

const thinking: readonly Golden[] = [
  {
    title: 'effort as a budget below the limit',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 4000, reasoning_effort: 'low' },
    body: { thinking: { type: 'enabled', budget_tokens: 2048 } },
  },
  {
    title: 'a budget that leaves no room is cut to half',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 4000, reasoning_effort: 'high' },
    body: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'a limit below the smallest budget',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 1000, reasoning_effort: 'minimal' },
    body: {},
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'effort none where thinking is off by itself',
    model: 'claude-sonnet-4-5-20250929',
    request: { reasoning_effort: 'none' },
    body: {},
  },
  {
    title: 'effort on 4.6, which does not know xhigh',
    model: 'claude-opus-4-6',
    request: { reasoning_effort: 'xhigh' },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort on 4.8',
    model: 'claude-opus-4-8',
    request: { reasoning_effort: 'xhigh' },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
  },
  {
    title: 'effort minimal on 4.8',
    model: 'claude-opus-4-8',
    request: { reasoning_effort: 'minimal' },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort none on 4.8',
    model: 'claude-opus-4-8',
    request: { reasoning_effort: 'none' },
    body: { thinking: { type: 'disabled' } },
  },
  {
    title: 'effort none on a model that always thinks',
    model: 'claude-fable-5',
    request: { reasoning_effort: 'none' },
    body: {},
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'a budget wins over effort',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 }, reasoning_effort: 'high' },
    body: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'a budget below the smallest one',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 500 } },
    body: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    losses: ['clamped thinking.budget_tokens'],
  },
  {
    title: 'a budget on 4.6 stays one',
    model: 'claude-opus-4-6',
    request: { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    body: { thinking: { type: 'enabled', budget_tokens: 2000 } },
  },
  {
    title: 'a budget on 4.8 is an effort',
    model: 'claude-opus-4-8',
    request: { thinking: { type: 'enabled', budget_tokens: 5000 } },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
    losses: ['downgraded thinking.budget_tokens'],
  },
  {
    title: 'a budget of 0 turns it off',
    model: 'claude-opus-5',
    request: { thinking: { type: 'enabled', budget_tokens: 0 } },
    body: { thinking: { type: 'disabled' } },
  },
  {
    title: 'adaptive with an effort',
    model: 'claude-opus-5',
    request: { thinking: { type: 'adaptive' }, reasoning_effort: 'max' },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
  },
  {
    title: 'adaptive with an effort, which is the budget of a model of budgets',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 20000, thinking: { type: 'adaptive' }, reasoning_effort: 'medium' },
    body: { thinking: { type: 'enabled', budget_tokens: 10000 } },
    losses: ['downgraded thinking'],
  },
  {
    title: 'enabled without a budget, with an effort that says how much',
    model: 'claude-opus-5',
    request: { thinking: { type: 'enabled' }, reasoning_effort: 'medium' },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
  },
  {
    title: 'enabled against effort none',
    model: 'claude-opus-5',
    request: { thinking: { type: 'enabled' }, reasoning_effort: 'none' },
    body: { thinking: { type: 'adaptive', display: 'summarized' } },
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'disabled twice',
    model: 'claude-opus-5',
    request: { thinking: { type: 'disabled' }, reasoning_effort: 'none' },
    body: { thinking: { type: 'disabled' } },
  },
  {
    title: 'disabled against an effort',
    model: 'claude-opus-5',
    request: { thinking: { type: 'disabled' }, reasoning_effort: 'high' },
    body: { thinking: { type: 'disabled' } },
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'adaptive on a model of budgets',
    model: 'claude-sonnet-4-5-20250929',
    request: { max_tokens: 20000, thinking: { type: 'adaptive' } },
    body: { thinking: { type: 'enabled', budget_tokens: 16384 } },
    losses: ['downgraded thinking'],
  },
  {
    title: 'disabled on a model that always thinks',
    model: 'claude-mythos-5',
    request: { thinking: { type: 'disabled' } },
    body: {},
    losses: ['dropped thinking'],
  },
  {
    title: 'effort none on a newer model that is not known',
    model: 'claude-next',
    request: { reasoning_effort: 'none' },
    body: { thinking: { type: 'disabled' } },
  },
  {
    title: 'disabled',
    model: 'claude-sonnet-4-5-20250929',
    request: { thinking: { type: 'disabled' } },
    body: { thinking: { type: 'disabled' } },
  },
  {
    title: 'a model that cannot think',
    model: 'claude-3-5-haiku-20241022',
    request: { reasoning_effort: 'high', thinking: { type: 'enabled', budget_tokens: 2000 } },
    body: {},
    losses: ['dropped thinking', 'dropped reasoning_effort'],
  },
  {
    title: 'a tool loop that lost its thinking goes on without',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      max_tokens: 4000,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
      reasoning_effort: 'low',
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
    },
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'a tool loop that kept it goes on with it',
    model: 'claude-sonnet-4-5-20250929',
    request: {
      max_tokens: 4000,
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content_blocks: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
      reasoning_effort: 'low',
    },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'tool_use', id: 'c1', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
  },
];

const hi = [{ role: 'user', content: 'hi' }];

function encode({ model, host = 'direct', request }: Golden) {
  const body: JsonObject = deepFreeze({ model: 'm', messages: hi, max_tokens: 100, ...request });
  return encodeWith(anthropicMessages, openaiChat.decodeRequest(body), requestTarget({ model, host }), replyContext());
}

describe.each([
  ['messages', messages],
  ['media', media],
  ['settings', settings],
  ['response format', responseFormat],
  ['tools', tools],
  ['thinking', thinking],
])('an OpenAI request on Claude’s wire: %s', (_, goldens) => {
  it.each(goldens.map((golden) => [golden.title, golden] as const))('%s', (_title, golden) => {
    if (golden.fault) {
      expect(() => encode(golden)).toThrow(expect.objectContaining({ name: 'RequestFault', ...golden.fault }));
      return;
    }
    const { body, losses, reply, headers } = encode(golden);
    expect(headers).toEqual(golden.headers);
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      ...(golden.host === 'vertex' ? { anthropic_version: 'vertex-2023-10-16' } : { model: golden.model }),
      max_tokens: golden.request.max_tokens ?? 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      ...golden.body,
    });
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual(golden.losses ?? []);
    expect(reply).toEqual({ model: 'model-asked', newCallId: expect.any(Function), ...golden.reply });
  });
});
