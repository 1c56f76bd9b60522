/** The messages of a chat request as the AI SDK has them. */
import { GOOGLES } from './cases/signatures.ts';
import type { Json } from './outbound.ts';
import { object, objects, string, unspoken, type Prompt, type ProviderOptions } from './sdk-words.ts';

/** Reads the messages in order; consecutive tool messages are one, as the SDK's own core makes them. */
export function promptOf(request: Json): Prompt {
  const names = new Map<string, string>();
  const prompt: Prompt = [];
  for (const message of objects(request['messages'])) {
    if (message['name'] !== undefined && message['role'] === 'user') unspoken('names of participants');
    const last = prompt.at(-1);
    const made = messageOf(message, names);
    for (const one of made) {
      if (one.role === 'tool' && last?.role === 'tool') last.content.push(...one.content);
      else prompt.push(one);
    }
  }
  return prompt;
}

function messageOf(message: Json, names: Map<string, string>): Prompt {
  const whole = { ...marked(message) };
  switch (message['role']) {
    case 'system':
    case 'developer':
      return textsOf(message['content']).map(({ text, ...rest }) => ({
        role: 'system',
        content: text,
        ...rest,
        ...whole,
      }));
    case 'user':
      return [{ role: 'user', content: partsOf(message['content']), ...whole }];
    case 'assistant':
      return [{ role: 'assistant', content: assistantParts(message, names), ...whole }];
    case 'tool': {
      const toolCallId = string(message['tool_call_id']);
      const toolName =
        names.get(toolCallId) ?? (string(message['name']) || unspoken('a result without the name of its tool'));
      return [
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId, toolName, output: outputOf(message['content']), ...whole }],
        },
      ];
    }
    default:
      return unspoken(`messages of role ${string(message['role'])}`);
  }
}

/** Anthropic's marker, which the SDK takes on anything; OpenAI's means the same (docs/protocols/openai-chat.md#cache-markers). */
export function marked(holder: Json): { providerOptions?: ProviderOptions } {
  const marker = object(holder['cache_control']);
  const explicit = object(holder['prompt_cache_breakpoint'])?.['mode'] === 'explicit';
  if (!marker && !explicit) return {};
  return {
    providerOptions: {
      anthropic: {
        cacheControl: { type: 'ephemeral', ...(typeof marker?.['ttl'] === 'string' && { ttl: marker['ttl'] }) },
      },
    },
  };
}

function textsOf(content: unknown): { text: string; providerOptions?: ProviderOptions }[] {
  if (typeof content === 'string') return [{ text: content }];
  return objects(content).map((part) => ({ text: string(part['text']), ...marked(part) }));
}

type UserContent = Extract<Prompt[number], { role: 'user' }>['content'];

function partsOf(content: unknown): UserContent {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  // The SDK's core leaves empty texts out.
  return objects(content)
    .filter((part) => part['type'] !== 'text' || part['text'] !== '')
    .map((part) => {
      if (part['type'] === 'text') return { type: 'text', text: string(part['text']), ...marked(part) };
      return { type: 'file', ...fileOf(part), ...marked(part) };
    });
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  pdf: 'application/pdf',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

export interface File {
  readonly data: string | URL;
  readonly mediaType: string;
  readonly filename?: string;
}

function fileOf(part: Json): File {
  switch (part['type']) {
    case 'image_url': {
      const { url, mime_type: mime, detail } = object(part['image_url'])!;
      if (detail !== undefined && detail !== 'auto') unspoken('the detail of a picture');
      return addressed(string(url), mime);
    }
    case 'input_audio': {
      const { data, format } = object(part['input_audio'])!;
      return { data: string(data), mediaType: `audio/${string(format)}` };
    }
    case 'file': {
      const { file_data: data, file_url: url, filename, mime_type: mime } = object(part['file'])!;
      if (data === undefined && url === undefined) unspoken('files by their id');
      const found = url === undefined ? dataOf(string(data), mime ?? 'application/pdf') : addressed(string(url), mime);
      return { ...found, ...(filename !== undefined && { filename: string(filename) }) };
    }
    default:
      return unspoken(`parts of type ${string(part['type'])}`);
  }
}

export function addressed(url: string, mime: unknown): File {
  if (url.startsWith('data:')) return dataOf(url, mime);
  if (!/^[a-z]+:\/\//.test(url)) return unspoken('pictures that are no address and no data URI');
  const extension = /\.(\w+)$/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
  const mediaType = typeof mime === 'string' ? mime : MEDIA_TYPES[extension];
  // The SDK wants a type of every file; a caller that knows none has nothing to say.
  return { data: new URL(url), mediaType: mediaType ?? unspoken('a file of an unknown type') };
}

function dataOf(text: string, mime: unknown): File {
  const uri = /^data:([^;,]+);base64,(.*)$/s.exec(text);
  return uri ? { data: uri[2]!, mediaType: uri[1]! } : { data: text, mediaType: string(mime) };
}

type AssistantContent = Extract<Prompt[number], { role: 'assistant' }>['content'];

function assistantParts(message: Json, names: Map<string, string>): AssistantContent {
  for (const field of ['refusal', 'audio', 'function_call', 'reasoning_content'])
    if (message[field] !== undefined) unspoken(`\`${field}\` of an assistant message`);
  const blocks = objects(message['content_blocks']);
  const parts = objects(message['content_parts']);
  const content = blocks.length > 0 ? blocks : parts.length > 0 ? parts : message['content'];
  const spoken: AssistantContent = typeof content === 'string' ? spokenText(content) : objects(content).map(spokenPart);
  const calls = objects(message['tool_calls']).map((call) => callOf(call, names));
  for (const part of spoken) if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName);
  return [...spoken, ...calls];
}

const spokenText = (text: string): AssistantContent => (text === '' ? [] : [{ type: 'text', text }]);

/** Proofs go to the one who made them: the SDK keeps them by provider. */
function spokenPart(part: Json): AssistantContent[number] {
  const signature = part['signature'];
  switch (part['type']) {
    case 'text':
      return {
        type: 'text',
        text: string(part['text']),
        ...marked(part),
        ...(typeof signature === 'string' && { providerOptions: { google: { thoughtSignature: signature } } }),
      };
    case 'thinking':
      return {
        type: 'reasoning',
        text: string(part['thinking']),
        ...(typeof signature === 'string' && { providerOptions: proofOf(signature) }),
      };
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: string(part['data']) } } };
    case 'tool_use':
      return {
        type: 'tool-call',
        toolCallId: string(part['id']),
        toolName: string(part['name']),
        input: part['input'],
      };
    case 'image_url':
      return { type: 'file', ...fileOf(part) };
    default:
      return unspoken(`${string(part['type'])} parts of an assistant message`);
  }
}

export const proofOf = (signature: string): ProviderOptions =>
  signature === GOOGLES ? { google: { thoughtSignature: signature } } : { anthropic: { signature } };

function callOf(call: Json, names: Map<string, string>): AssistantContent[number] {
  const fn = object(call['function']) ?? unspoken('free-text calls');
  const toolCallId = string(call['id']);
  const toolName = string(fn['name']);
  names.set(toolCallId, toolName);
  if (toolCallId.includes('__thought__')) unspoken('signatures in call ids');
  const signature = fn['thought_signature'] ?? object(object(call['extra_content'])?.['google'])?.['thought_signature'];
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input: inputOf(string(fn['arguments'])),
    ...(typeof signature === 'string' && { providerOptions: { google: { thoughtSignature: signature } } }),
  };
}

/** The SDK is given arguments that were parsed before. */
function inputOf(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return unspoken('arguments that are broken JSON');
  }
}

export type Output = Extract<Prompt[number], { role: 'tool' }>['content'][number] extends infer Part
  ? Part extends { type: 'tool-result'; output: infer O }
    ? O
    : never
  : never;

function outputOf(content: unknown): Output {
  if (typeof content === 'string') return { type: 'text', value: content };
  return {
    type: 'content',
    value: objects(content).map((part) => {
      if (part['type'] === 'text') return { type: 'text', text: string(part['text']) };
      const { data, mediaType } = fileOf(part);
      return { type: 'image-data', data: string(data), mediaType };
    }),
  };
}
