/**
 * A Messages request as a caller of the AI SDK writes it: read from the request alone, as sdk-call.ts reads a chat request. What
 * it has no word for is for Anthropic alone, and goldens say what becomes of it.
 */
import { geminiThinking, optionsFor, type Asked } from './sdk-call.ts';
import { blocksOf, promptOfMessages } from './sdk-blocks.ts';
import { providerTool } from './sdk-tools.ts';
import type { Json } from './outbound.ts';
import { compact, object, objects, string, unspoken, type Call, type Family, type Tool } from './sdk-words.ts';

const FIELDS = new Set([
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
]);

export function toCallOfMessages({ request, strictParams }: Asked, family: Family, model: string): Call {
  if (strictParams) unspoken('a refusal of what cannot be said');
  const asked = Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null && value !== undefined),
  );
  for (const field of Object.keys(asked)) if (!FIELDS.has(field)) unspoken(`\`${field}\``);
  const system = blocksOf(asked['system']).filter(({ text }) => text !== '');
  return compact({
    prompt: [
      ...system.map((block) => ({ role: 'system' as const, content: string(block['text']) })),
      ...promptOfMessages(objects(asked['messages'])),
    ],
    maxOutputTokens: asked['max_tokens'],
    temperature: asked['temperature'],
    topP: asked['top_p'],
    topK: asked['top_k'],
    stopSequences: asked['stop_sequences'],
    responseFormat: formatOf(asked['output_config']),
    tools: toolsOf(asked['tools'], family),
    toolChoice: choiceOf(asked['tool_choice']),
    providerOptions: optionsFor(family, optionsOf(asked, { family, model })),
  }) as Call;
}

function formatOf(config: unknown): Call['responseFormat'] {
  const format = object(object(config)?.['format']);
  return format && ({ type: 'json', schema: format['schema'], name: 'output' } as Call['responseFormat']);
}

function toolsOf(tools: unknown, family: Family): Tool[] | undefined {
  if (tools === undefined) return undefined;
  return objects(tools).map((tool) => {
    const { type = 'custom', name, description, input_schema: inputSchema, strict, ...others } = tool;
    if (Object.keys(others).length > 0) unspoken(`${Object.keys(others).join(', ')} of a tool`);
    const kind = string(type).replace(/_20\d+$/, '');
    if (kind !== 'custom') return providerTool(kind === 'web_fetch' ? 'url_context' : kind, {}, family);
    return compact({ type: 'function', name, description, inputSchema, strict }) as Tool;
  });
}

function choiceOf(choice: unknown): Call['toolChoice'] {
  const asked = object(choice);
  switch (asked?.['type']) {
    case undefined:
      return undefined;
    case 'auto':
    case 'none':
      return { type: asked['type'] };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', toolName: string(asked['name']) };
    default:
      return unspoken('an unknown choice');
  }
}

/**
 * A client that asks for thinking shows it, unless the request says otherwise (docs/protocols/anthropic-messages.md#thinking,
 * docs/protocols/messages-route.md#hidden-thoughts).
 */
function isShown({ thinking }: Json): boolean {
  const asked = object(thinking);
  return asked !== undefined && asked['display'] !== 'omitted';
}

function optionsOf(request: Json, { family, model }: { readonly family: Family; readonly model: string }): Json {
  const { user_id: user, ...others } = object(request['metadata']) ?? {};
  if (Object.keys(others).length > 0) unspoken('more about the caller than who it is');
  const { effort, format: _, ...beyond } = object(request['output_config']) ?? {};
  if (Object.keys(beyond).length > 0) unspoken('the budget of a task');
  const single = object(request['tool_choice'])?.['disable_parallel_tool_use'];
  if (family === 'gemini') {
    if (user !== undefined || single === true) unspoken('who asks, or one call at a time');
    const thinking = geminiThinking(compact({ thinking: request['thinking'], reasoning_effort: effort }), model);
    return compact({
      thinkingConfig: thinking && isShown(request) ? { includeThoughts: true, ...thinking } : thinking,
    });
  }
  if (family === 'llama' && single !== undefined) unspoken('how many calls at a time');
  if (request['thinking'] !== undefined) unspoken('thinking other than by an effort');
  return compact({
    user,
    reasoningEffort: effort,
    parallelToolCalls: single === undefined ? undefined : single !== true,
  });
}
