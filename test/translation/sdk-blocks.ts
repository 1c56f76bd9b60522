/** Turns of the Messages API as the AI SDK has them. */
import type { Json } from './outbound.ts';
import { addressed, proofOf, type File, type Output } from './sdk-prompt.ts';
import { object, objects, string, unspoken, type Prompt } from './sdk-words.ts';

type UserContent = Extract<Prompt[number], { role: 'user' }>['content'];
type AssistantContent = Extract<Prompt[number], { role: 'assistant' }>['content'];
type Result = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

/** A text says the same as one block of it. */
export const blocksOf = (content: unknown): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);

export function promptOfMessages(messages: readonly Json[]): Prompt {
  const names = new Map<string, string>();
  return messages.flatMap(({ role, content }): Prompt => {
    const blocks = blocksOf(content);
    for (const block of blocks) if ('cache_control' in block) unspoken('markers of a cache Gemini and OpenAI have not');
    switch (role) {
      case 'system':
        return blocks.map((block) => ({ role: 'system', content: string(block['text']) }));
      case 'user':
        return userTurns(blocks, names);
      case 'assistant':
        return [{ role: 'assistant', content: spoken(blocks, names) }];
      default:
        return unspoken(`turns of ${string(role)}`);
    }
  });
}

/** The SDK keeps results and what a user says apart. */
function userTurns(blocks: readonly Json[], names: ReadonlyMap<string, string>): Prompt {
  const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => resultOf(block, names));
  // The SDK's core leaves empty texts out.
  const others = blocks.filter(({ type, text }) => type !== 'tool_result' && text !== '').map(partOf);
  const turns: Prompt = results.length > 0 ? [{ role: 'tool', content: results }] : [];
  if (others.length > 0 || results.length === 0) turns.push({ role: 'user', content: others });
  return turns;
}

function partOf(block: Json): UserContent[number] {
  if (block['type'] === 'text') return { type: 'text', text: string(block['text']) };
  if (block['type'] === 'image' || block['type'] === 'document') return { type: 'file', ...fileOf(block) };
  return unspoken(`blocks of type ${string(block['type'])}`);
}

function fileOf({ type, source, title, ...others }: Json): File {
  if (Object.keys(others).length > 0) unspoken(`${Object.keys(others).join(', ')} of a file`);
  const from = object(source)!;
  const filename = title === undefined ? {} : { filename: string(title) };
  switch (from['type']) {
    case 'base64':
      return { data: string(from['data']), mediaType: string(from['media_type']), ...filename };
    case 'url':
      return { ...addressed(string(from['url']), type === 'document' ? 'application/pdf' : undefined), ...filename };
    case 'text':
      return { data: Buffer.from(string(from['data'])).toString('base64'), mediaType: 'text/plain', ...filename };
    default:
      return unspoken('files only Anthropic has');
  }
}

function resultOf(block: Json, names: ReadonlyMap<string, string>): Result {
  const toolCallId = string(block['tool_use_id']);
  const toolName = names.get(toolCallId) ?? unspoken('a result without a call');
  return { type: 'tool-result', toolCallId, toolName, output: outputOf(block) };
}

function outputOf({ content, is_error: failed }: Json): Output {
  const blocks = content === undefined ? [] : blocksOf(content);
  const texts = blocks.map(({ text }) => text);
  if (texts.every((text) => typeof text === 'string')) {
    // What a tool of one text gives; of several there is only the list.
    if (failed === true) return { type: 'error-text', value: texts.join('\n') };
    if (texts.length <= 1) return { type: 'text', value: texts.join('') };
  }
  return {
    type: 'content',
    value: blocks.map((block) => {
      if (block['type'] === 'text') return { type: 'text', text: string(block['text']) };
      if (block['type'] !== 'image') return unspoken(`${string(block['type'])} in a result`);
      const { data, mediaType } = fileOf(block);
      if (typeof data !== 'string') return unspoken('pictures by their address in a result');
      return { type: 'image-data', data, mediaType };
    }),
  };
}

function spoken(blocks: readonly Json[], names: Map<string, string>): AssistantContent {
  return blocks
    .filter(({ text }) => text !== '')
    .map((block) => {
      switch (block['type']) {
        case 'text':
          if ('citations' in block) unspoken('citations');
          return { type: 'text', text: string(block['text']) };
        case 'thinking': {
          const signature = string(block['signature']);
          const proof = signature === '' ? {} : { providerOptions: proofOf(signature) };
          return { type: 'reasoning', text: string(block['thinking']), ...proof };
        }
        case 'tool_use': {
          const toolCallId = string(block['id']);
          if (toolCallId.includes('__thought__') || 'caller' in block) unspoken('what is hidden in a call');
          names.set(toolCallId, string(block['name']));
          return { type: 'tool-call', toolCallId, toolName: string(block['name']), input: block['input'] };
        }
        default:
          return unspoken(`${string(block['type'])} blocks of an assistant turn`);
      }
    });
}
