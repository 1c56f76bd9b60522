import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { gemini } from './index.ts';

/**
 * OpenAI chat requests and the whole result in Gemini's format: bodies, losses and refusals, each checked against
 * docs/protocols/gemini.md and docs/protocols/requests.md. Unless a row differs, the request asks "hi" and is sent to
 * Vertex AI for a strict client.
 */
interface Golden {
  readonly title: string;
  readonly model: string;
  readonly host?: 'vertex' | 'direct';
  readonly strict?: boolean;
  /** Labels the operator derives from metadata. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Beside `model` and `messages: hi`. */
  readonly request: JsonObject;
  /** Beside `contents: hi`. */
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly losses?: readonly string[];
  readonly reply?: JsonObject;
  readonly fault?: { readonly code: string; readonly param: string };
}

const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, String(index)]));

/** Extensions and types (docs/protocols/requests.md#mime-types). */
const EXTENSIONS: { readonly [mime: string]: string } = {
  'image/jpeg': 'jpg jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'application/pdf': 'pdf',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/html': 'html',
  'video/mp4': 'mp4',
  'video/mov': 'mov',
  'video/avi': 'avi',
  'video/wmv': 'wmv',
  'video/x-flv': 'flv',
  'video/webm': 'webm',
  'video/mpeg': 'mpeg mpg',
  'video/3gpp': '3gp',
  'video/x-matroska': 'mkv',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/m4a': 'm4a',
  'audio/ogg': 'ogg opus',
  'audio/pcm': 'pcm',
  'audio/mpeg': 'mpga',
};

/** One image, video, audio or document by URL, whose type follows only from the extension of its path. */
const addresses: readonly Golden[] = Object.entries(EXTENSIONS)
  .flatMap(([mimeType, extensions]) => extensions.split(' ').map((extension) => ({ mimeType, extension })))
  .map(({ mimeType, extension }) => {
    const [first, ...rest] = extension;
    const encoded = `%${first!.charCodeAt(0).toString(16)}${rest.join('')}`;
    const uris = [
      `gs://bucket.png/a dir/x.tar.${extension}`,
      `https://h.example.pdf/x.${extension.toUpperCase()}?f=a.png&sig=x.y#z.gif`,
      `http://h.example/x%2E${encoded}`,
    ];
    const text = { text: 'see' };
    return {
      title: `.${extension} is ${mimeType}`,
      model: 'gemini-2.5-flash',
      request: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', ...text }, ...uris.map((url) => ({ type: 'image_url', image_url: { url } }))],
          },
        ],
      },
      body: {
        contents: [{ role: 'user', parts: [text, ...uris.map((fileUri) => ({ fileData: { mimeType, fileUri } }))] }],
      },
    };
  });

/** `input_audio.format` → type (docs/protocols/requests.md#audio-formats). */
const SOUNDS: { readonly [format: string]: string } = {
  wav: 'audio/wav',
  mp3: 'audio/mp3',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  pcm16: 'audio/pcm',
  aac: 'audio/aac',
  m4a: 'audio/m4a',
  mpeg: 'audio/mpeg',
  mpga: 'audio/mpga',
  mp4: 'audio/mp4',
  webm: 'audio/webm',
};

const audios: readonly Golden[] = Object.entries(SOUNDS).map(([format, mimeType]) => ({
  title: `sound of the format ${format} is ${mimeType}`,
  model: 'gemini-2.5-flash',
  request: {
    messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format } }] }],
  },
  body: { contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data: 'AAAA' } }, { text: ' ' }] }] },
}));

const messages: readonly Golden[] = [
  { title: 'a bare question', model: 'gemini-2.5-flash', request: {}, body: {} },
  {
    title: 'all system and developer messages, in order, wherever they stand',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'system', content: 'one' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'two' },
            { type: 'text', text: 'three' },
          ],
        },
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'four' },
      ],
    },
    body: { systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }] } },
    losses: ['downgraded messages[3]'],
  },
  {
    title: 'a system message alone is user text',
    model: 'gemini-2.5-flash',
    request: { messages: [{ role: 'system', content: 'one' }] },
    body: { contents: [{ role: 'user', parts: [{ text: 'one' }] }] },
  },
  {
    title: 'a system message of Gemma opens the first user turn',
    model: 'gemma-3-27b-it',
    request: {
      messages: [
        { role: 'system', content: 'one' },
        { role: 'user', content: 'hi' },
      ],
    },
    body: { contents: [{ role: 'user', parts: [{ text: 'one' }, { text: 'hi' }] }] },
    losses: ['downgraded messages[0]'],
  },
  {
    title: 'adjacent messages of one role are one content, empty text is omitted',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'a', name: 'ann' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
        { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
      ],
    },
    losses: ['dropped messages[0].name'],
  },
  {
    title: 'text beside calls is kept, before them; missing content is omitted',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":[1,{"b":null}]}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c3', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c3', content: '3' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'Let me look.' },
            { functionCall: { name: 'f', args: { a: [1, { b: null }] } } },
            { functionCall: { name: 'g', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: '1' } } },
            { functionResponse: { name: 'g', response: { output: '2' } } },
          ],
        },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '3' } } }] },
      ],
    },
  },
  {
    title: 'scrambled results are in call order and apart from the next user message',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
            { id: 'c3', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c3', content: 'third' },
        { role: 'tool', tool_call_id: 'c1', content: 'first' },
        { role: 'tool', tool_call_id: 'c2', content: 'second' },
        { role: 'user', content: 'and?' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: {} } },
            { functionCall: { name: 'g', args: {} } },
            { functionCall: { name: 'f', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: 'first' } } },
            { functionResponse: { name: 'g', response: { output: 'second' } } },
            { functionResponse: { name: 'f', response: { output: 'third' } } },
          ],
        },
        { role: 'user', parts: [{ text: 'and?' }] },
      ],
    },
  },
  {
    title: 'ids of calls go to the Developer API',
    model: 'gemini-2.5-flash',
    host: 'direct',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'f', response: { output: 'ok' } } }] },
      ],
    },
  },
  {
    title: 'arguments that are no object are wrapped',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '[1]' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '7' } },
            { id: 'c3', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567891}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
        { role: 'tool', tool_call_id: 'c2', content: 'y' },
        { role: 'tool', tool_call_id: 'c3', content: 'z' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: { value: [1] } } },
            { functionCall: { name: 'f', args: { value: 7 } } },
            { functionCall: { name: 'f', args: { id: 12345678901234567000 } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: 'x' } } },
            { functionResponse: { name: 'f', response: { output: 'y' } } },
            { functionResponse: { name: 'f', response: { output: 'z' } } },
          ],
        },
      ],
    },
    losses: [
      'downgraded messages[1].tool_calls[0].function.arguments',
      'downgraded messages[1].tool_calls[1].function.arguments',
      'clamped messages[1].tool_calls[2].function.arguments',
    ],
  },
  {
    title: 'arguments that are no JSON are sent as an object',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'f', args: { value: '{"a":' } } }],
        },
      ],
    },
    losses: ['downgraded messages[1].tool_calls[1].function.arguments'],
  },
  {
    title: 'results: an object unchanged, anything else as output, texts joined, long numbers unchanged',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c3', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c4', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c5', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"temp":21,"error":null}' },
        { role: 'tool', tool_call_id: 'c2', content: '[1,2]' },
        {
          role: 'tool',
          tool_call_id: 'c3',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'tool', tool_call_id: 'c4', content: '' },
        { role: 'tool', tool_call_id: 'c5', content: '{"id":12345678901234567891}' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: {} } },
            { functionCall: { name: 'f', args: {} } },
            { functionCall: { name: 'f', args: {} } },
            { functionCall: { name: 'f', args: {} } },
            { functionCall: { name: 'f', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { temp: 21, error: null } } },
            { functionResponse: { name: 'f', response: { output: '[1,2]' } } },
            { functionResponse: { name: 'f', response: { output: 'a\nb' } } },
            { functionResponse: { name: 'f', response: { output: '' } } },
            { functionResponse: { name: 'f', response: { output: '{"id":12345678901234567891}' } } },
          ],
        },
      ],
    },
  },
  {
    title: 'a result without its call takes the name of the message',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'tool', tool_call_id: 'x', name: 'f', content: 'ok' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'ok' } } }] },
      ],
    },
  },
  {
    title: 'a result without its call and without a name is refused',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
        { role: 'tool', tool_call_id: 'x', content: 'ok' },
      ],
    },
    fault: { code: 'missing_required_parameter', param: 'messages[3]' },
  },
  {
    title: 'the deprecated function call and message',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
      functions: [{ name: 'f' }],
      function_call: 'auto',
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'ok' } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
  },
  {
    title: 'a refusal is text; audio by id and names are lost',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '', refusal: 'No.', audio: { id: 'audio_1' } },
        { role: 'user', content: 'ok' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'No.' }] },
        { role: 'user', parts: [{ text: 'ok' }] },
      ],
    },
    losses: ['downgraded messages[1].content[0]', 'dropped messages[1].content[1]'],
  },
  {
    title: 'a trailing assistant message is sent on',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'The answer is ' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'The answer is ' }] },
      ],
    },
  },
  {
    title: 'cache markers are lost, each by its place',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] },
        { role: 'user', content: 'hi' },
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
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [{ type: 'text', text: 'r', cache_control: { type: 'ephemeral' } }],
          cache_control: { type: 'ephemeral' },
        },
      ],
      tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'r' } } }] },
      ],
      systemInstruction: { parts: [{ text: 's' }] },
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
    },
    losses: [
      'dropped messages[0].content[0].cache_control',
      'dropped messages[2].tool_calls[0].cache_control',
      'dropped messages[3].cache_control',
      'dropped messages[3].content[0].cache_control',
      'dropped tools[0].cache_control',
    ],
  },
];

const signatures: readonly Golden[] = [
  {
    title: 'the first unsigned call of each model turn reads the escape value on Gemini 3',
    model: 'gemini-3-pro-preview',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'ok',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        { role: 'assistant', tool_calls: [{ id: 'c3', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c3', content: '3' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'ok' },
            { functionCall: { name: 'f', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
            { functionCall: { name: 'g', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: '1' } } },
            { functionResponse: { name: 'g', response: { output: '2' } } },
          ],
        },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'skip_thought_signature_validator' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '3' } } }] },
      ],
    },
  },
  {
    title: 'signatures come from each place clients keep them',
    model: 'gemini-3-flash-preview',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', thought_signature: 'c2ln' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'c3',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 'Zm9v' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c3', content: '3' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c4__thought__YS_-', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c4__thought__YS_-', content: '4' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' },
            { functionCall: { name: 'g', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: '1' } } },
            { functionResponse: { name: 'g', response: { output: '2' } } },
          ],
        },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'Zm9v' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '3' } } }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'YS/+' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '4' } } }] },
      ],
    },
  },
  {
    title: 'blocks: thoughts stay behind, signed text keeps its signature, pictures their place',
    model: 'gemini-3-pro-image-preview',
    request: {
      messages: [
        { role: 'user', content: 'draw' },
        {
          role: 'assistant',
          content: 'Here.',
          content_blocks: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Here.', signature: 'c2ln' },
          ],
          content_parts: [
            { type: 'text', text: 'Here.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' }, signature: 'aW1n' },
          ],
        },
        { role: 'user', content: 'bluer' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'draw' }] },
        {
          role: 'model',
          parts: [
            { text: 'Here.', thoughtSignature: 'c2ln' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'aW1n' },
          ],
        },
        { role: 'user', parts: [{ text: 'bluer' }] },
      ],
    },
  },
  {
    title: 'code that ran, thoughts with drafts and signatures on anything, over several turns',
    model: 'gemini-3-pro-image-preview',
    strict: false,
    request: {
      messages: [
        { role: 'user', content: 'plot' },
        {
          role: 'assistant',
          content: 'Done.',
          content_blocks: [
            {
              type: 'thinking',
              thinking: '',
              image_url: { url: 'data:image/png;base64,ZHJhZnQ=' },
              signature: 'ZHI=',
              maker: 'gemini',
            },
            { type: 'thinking', thinking: '', image_url: { url: 'data:image/png;base64,ZHJhZnQ=' } },
            { type: 'code', language: 'PYTHON', code: 'print(1)', id: 'x', signature: 'Y29k' },
            { type: 'code_result', outcome: 'OUTCOME_OK', output: '1', signature: 'cmVz' },
            { type: 'text', text: 'Done.', signature: 'dGV4' },
          ],
          content_parts: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' }, signature: 'aW1n' },
            { type: 'text', text: 'Done.' },
          ],
        },
        { role: 'user', content: 'now call' },
        {
          role: 'assistant',
          content: '',
          content_blocks: [{ type: 'text', text: '', signature: 'ZW1w' }],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', thought_signature: 'Y2Fs' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
        { role: 'assistant', content_blocks: [{ type: 'text', text: 'End.', signature: 'ZW5k' }] },
        { role: 'user', content: 'thanks' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'plot' }] },
        {
          role: 'model',
          parts: [
            { thought: true, text: '', thoughtSignature: 'ZHI=' },
            { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'Y29k' },
            { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' }, thoughtSignature: 'cmVz' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'aW1n' },
            { text: 'Done.', thoughtSignature: 'dGV4' },
          ],
        },
        { role: 'user', parts: [{ text: 'now call' }] },
        {
          role: 'model',
          parts: [
            { text: '', thoughtSignature: 'ZW1w' },
            { functionCall: { name: 'f', args: {} }, thoughtSignature: 'Y2Fs' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'ok' } } }] },
        { role: 'model', parts: [{ text: 'End.', thoughtSignature: 'ZW5k' }] },
        { role: 'user', parts: [{ text: 'thanks' }] },
      ],
    },
  },
  {
    title: 'thoughts and encrypted thinking of Claude are lost',
    model: 'gemini-2.5-pro',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'En8KRggBGAI=' },
            { type: 'redacted_thinking', data: 'abc' },
            { type: 'text', text: 'yes' },
          ],
        },
        { role: 'user', content: 'why?' },
      ],
    },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'yes' }] },
        { role: 'user', parts: [{ text: 'why?' }] },
      ],
    },
    losses: ['dropped messages[1].content[0]', 'dropped messages[1].content[1]'],
  },
];

const media: readonly Golden[] = [
  {
    title: 'inline images, PDF and audio',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBE' } },
            { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
            { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
            { type: 'file', file: { file_data: 'JVBE' } },
            { type: 'file', file: { mime_type: 'text/csv', file_data: 'YSxi' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'see' },
            { inlineData: { mimeType: 'image/webp', data: 'AAAA' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
            { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
            { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
          ],
        },
      ],
    },
    losses: ['dropped messages[0].content[5].file.filename'],
  },
  {
    title: 'URLs, with an explicit type or one by extension',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'gs://b/a.PNG' } },
            { type: 'image_url', image_url: { url: 'https://h.example/v.mp4?sig=a.b#t' } },
            { type: 'image_url', image_url: { url: 'https://h.example/x', mime_type: 'image/heic' } },
            { type: 'image_url', image_url: { url: 'https://www.youtube.com/watch?v=1' } },
            { type: 'file', file: { file_url: 'https://h.example/a.pdf' } },
            { type: 'file', file: { file_id: 'gs://b/doc', mime_type: 'application/pdf' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'see' },
            { fileData: { mimeType: 'image/png', fileUri: 'gs://b/a.PNG' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'https://h.example/v.mp4?sig=a.b#t' } },
            { fileData: { mimeType: 'image/heic', fileUri: 'https://h.example/x' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'https://www.youtube.com/watch?v=1' } },
            { fileData: { mimeType: 'application/pdf', fileUri: 'https://h.example/a.pdf' } },
            { fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/doc' } },
          ],
        },
      ],
    },
  },
  {
    title: 'data URIs with parameters, in text and in any case',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:text/plain;charset=utf-8;base64,aGk=' } },
            { type: 'image_url', image_url: { url: 'DATA:Image/PNG;BASE64,AAAA' } },
            { type: 'image_url', image_url: { url: 'data:text/csv,a%2Cb' } },
            { type: 'image_url', image_url: { url: 'data:;base64,AAAA', mime_type: 'audio/pcm;rate=24000' } },
            { type: 'file', file: { file_data: 'data:application/pdf;name=a.b;base64,JVBE' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'see' },
            { inlineData: { mimeType: 'text/plain', data: 'aGk=' } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
            { inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
          ],
        },
      ],
    },
    losses: ['dropped messages[0].content[5]'],
  },
  ...[
    'https://h.example/x',
    'https://h.example/x.pdf%3Fv=1',
    'gs://b/x.unknown',
    'https://h.example.pdf',
    'gs://b.png/',
  ].map((url) => ({
    title: `${url} tells no type: refused`,
    model: 'gemini-2.5-flash',
    request: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  })),
  {
    title: 'data without a type is refused',
    model: 'gemini-2.5-flash',
    request: {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:;base64,AAAA' } }] }],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
  {
    title: 'an image alone gets a blank text beside it',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }],
        },
      ],
    },
    body: {
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: ' ' }] }],
    },
    losses: ['dropped messages[0].content[0].image_url.detail'],
  },
  {
    title: 'detail is a resolution on Gemini 3',
    model: 'gemini-3-flash-preview',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'see' },
            {
              inlineData: { mimeType: 'image/png', data: 'AAAA' },
              mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' },
            },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
        },
      ],
    },
  },
  {
    title: 'a URL without a type is refused',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'https://h.example/x?f=a.png' } },
          ],
        },
      ],
    },
    fault: { code: 'invalid_value', param: 'messages[0].content[1]' },
  },
  {
    title: 'a file id of OpenAI is refused',
    model: 'gemini-2.5-flash',
    request: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    fault: { code: 'invalid_value', param: 'messages[0].content[0]' },
  },
];

const settings: readonly Golden[] = [
  {
    title: 'all sampling parameters',
    model: 'gemini-2.5-flash',
    request: {
      max_completion_tokens: 50,
      max_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      n: 2,
      seed: 7,
      stop: ['a', 'b'],
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      logprobs: true,
      top_logprobs: 5,
    },
    body: {
      generationConfig: {
        maxOutputTokens: 50,
        temperature: 0,
        topP: 0.5,
        topK: 3,
        candidateCount: 2,
        seed: 7,
        stopSequences: ['a', 'b'],
        frequencyPenalty: 0.5,
        presencePenalty: -0.5,
        responseLogprobs: true,
        logprobs: 5,
      },
    },
  },
  {
    title: 'penalties are lost on Gemini 3, a lone stop is a list',
    model: 'gemini-3-flash-preview',
    request: { max_tokens: 9, stop: 'END', frequency_penalty: 0.5, presence_penalty: -0.5, temperature: 0.2 },
    body: { generationConfig: { maxOutputTokens: 9, temperature: 0.2, stopSequences: ['END'] } },
    losses: ['dropped frequency_penalty', 'dropped presence_penalty'],
  },
  {
    title: 'five stops are sent, top_logprobs has a range',
    model: 'gemini-2.5-flash',
    request: { stop: ['1', '2', '3', '4', '5', '6'], logprobs: true, top_logprobs: 0 },
    body: { generationConfig: { stopSequences: ['1', '2', '3', '4', '5'], responseLogprobs: true } },
    losses: ['dropped stop'],
  },
  {
    title: 'fields that Gemini lacks',
    model: 'gemini-2.5-flash',
    request: {
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      verbosity: 'low',
      logit_bias: { '5': 1 },
      prediction: { type: 'content', content: 'x' },
      store: true,
      service_tier: 'scale',
      prompt_cache_key: 'k',
      moderation: null,
      stream: true,
      stream_options: { include_usage: true },
    },
    body: {},
    losses: [
      'dropped user',
      'dropped metadata',
      'dropped verbosity',
      'dropped service_tier',
      'dropped safety_identifier',
      'dropped logit_bias',
      'dropped prediction',
      'dropped store',
      'dropped prompt_cache_key',
    ],
  },
  {
    title: 'the extensions of the gateway',
    model: 'gemini-2.5-flash',
    request: {
      labels: { team: 'a-1', größe: '' },
      safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
      image_config: { aspect_ratio: '16:9', image_size: '2K' },
      modalities: ['text', 'image'],
    },
    body: {
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
      },
      labels: { team: 'a-1', größe: '' },
    },
  },
  {
    title: 'labels go to Vertex only',
    model: 'gemini-2.5-flash',
    host: 'direct',
    request: { labels: { team: 'a' }, service_tier: 'priority' },
    body: { serviceTier: 'priority' },
    losses: ['dropped labels'],
  },
  ...(['flex', 'priority'] as const).map((tier) => ({
    title: `the tier ${tier} is a header of Vertex AI`,
    model: 'gemini-2.5-flash',
    request: { service_tier: tier },
    body: {},
    headers: { 'x-vertex-ai-llm-shared-request-type': tier },
  })),
  ...(['auto', 'default'] as const).map((tier) => ({
    title: `the tier ${tier} is that of any request to Vertex AI`,
    model: 'gemini-2.5-flash',
    request: { service_tier: tier },
    body: {},
  })),
  {
    title: 'a tier that Google lacks is lost on the Developer API too',
    model: 'gemini-2.5-flash',
    host: 'direct',
    request: { service_tier: 'scale' },
    body: {},
    losses: ['dropped service_tier'],
  },
  {
    title: 'labels derived from metadata follow the rules, and labels of the body override them',
    model: 'gemini-2.5-flash',
    labels: { Team: 'Search & Ads', env: 'prod', '2nd': '', 'Cost Center': 'ÄÖ-1' },
    request: { labels: { env: 'test', own: 'x' } },
    body: { labels: { env: 'test', own: 'x', k_2nd: '', cost_center: 'äö-1', team: 'search___ads' } },
  },
  {
    title: 'derived labels that collide, or have no key, are lost by their name in the metadata',
    model: 'gemini-2.5-flash',
    labels: { 'a b': '1', 'A B': '2', a_b: '3', '': '4' },
    request: {},
    body: { labels: { a_b: '2' } },
    losses: ['dropped metadata.', 'dropped metadata.a b', 'dropped metadata.a_b'],
  },
  {
    title: 'derived labels fill the rest of the 64 labels',
    model: 'gemini-2.5-flash',
    labels: { c: '3', a: '1', b: '2', k1: 'other' },
    request: { labels: numbered(62) },
    body: { labels: { ...numbered(62), a: '1', b: '2' } },
    losses: ['dropped metadata.c'],
  },
  {
    title: 'metadata that became labels are not lost, all other metadata are',
    model: 'gemini-2.5-flash',
    labels: { team: 'a', tier: 'gold' },
    request: { metadata: { team: 'a', tier: 'silver', note: 'x' } },
    body: { labels: { team: 'a', tier: 'gold' } },
    losses: ['dropped metadata.tier', 'dropped metadata.note'],
  },
  {
    title: 'derived labels are not sent to the Developer API',
    model: 'gemini-2.5-flash',
    host: 'direct',
    labels: { team: 'a' },
    request: {},
    body: {},
  },
  {
    title: 'no labels are sent when none are derived',
    model: 'gemini-2.5-flash',
    labels: {},
    request: {},
    body: {},
  },
  {
    title: 'a label of the body is checked beside derived ones',
    model: 'gemini-2.5-flash',
    labels: { team: 'a' },
    request: { labels: { Team: 'a' } },
    fault: { code: 'invalid_value', param: 'labels.Team' },
  },
  {
    title: 'a label against the rules is refused, not rewritten',
    model: 'gemini-2.5-flash',
    request: { labels: { Team: 'a' } },
    fault: { code: 'invalid_value', param: 'labels.Team' },
  },
  {
    title: 'speech',
    model: 'gemini-2.5-flash-preview-tts',
    request: { modalities: ['audio'], audio: { voice: 'Kore', format: 'pcm16' } },
    body: {
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    },
  },
  {
    title: 'speech in another format is refused',
    model: 'gemini-2.5-flash-preview-tts',
    request: { modalities: ['audio'], audio: { voice: 'Kore', format: 'mp3' } },
    fault: { code: 'unsupported_parameter', param: 'audio.format' },
  },
];

const responseFormat: readonly Golden[] = [
  {
    title: 'a JSON object',
    model: 'gemini-2.5-flash',
    request: { response_format: { type: 'json_object' } },
    body: { generationConfig: { responseMimeType: 'application/json' } },
  },
  { title: 'text is the default', model: 'gemini-2.5-flash', request: { response_format: { type: 'text' } }, body: {} },
  {
    title: 'a schema in the wire’s dialect',
    model: 'gemini-2.5-flash',
    request: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'n',
          description: 'A person.',
          strict: true,
          schema: {
            $schema: 's',
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 1 },
              age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
              kind: { const: 'person' },
              pet: { $ref: '#/definitions/Pet', description: 'd' },
              born: { type: 'string', format: 'date' },
              site: { type: 'string', format: 'uri' },
              tags: {
                type: 'array',
                items: { oneOf: [{ type: 'string' }, { type: 'null' }] },
                uniqueItems: true,
                default: [],
              },
            },
            definitions: { Pet: { properties: { additionalProperties: { type: 'boolean' } } } },
          },
        },
      },
    },
    body: {
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: {
          required: ['name'],
          type: 'object',
          $defs: { Pet: { type: 'object', properties: { additionalProperties: { type: 'boolean' } } } },
          properties: {
            name: { type: 'string', description: '(minLength: 1)' },
            age: { type: ['integer', 'null'], description: '(exclusiveMinimum: 0)' },
            kind: { enum: ['person'], type: 'string' },
            pet: { $ref: '#/$defs/Pet' },
            born: { type: 'string', format: 'date' },
            site: { type: 'string', description: '(format: "uri")' },
            tags: {
              type: 'array',
              items: { anyOf: [{ type: 'string' }, { type: 'null' }] },
              description: '(uniqueItems: true, default: [])',
            },
          },
          additionalProperties: false,
          description: 'A person.',
        },
      },
    },
    losses: ['downgraded response_format.json_schema.schema', 'dropped response_format.json_schema.schema'],
  },
  {
    title: 'a schema in place of its wrapper',
    model: 'gemini-2.5-flash',
    request: { response_format: { type: 'json_schema', json_schema: { type: 'array', items: { type: 'number' } } } },
    body: {
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'array', items: { type: 'number' } },
      },
    },
  },
];

const tools: readonly Golden[] = [
  {
    title: 'functions in one Tool object',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            description: 'Weather of a city.',
          },
        },
        { type: 'function', function: { name: 'now' } },
        { type: 'function', function: { name: 'none', parameters: { type: 'object', properties: {} } } },
      ],
    },
    body: {
      tools: [
        {
          functionDeclarations: [
            {
              name: 'get_weather',
              description: 'Weather of a city.',
              parametersJsonSchema: { required: ['city'], type: 'object', properties: { city: { type: 'string' } } },
            },
            { name: 'now' },
            { name: 'none' },
          ],
        },
      ],
    },
  },
  {
    title: 'strict is VALIDATED, where the choice is the model’s',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
            strict: true,
          },
        },
        { type: 'function', function: { name: 'g' } },
      ],
    },
    body: {
      tools: [
        {
          functionDeclarations: [
            {
              name: 'f',
              parametersJsonSchema: {
                type: 'object',
                properties: { a: { type: 'string' } },
                additionalProperties: false,
              },
            },
            { name: 'g' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    },
  },
  {
    title: 'strict is lost before 2.5',
    model: 'gemini-2.0-flash',
    request: { tools: [{ type: 'function', function: { name: 'f', strict: true } }], tool_choice: 'auto' },
    body: {
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
    losses: ['dropped tools[0].function.strict'],
  },
  {
    title: 'choice none: no call of any tool',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'web_search' } },
      ],
      tool_choice: 'none',
    },
    body: {
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
    },
  },
  {
    title: 'choice required, one call at a time',
    model: 'gemini-2.5-flash',
    request: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    },
    body: {
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    },
    losses: ['dropped parallel_tool_calls'],
  },
  {
    title: 'a named function',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: { type: 'function', function: { name: 'g' } },
    },
    body: {
      tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } },
    },
  },
  {
    title: 'an undeclared name is refused',
    model: 'gemini-2.5-flash',
    request: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', function: { name: 'h' } },
    },
    fault: { code: 'invalid_value', param: 'tool_choice' },
  },
  {
    title: 'a choice without tools is lost',
    model: 'gemini-2.5-flash',
    request: { tool_choice: 'required' },
    body: {},
    losses: ['dropped tool_choice'],
  },
  {
    title: 'allowed tools, required',
    model: 'gemini-2.5-flash',
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
      tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }, { name: 'h' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'h'] } },
    },
  },
  {
    title: 'allowed tools, auto: only these are offered',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        { type: 'function', function: { name: 'web_search' } },
        { type: 'function', function: { name: 'f' } },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'g' } }] },
      },
    },
    body: {
      tools: [{ functionDeclarations: [{ name: 'g' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
  },
  {
    title: 'a free-text tool and a call of it',
    model: 'gemini-2.5-flash',
    request: {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls "x"' } }] },
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
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'sh', args: { input: 'ls "x"' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'sh', response: { output: 'a' } } }] },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'sh',
              description: 'Shell.\n\n`input` has to match this grammar (lark):\nx',
              parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
            },
          ],
        },
      ],
    },
    losses: ['downgraded tools[0].custom.format'],
    reply: { customTools: new Set(['sh']) },
  },
  {
    title: 'search by the name of a function',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        {
          type: 'function',
          function: { name: 'web_search', parameters: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } },
        },
      ],
    },
    body: { tools: [{ googleSearch: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } }] },
  },
  {
    title: 'search of the 1.5 generation',
    model: 'gemini-1.5-pro',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'google_search_retrieval',
            parameters: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC', dynamicThreshold: 0.5 } },
          },
        },
      ],
    },
    body: {
      tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC', dynamicThreshold: 0.5 } } }],
    },
  },
  {
    title: 'computer use',
    model: 'gemini-2.5-computer-use-preview-10-2025',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'computer_use',
            parameters: { environment: 'ENVIRONMENT_BROWSER', excluded_predefined_functions: ['drag_and_drop'] },
          },
        },
      ],
    },
    body: {
      tools: [{ computerUse: { environment: 'ENVIRONMENT_BROWSER', excludedPredefinedFunctions: ['drag_and_drop'] } }],
    },
    losses: ['downgraded thought_signature'],
  },
  {
    title: 'maps, with a location',
    model: 'gemini-2.5-flash',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'google_maps',
            parameters: { enableWidget: true, latLng: { latitude: 1, longitude: 2 }, languageCode: 'de' },
          },
        },
      ],
    },
    body: {
      tools: [{ googleMaps: { enableWidget: true } }],
      toolConfig: { retrievalConfig: { latLng: { latitude: 1, longitude: 2 }, languageCode: 'de' } },
    },
  },
  {
    title: 'further tools of Google, each in its own Tool object, beside functions',
    model: 'gemini-3-flash-preview',
    request: {
      tools: [
        { type: 'url_context' },
        { type: 'function', function: { name: 'f' } },
        { type: 'code_execution' },
        { type: 'function', function: { name: 'g' } },
      ],
    },
    body: {
      tools: [{ urlContext: {} }, { functionDeclarations: [{ name: 'f' }, { name: 'g' }] }, { codeExecution: {} }],
    },
  },
  {
    title: 'web_search_options',
    model: 'gemini-2.5-flash',
    request: {
      web_search_options: {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { country: 'DE' } },
      },
    },
    body: { tools: [{ googleSearch: {} }] },
    losses: ['dropped web_search_options.search_context_size', 'dropped web_search_options.user_location'],
  },
  {
    title: 'typed tools of other vendors are lost',
    model: 'gemini-2.5-flash',
    request: { tools: [{ type: 'bash_20250124', name: 'bash' }, { type: 'file_search' }] },
    body: {},
    losses: ['dropped tools[0]', 'dropped tools[1]'],
  },
];

const thinking: readonly Golden[] = [
  {
    title: 'effort on 2.5, shown to clients that are not strict',
    model: 'gemini-2.5-flash',
    strict: false,
    request: { reasoning_effort: 'medium' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 8192, includeThoughts: true } } },
  },
  {
    title: 'effort on 2.5, strict',
    model: 'gemini-2.5-flash',
    request: { reasoning_effort: 'medium' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 8192 } } },
  },
  {
    title: 'effort none',
    model: 'gemini-2.5-flash',
    strict: false,
    request: { reasoning_effort: 'none' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } } },
  },
  {
    title: 'effort none on 2.5 Pro, which always thinks',
    model: 'gemini-2.5-pro',
    strict: false,
    request: { reasoning_effort: 'none' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 128, includeThoughts: false } } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort max on 2.5 Pro',
    model: 'gemini-2.5-pro',
    request: { reasoning_effort: 'max' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 32768 } } },
  },
  {
    title: 'effort xhigh on 2.5 Flash-Lite',
    model: 'gemini-2.5-flash-lite',
    request: { reasoning_effort: 'xhigh' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 24576 } } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort medium on 3 Pro preview, which has no such level',
    model: 'gemini-3-pro-preview',
    strict: false,
    request: { reasoning_effort: 'medium' },
    body: { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort minimal on 3.1 Pro',
    model: 'gemini-3.1-pro-preview',
    request: { reasoning_effort: 'minimal' },
    body: { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'effort none on 3 Flash',
    model: 'gemini-3-flash-preview',
    strict: false,
    request: { reasoning_effort: 'none' },
    body: { generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL', includeThoughts: false } } },
    losses: ['clamped reasoning_effort'],
  },
  {
    title: 'a budget on 2.5 wins over effort',
    model: 'gemini-2.5-flash',
    strict: false,
    request: { thinking: { type: 'enabled', budget_tokens: 2000 }, reasoning_effort: 'low' },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } } },
    losses: ['dropped reasoning_effort'],
  },
  {
    title: 'a budget out of range',
    model: 'gemini-2.5-flash-lite',
    request: { thinking: { type: 'enabled', budget_tokens: 100 } },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 512 } } },
    losses: ['clamped thinking'],
  },
  {
    title: 'a budget of 0 turns it off',
    model: 'gemini-2.5-flash',
    strict: false,
    request: { thinking: { type: 'enabled', budget_tokens: 0 } },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } } },
  },
  {
    title: 'a budget on Gemini 3 is a level',
    model: 'gemini-3-flash-preview',
    strict: false,
    request: { thinking: { type: 'enabled', budget_tokens: 5000 } },
    body: { generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM', includeThoughts: true } } },
    losses: ['downgraded thinking'],
  },
  {
    title: 'disabled on 2.5 Flash',
    model: 'gemini-2.5-flash',
    request: { thinking: { type: 'disabled' } },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } } },
  },
  {
    title: 'adaptive on 2.5',
    model: 'gemini-2.5-pro',
    strict: false,
    request: { thinking: { type: 'adaptive' } },
    body: { generationConfig: { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } } },
  },
  {
    title: 'adaptive with an effort on Gemini 3',
    model: 'gemini-3-pro-preview',
    strict: false,
    request: { thinking: { type: 'adaptive' }, reasoning_effort: 'low' },
    body: { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } } },
  },
  {
    title: 'adaptive on Gemini 3, strict, says nothing',
    model: 'gemini-3-flash-preview',
    request: { thinking: { type: 'adaptive' } },
    body: {},
  },
  {
    title: 'a model that cannot think',
    model: 'gemini-2.0-flash',
    strict: false,
    request: { reasoning_effort: 'high' },
    body: {},
    losses: ['dropped reasoning_effort'],
  },
];

const hi = [{ role: 'user', content: 'hi' }];

function encode({ model, host = 'vertex', strict = true, labels, request }: Golden) {
  const body: JsonObject = deepFreeze({ model: 'm', messages: hi, ...request });
  const target = deepFreeze(requestTarget({ model, host, strict, ...(labels && { labels }) }));
  return encodeWith(gemini, openaiChat.decodeRequest(body), target, replyContext());
}

describe.each([
  ['messages', messages],
  ['signatures', signatures],
  ['media', media],
  ['media by address', addresses],
  ['sound', audios],
  ['settings', settings],
  ['response format', responseFormat],
  ['tools', tools],
  ['thinking', thinking],
])('an OpenAI request on Gemini’s wire: %s', (_, goldens) => {
  it.each(goldens.map((golden) => [golden.title, golden] as const))('%s', (_title, golden) => {
    if (golden.fault) {
      expect(() => encode(golden)).toThrow(expect.objectContaining({ name: 'RequestFault', ...golden.fault }));
      return;
    }
    const { body, headers, losses, reply } = encode(golden);
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      ...golden.body,
    });
    expect(headers).toEqual(golden.headers);
    expect(losses.map(({ action, param }) => `${action} ${param}`)).toEqual(golden.losses ?? []);
    expect(reply).toEqual({ model: 'model-asked', newCallId: expect.any(Function), ...golden.reply });
  });
});
